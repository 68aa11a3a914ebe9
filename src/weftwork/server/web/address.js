// Everything that a page shows is in its address, after the "#", which browsers do not send to a server.

const PLAIN = ["view", "query", "workspace", "user", "recipe", "lens", "packer", "focus", "thread", "chosen", "receipt"];
export const OTHER = ["user", "recipe", "lens", "packer", "budget", "receipt"];

const count = (text) => (/^\d{1,7}$/.test(text ?? "") ? Number(text) : 0);

function sections(text) {
  const pairs = (text ?? "").split(",").map((pair) => pair.split(":")).filter(([name, value]) => name && /^\d+$/.test(value ?? ""));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
}

export function read() {
  const said = new URLSearchParams(location.hash.slice(1));
  const state = Object.fromEntries(PLAIN.map((name) => [name, said.get(name) ?? ""]));
  state.view ||= "context";
  state.budget = count(said.get("budget"));
  state.raw = said.get("raw") === "1";
  state.sections = sections(said.get("sections"));
  state.b = Object.fromEntries(OTHER.map((name) => [name, said.get(`b-${name}`) ?? ""]));
  state.b.budget = count(state.b.budget);
  return state;
}

export function hash(state) {
  const said = new URLSearchParams();
  for (const name of PLAIN) if (state[name] && !(name === "view" && state.view === "context")) said.set(name, state[name]);
  if (state.budget) said.set("budget", state.budget);
  if (state.raw) said.set("raw", "1");
  const shares = Object.entries(state.sections ?? {}).map(([name, value]) => `${name}:${value}`);
  if (shares.length) said.set("sections", shares.join(","));
  if (state.view === "compare" || state.view === "receipts") for (const name of OTHER) if (state.b[name]) said.set(`b-${name}`, state.b[name]);
  return `#${said}`;
}

// `how` is "push" for a step that Back undoes, "replace" for a change of the same step. What is typed in one go is one step.
export function write(state, how) {
  const said = hash(state);
  if (said === location.hash || (said === "#" && !location.hash)) return;
  const typing = how === "typing";
  const same = how === "replace" || (typing && history.state?.typing);
  history[same ? "replaceState" : "pushState"]({ typing }, "", said);
}
