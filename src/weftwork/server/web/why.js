// Why a card is in, or out: a sentence, then the signals that tell it from the others, then all numbers.

import { FATES, button, el, isIn, isWhole, plain, plural } from "./dom.js";
import { path } from "./cards.js";
import { render } from "./markdown.js";

const SPREAD = 0.03;
const LABELS = {
  evidence: "Evidence", structural: "Place in the tree", recency_linear: "Recent", recency: "Recent", type_match: "Wanted type",
  affinity: "Yours", usage: "Used before", period: "In the period asked for", confidence: "Confidence", feedback: "Feedback",
  relevance: "Relevance", boost: "Boost", overdue: "Overdue",
};
const label = (name) => LABELS[name] ?? name.replaceAll("_", " ");
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

// Signals whose values are not nearly the same for all candidates, those that set this one apart first.
function telling(candidate, candidates) {
  const made = [];
  for (const [name, value] of Object.entries(candidate.signals)) {
    if (value === null) continue;
    const values = candidates.map((each) => each.signals[name]).filter((each) => each !== null && each !== undefined);
    if (Math.max(...values) - Math.min(...values) > SPREAD) made.push({ name, value, usual: median(values) });
  }
  return made.sort((a, b) => Math.abs(b.value - b.usual) - Math.abs(a.value - a.usual));
}

const percent = (value) => `${Math.round(100 * Math.max(0, Math.min(1, value)))}%`;

function signal({ name, value, usual }) {
  const beside = value > usual + SPREAD ? "more than most" : value < usual - SPREAD ? "less than most" : "as most";
  return el("li", {},
    el("span", { text: label(name) }),
    el("span", { class: "meter", "aria-hidden": "true" }, el("i", { css: { width: percent(value) } }), el("u", { css: { left: percent(usual) } })),
    el("span", { class: "num small muted", text: `${value.toFixed(2)}, ${beside}` }));
}

function numbers(candidate) {
  const rows = Object.entries(candidate.shares).map(([name, share]) => el("tr", {},
    el("th", { scope: "row", text: label(name) }),
    el("td", { text: typeof candidate.signals[name] === "number" ? candidate.signals[name].toFixed(3) : "" }),
    el("td", { text: `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(3)}` })));
  const found = candidate.findings.map((each) =>
    el("li", { text: `${each.collector}, place ${each.rank}: ${each.why || each.score.toFixed(2)}` }));
  return el("details", { class: "numbers" }, el("summary", { text: "All numbers" }),
    el("table", {}, el("thead", {}, el("tr", {}, ["Signal", "Value", "Adds"].map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, rows),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row", text: "Score" }), el("td"), el("td", { text: candidate.score.toFixed(3) })))),
    el("p", { class: "small muted", text: "Found by" }), el("ul", { class: "small" }, found),
    el("p", { class: "small muted", text: `${candidate.type} ${candidate.node}` }),
    candidate.tags.length ? el("p", { class: "small muted tags", text: candidate.tags.map((tag) => `#${tag}`).join(" ") }) : null);
}

// In words, what became of it, and what would change that.
export function fate(candidate, near) {
  if (isWhole(candidate)) return `In the text: ${candidate.reason}.`;
  const now = candidate.fate === "dropped" ? "Left out" : `In the text, ${FATES[candidate.fate]}`;
  if (!candidate.missing_tokens || near === null) return `${now}: ${candidate.reason}. No budget would bring it in${isIn(candidate) ? " whole" : ""}.`;
  if (near === undefined) return `${now}: ${candidate.reason}.`;
  return `${now}: it fits whole with ${plural(near, "more token", "more tokens")}.`;
}

export function why(candidate, result, does, near) {
  const differ = telling(candidate, result.candidates.filter((each) => Object.keys(each.signals).length));
  const out = !isIn(candidate);
  const name = plain(candidate.title);
  return [
    el("div", { class: "why-head" }, el("h2", { text: out ? "Why not" : "Why" }), el("p", { class: "why-title", text: name }), path(candidate.path)),
    el("p", { class: "why-said", text: candidate.why }),
    el("p", { class: `small ${out ? "near" : "muted"}`, text: fate(candidate, near) }),
    out ? el("div", { class: "why-text" }, render(candidate.text + (candidate.text_goes_on ? " …" : ""))) : null,
    differ.length ? el("ul", { class: "signals", "aria-label": "Signals that differ between candidates" }, differ.slice(0, 5).map(signal)) : null,
    numbers(candidate),
    el("div", { class: "acts" },
      button("Read it whole", () => does.read(candidate.node, name), "quiet"),
      button("Focus on it", () => does.focus(candidate), "quiet"),
      does.write ? [button("Helpful", () => does.feedback(candidate, true), "quiet"),
        button("Not helpful", () => does.feedback(candidate, false), "quiet")] : null),
    el("p", { class: "small said", id: "feedback-said", role: "status" }),
  ];
}

