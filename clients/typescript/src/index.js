// The client: one method for each operation of the server, as types.d.ts declares them.

import { operations } from "./operations.js";

export class WeftworkError extends Error {
  /** @param {{status: number, detail: string, code?: string}} problem */
  constructor(problem) {
    super(problem.detail);
    this.name = "WeftworkError";
    this.status = problem.status;
    this.problem = problem;
  }
}

const RETRIED = new Set([429, 503]);
const MOST_SECONDS = 60;

export class Weftwork {
  constructor({ url, key, user, fetch: own, retries = 3 } = {}) {
    if (!/^https?:\/\//.test(url ?? "")) throw new TypeError("url must begin with http:// or https://");
    this.url = url.replace(/\/+$/, "");
    this.headers = { ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(user ? { "Weftwork-User": encodeURIComponent(user) } : {}) };
    this.fetch = own ?? globalThis.fetch;
    this.retries = retries;
  }

  async request(method, path, { body, query, signal, headers } = {}) {
    const form = typeof FormData !== "undefined" && body instanceof FormData;
    const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    const sent = {
      method,
      signal,
      headers: { ...this.headers, ...(body !== undefined && !form ? { "Content-Type": "application/json" } : {}), ...headers },
      body: body === undefined ? undefined : form ? body : JSON.stringify(body),
    };
    for (let attempt = 0; ; attempt++) {
      const answer = await this.fetch(this.url + path + (search ? `?${search}` : ""), sent);
      if (answer.ok) return answer;
      // What only reads may be asked again while the server is busy.
      if (method === "GET" && RETRIED.has(answer.status) && attempt < this.retries) {
        const seconds = Math.min(Number(answer.headers.get("Retry-After")) || 2 ** attempt, MOST_SECONDS);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
        continue;
      }
      const problem = await answer.json().catch(() => null);
      throw new WeftworkError(problem?.detail ? problem : { status: answer.status, detail: `the server answered HTTP ${answer.status}` });
    }
  }

  async *events(method, path, options) {
    const answer = await this.request(method, path, options);
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of answer.body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const event = { event: "message", data: null };
        const data = [];
        for (const line of text.slice(0, end).split("\n")) {
          if (line.startsWith("event:")) event.event = line.slice(6).trim();
          else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        }
        if (data.length) yield { ...event, data: JSON.parse(data.join("\n")) };
      }
    }
  }
}

// A part of an address, dots too: two of them mean the part above.
const segment = (value) => encodeURIComponent(value).replaceAll(".", "%2E");

for (const [name, [method, path, kind, takesBody]] of Object.entries(operations)) {
  const places = [...path.matchAll(/{(\w+)[^}]*}/g)];
  Weftwork.prototype[name] = function (...given) {
    let address = path;
    for (const [whole] of places) {
      const value = given.shift();
      if (typeof value !== "string") throw new TypeError(`${name}: give ${whole} as text`);
      address = address.replace(whole, () => segment(value));
    }
    const body = takesBody ? given.shift() : undefined;
    const options = { ...given[0], body };
    if (kind === "events") return this.events(method, address, options);
    return this.request(method, address, options).then((answer) =>
      kind === "none" || answer.status === 204 ? undefined : answer[kind](),
    );
  };
}
