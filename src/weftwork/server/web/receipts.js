// Contexts that were handed out: who got them, by which way, when; one as it was, then beside now, and two of them.

import { ago, button, day, el, hue, number, plain, plural, say } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import { render } from "./markdown.js";

const LATEST = 5;
const place = (state, receipt) => `#${new URLSearchParams({ view: "receipts", workspace: state.workspace, user: state.user, receipt })}`;
const SURFACES = { python: "Python", http: "HTTP", mcp: "MCP" };
const by = (each) => SURFACES[each.surface] ?? `the ${each.surface}`;
const about = (each) => [`for ${each.user}`, `by ${by(each)}`, ago(each.at, ask.now()), `${number(each.tokens)} of ${number(each.budget)} tokens`].join(" · ");

function line(state, each, more = null) {
  return el("li", { class: "entry" }, el("div", {}, el("p", { class: "entry-title" }, el("a", { href: place(state, each.id), text: each.query || each.thread || each.id }),
    each.inject ? null : el("span", { class: "badge", text: "nothing was added" })), el("p", { class: "path", text: about(each) })), more);
}

export async function recent(state, signal) {
  const { receipts } = await api.receipts(state.workspace, state.user, LATEST, signal);
  if (!receipts.length) return null;
  return el("section", { class: "block", "aria-labelledby": "recent-title" }, el("h2", { id: "recent-title", text: "Recent contexts" }),
    el("ol", { class: "entries", id: "recent" }, receipts.map((each) => line(state, each))));
}

function source(each, at, mark) {
  return el("article", { class: `card ${hue(at)}` }, el("header", {},
    el("div", {}, el("h3", { text: plain(each.title || "a source that you may not see now") }), each.section ? el("p", { class: "path", text: each.section }) : null),
    el("p", { class: "facts" }, each.tokens ? el("span", { class: "num", text: plural(each.tokens, "token") }) : null,
      el("code", { class: "cite", text: `[${each.citation}]` }), mark ? el("span", { class: "badge", text: mark }) : null)),
  each.why ? el("p", { class: "muted small", text: each.why }) : null);
}

function facts(receipt) {
  const rows = [["When", `${day(receipt.at)}, ${new Date(receipt.at).toLocaleTimeString("en-GB")}`], ["For", receipt.user], ["By", by(receipt)], ["Recipe", receipt.recipe],
    ["Tokens", `${number(receipt.tokens)} of ${number(receipt.budget)}`], ["Candidates", number(receipt.considered)],
    ["Thread", receipt.thread], ["Reason", receipt.reason], ["Cited by the answer", receipt.answer?.cited.map((each) => `[${each}]`).join(" ")], ["Id", receipt.id]];
  return el("dl", { class: "facts-list" }, rows.filter(([, value]) => value).map(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
}

// Where each source stands now: as it was, changed, gone, or no longer chosen.
function marks(replay) {
  const made = new Map();
  for (const [kind, said] of [["unchanged", "as it was"], ["changed", "changed since"], ["gone", "gone"], ["unchosen", "not chosen now"]]) {
    for (const id of replay[kind]) made.set(id, said);
  }
  return made;
}

function now(replay) {
  const differ = [[replay.changed, "changed"], [replay.gone, "gone"], [replay.unchosen, "no longer chosen"], [replay.added, "new"]]
    .filter(([list]) => list.length).map(([list, said]) => `${list.length} ${said}`).join(", ");
  return replay.same ? "The same request gives the same sources now, byte for byte." : `The same request gives something else now: ${differ || "another text"}.`;
}

function one(state, does, receipt, replay) {
  const known = marks(replay);
  const fresh = replay.added.map((citation) => ({ citation, title: citation, why: "" }));
  const order = ["gone", "changed since", "not chosen now", "as it was"];
  const used = receipt.used.map((each, at) => [each, at]).sort(([a], [b]) => order.indexOf(known.get(a.citation)) - order.indexOf(known.get(b.citation)));
  const again = () => does.change({ view: "context", query: receipt.query, recipe: receipt.recipe === "default" ? "" : receipt.recipe, budget: receipt.budget, user: receipt.user, thread: receipt.thread, receipt: "" }, "push");
  return el("section", { class: "library", "aria-labelledby": "receipt-title" },
    el("div", { class: "library-head" }, el("h2", { id: "receipt-title", text: receipt.query || receipt.id }), el("span", { class: "grow" }), button("Ask it now", again, "main")),
    el("p", { class: "notice", id: "then-now", text: now(replay) }), facts(receipt),
    used.map(([each, at]) => source(each, at, known.get(each.citation))),
    fresh.length ? [el("h2", { text: "New since then" }), el("p", { class: "muted", text: fresh.map((each) => `[${each.citation}]`).join(" ") })] : null,
    el("details", { class: "more" }, el("summary", { text: `${plural(receipt.left_out.length, "candidate was", "candidates were")} left out` }),
      receipt.left_out.map((each) => el("p", { class: "small", text: `${plain(each.title || each.citation)}: ${each.why}` }))),
    el("details", { class: "more" }, el("summary", { text: "What the same request gives now" }), render(replay.text)));
}

function two(a, b) {
  const by = (receipt) => new Map(receipt.used.map((each, at) => [each.citation, [each, at]]));
  const [left, right] = [by(a), by(b)];
  const kind = (id) => (!right.has(id) ? 0 : !left.has(id) ? 1 : left.get(id)[0].hash !== right.get(id)[0].hash ? 2 : 3);
  const ids = [...new Set([...left.keys(), ...right.keys()])].sort((x, y) => kind(x) - kind(y));
  const cell = (found, other) => (found ? source(...found, ["only here", "only here", "another text", "the same"][other]) : el("p", { class: "absent", text: "Not here" }));
  say(`${ids.filter((id) => kind(id) !== 3).length} of ${ids.length} sources differ`);
  const head = (receipt) => el("div", { class: "side-head" }, el("h2", { text: receipt.query || receipt.id }), el("p", { class: "small muted", text: about(receipt) }));
  return el("div", { class: "pairs", id: "two-receipts" }, head(a), head(b), ids.flatMap((id) => [cell(left.get(id), kind(id)), cell(right.get(id), kind(id))]));
}

export function receiptsView(does) {
  async function show(state, signal) {
    const get = (id) => api.receipt(state.workspace, state.user, id, signal);
    if (state.receipt && state.b.receipt) return two(...await Promise.all([get(state.receipt), get(state.b.receipt)]));
    if (state.receipt) return one(state, does, ...await Promise.all([get(state.receipt), api.replay(state.workspace, state.user, state.receipt, signal)]));
    const { receipts } = await api.receipts(state.workspace, state.user, 50, signal);
    const chosen = new Set();
    const compare = button("Compare two", () => { const [receipt, other] = [...chosen]; does.change({ receipt, b: { ...state.b, receipt: other } }, "push"); }, "", { disabled: true });
    const pick = (each) => el("label", { class: "check small" }, el("input", { type: "checkbox", on: { change: (event) => {
      if (event.target.checked) chosen.add(each.id);
      else chosen.delete(each.id);
      compare.disabled = chosen.size !== 2;
    } } }), "Compare");
    return el("section", { class: "library", "aria-labelledby": "receipts-title" },
      el("div", { class: "library-head" }, el("h2", { id: "receipts-title", text: "Receipts" }), el("span", { class: "muted", text: "contexts that were handed out" }), el("span", { class: "grow" }), receipts.length > 1 ? compare : null),
      receipts.length ? el("ol", { class: "entries", id: "receipts" }, receipts.map((each) => line(state, each, pick(each))))
        : el("p", { class: "empty", text: "Nobody was given a context yet. What Python, MCP, HTTP and the command line hand out appears here." }));
  }
  return { show };
}
