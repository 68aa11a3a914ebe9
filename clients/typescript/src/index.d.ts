import type { Operations, Problem } from "./types.js";

export * from "./types.js";

declare global {
  interface CallOptions {
    signal?: AbortSignal;
    headers?: Record<string, string>;
  }
  interface ServerEvent {
    event: string;
    data: unknown;
  }
}

export interface WeftworkOptions {
  /** The address of the server, such as https://weft.example.org. */
  url: string;
  /** A key made with `weftwork keys create`, or a token of OAuth. */
  key?: string;
  /** For admin keys: whom to act for. */
  user?: string;
  fetch?: typeof fetch;
  /** How often a request that only reads is sent again while the server is busy. */
  retries?: number;
}

/** What went wrong, and what to do about it. */
export class WeftworkError extends Error {
  status: number;
  problem: Problem;
}

export interface Weftwork extends Operations {}

/** A server's workspaces: one method for each operation. */
export class Weftwork {
  constructor(options: WeftworkOptions);
}
