// Talking to the server. The key lives in this tab's session and nowhere else.

const KEY = "weftwork-key";

export const getKey = () => sessionStorage.getItem(KEY) ?? "";
export const setKey = (key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY));

class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

function headers(user, more = {}) {
  const made = { ...more };
  if (getKey()) made.Authorization = `Bearer ${getKey()}`;
  if (user) made["Weftwork-User"] = encodeURIComponent(user);
  return made;
}

async function send(path, { method = "GET", body, user, signal } = {}) {
  const plain = body === undefined || body instanceof FormData;
  let answer;
  try {
    answer = await fetch(new URL(path, document.baseURI), {
      method,
      signal,
      headers: headers(user, plain ? {} : { "Content-Type": "application/json" }),
      body: plain ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "the server does not answer: is it still running?");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  const errors = (told.errors ?? []).map((each) => `${each.pointer ?? ""} ${each.detail ?? ""}`.trim()).join("; ");
  throw new Problem(answer.status, errors || told.detail || `the server answered ${answer.status}`);
}

const json = async (path, options) => (await send(path, options)).json();
const at = (workspace, rest) => `v1/workspaces/${encodeURIComponent(workspace)}/${rest}`;

export const settings = () => json("v1/inspect");
export const inspect = (workspace, user, body, signal) =>
  json(at(workspace, "inspect"), { method: "POST", body, user, signal });
export const near = (workspace, user, body, signal) =>
  json(at(workspace, "inspect/near"), { method: "POST", body, user, signal });
export const nodes = (workspace, user, query, type, signal) => {
  const asked = new URLSearchParams({ q: query, ...(type ? { type } : {}) });
  return json(at(workspace, `inspect/nodes?${asked}`), { user, signal });
};
export const feedback = (workspace, user, reference, useful, query) =>
  json(at(workspace, "feedback"), { method: "POST", body: { reference, useful, query }, user });
export const overview = (workspace, user, signal) => json(at(workspace, "inspect/overview"), { user, signal });
export const read = (workspace, user, reference, start) =>
  json(at(workspace, `read?${new URLSearchParams({ reference, start, ids: "false" })}`), { user });
export const alive = () => send("healthz");
export const remember = (workspace, user, memory) =>
  json(at(workspace, "memories"), { method: "POST", body: memory, user });

const post = (body, user, signal) => ({ method: "POST", body, user, signal });
const named = (workspace, kind, id) => at(workspace, `${kind}/${encodeURIComponent(id)}`);
export const documents = (workspace, user, signal) => json(at(workspace, "documents"), { user, signal });
export const jobs = (workspace, user, signal) => json(at(workspace, "jobs"), { user, signal });
export const cancelJob = (workspace, user, id) => json(named(workspace, "jobs", id), { method: "DELETE", user });
export const removeNode = (workspace, user, id) => json(named(workspace, "nodes", id), { method: "DELETE", user });
export const memories = (workspace, user, signal) => json(at(workspace, "memories"), { user, signal });
export const searchMemories = (workspace, user, query, signal) => json(at(workspace, "memories-search"), post({ query }, user, signal));
export const history = (workspace, user, memory) => json(at(workspace, `memories-history?${new URLSearchParams({ memory })}`), { user });
export const changeMemory = (workspace, user, id, body) => json(named(workspace, "memories", id), { method: "PUT", body, user });
export const forgetMemory = (workspace, user, id) => json(named(workspace, "memories", id), { method: "DELETE", user });
export const sources = (workspace, signal) => json(at(workspace, "sources"), { signal });
export const readSource = (workspace, id) => json(`${named(workspace, "sources", id)}/read`, { method: "POST" });
export const removeSource = (workspace, id) => json(named(workspace, "sources", id), { method: "DELETE" });
export const receipts = (workspace, user, limit, signal) => json(at(workspace, `receipts?${new URLSearchParams({ limit })}`), { user, signal });
export const receipt = (workspace, user, id, signal) => json(named(workspace, "receipts", id), { user, signal });
export const replay = (workspace, user, id, signal) => json(`${named(workspace, "receipts", id)}/replay`, post(undefined, user, signal));
export const keys = (workspace, signal) => json(at(workspace, "keys"), { signal });
export const createKey = (workspace, body) => json(at(workspace, "keys"), post(body));
export const revokeKey = (workspace, id) => json(named(workspace, "keys", id), { method: "DELETE" });
// The first admin key of a server that had none is this page's own from now on: without it the page would be locked out.
export const adopt = ({ token, scope }) => { if (!getKey() && scope === "admin") setKey(token); };

export async function picture(workspace, user, node, size) {
  const answer = await send(at(workspace, `page-${size}?${new URLSearchParams({ node })}`), { user });
  return URL.createObjectURL(await answer.blob());
}

export function upload(workspace, user, file) {
  const body = new FormData();
  body.append("file", file);
  return json(at(workspace, "documents"), { method: "POST", body, user });
}

// Server-sent events by fetch: an EventSource could not send the key.
export async function* events(workspace, user, job) {
  const answer = await send(at(workspace, `jobs/${encodeURIComponent(job)}/events`), { user });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    kept += value.replaceAll("\r\n", "\n");
    const blocks = kept.split("\n\n");
    kept = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      const event = lines.find((line) => line.startsWith("event:"))?.slice(6).trim() ?? "message";
      if (data.length) yield { event, data: JSON.parse(data.join("\n")) };
    }
  }
}
