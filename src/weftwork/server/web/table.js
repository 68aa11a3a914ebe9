// Every candidate, in or out: what its score is made of, what it costs, who found it, and what became of it.

import { $, FATES, el, isIn, nameSignals, number, sectionClass, signalClass } from "./dom.js";
import * as marks from "./marks.js";

let result = null;
let does = {};
let sort = { by: "score", down: true };
let nears = new Map();
const opened = new Set();
const said = new Map();

const body = () => $("candidates").tBodies[0];
const wasWhole = (candidate) => candidate.fate === "included";
const isNear = (candidate) => candidate.missing_tokens !== null && !wasWhole(candidate);
const finders = (candidate) => [...new Set(candidate.findings.map((each) => each.collector))];
const keyOf = (candidate) => `${candidate.node}\n${candidate.citation}`;

const VALUES = {
  title: (each) => (each.title || each.node).toLowerCase(),
  score: (each) => each.score,
  tokens: (each) => each.tokens,
  found: (each) => finders(each).join(),
  fate: (each) => Object.keys(FATES).indexOf(each.fate),
};

function shownOnes() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const which = $("filter-fate").value;
  const admits = (each) => {
    if (which === "in" && !isIn(each)) return false;
    if (which === "out" && isIn(each)) return false;
    if (which === "near" && !isNear(each)) return false;
    const { title, node, type, section, citation, fate, reason } = each;
    const text = [title, node, type, section, citation, fate, reason, ...each.tags, ...finders(each)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const value = VALUES[sort.by];
  const rows = result.candidates.map((each, place) => ({ each, place })).filter(({ each }) => admits(each));
  const order = (a, b) => (value(a.each) < value(b.each) ? -1 : value(a.each) > value(b.each) ? 1 : 0);
  return rows.sort((a, b) => (sort.down ? -order(a, b) : order(a, b)) || a.place - b.place);
}

// A bar as long as the score; what pulls it down is drawn on top, from its end.
function scoreBar(candidate) {
  const parts = Object.entries(candidate.shares).filter(([, share]) => Math.abs(share) > 0.0005);
  const line = el("span", { class: "stack", "aria-hidden": "true" });
  for (const [name, share] of parts.filter(([, share]) => share > 0)) {
    const part = el("i", { class: signalClass(name), title: `${name} ${share.toFixed(3)}` });
    part.style.width = `${100 * Math.min(1, share)}%`;
    line.append(part);
  }
  return line;
}

function nearText(candidate) {
  const known = nears.get(candidate.citation);
  if (known === undefined) return `about ${number(candidate.missing_tokens)} tokens short`;
  return known === null ? "not with twice the budget either" : `fits with ${number(known)} more tokens`;
}

function nearNote(candidate) {
  const known = nears.get(candidate.citation);
  if (!known) return el("small", { class: "near", text: nearText(candidate) });
  return el("button", {
    type: "button", class: "near link", text: nearText(candidate), title: `Set the budget to ${number(result.budget + known)}`,
    on: { click: (event) => { event.stopPropagation(); does.setBudget(result.budget + known); } },
  });
}

function row({ each, place }, first) {
  const open = opened.has(keyOf(each));
  const title = el("button", {
    type: "button", class: "open", tabindex: first ? 0 : -1, "aria-expanded": String(open), text: each.title || each.node,
    on: { click: () => toggle(each, place) },
  });
  return el("tr", { class: `row fate-${each.fate}`, data: { candidate: place, key: keyOf(each) } },
    el("td", { class: "col-title" }, el("div", { class: "named" },
      el("i", { class: `dot ${sectionClass(each.section)}`, title: each.section }),
      el("span", { class: "naming" }, title, el("small", { text: `${each.type} · ${each.section}` })))),
    el("td", { class: "col-score" }, el("span", { class: "score", text: each.score.toFixed(2) }), scoreBar(each)),
    el("td", { class: "col-tokens", text: number(each.tokens) }),
    el("td", { class: "col-found" }, el("span", { text: finders(each).join(", ") })),
    el("td", { class: "col-fate" },
      el("span", { class: `fate ${each.fate}`, text: FATES[each.fate] }), isNear(each) ? nearNote(each) : null));
}

const why = (each) => {
  const near = isNear(each) ? ` (${nearText(each)})` : "";
  return el("p", { class: "why" }, el("b", { text: FATES[each.fate] }), ` — ${each.reason}${near}`);
};

function signals(each) {
  const rows = Object.keys(each.shares).map((name) => {
    const value = each.signals[name];
    return el("tr", {}, el("th", { scope: "row" }, el("i", { class: `dot ${signalClass(name)}` }), name.replaceAll("_", " ")),
      el("td", { text: typeof value === "number" ? value.toFixed(2) : "" }),
      el("td", { text: `${each.shares[name] < 0 ? "−" : "+"}${Math.abs(each.shares[name]).toFixed(3)}` }));
  });
  const heads = ["Signal", "Value", "Adds"].map((text) => el("th", { scope: "col", text }));
  return el("table", { class: "signals-of" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
}

function detail({ each, place }) {
  const found = each.findings.map((one) =>
    el("li", {}, el("b", { text: one.collector }),
      ` at rank ${one.rank}, ${one.score.toFixed(2)}${one.why ? `: ${one.why}` : ""}`));
  const name = each.title || each.node;
  const button = (text, run) =>
    el("button", { type: "button", class: "quiet", text, "aria-label": `${text}: ${name}`, on: { click: run } });
  return el("tr", { class: "detail", data: { key: keyOf(each) } }, el("td", { colspan: 5 }, el("div", { class: "detail-body" },
    el("div", {},
      why(each),
      el("p", { class: "muted" }, el("code", { text: each.citation }), " ", el("span", { text: each.node })),
      each.tags.length ? el("p", { class: "tags" }, ...each.tags.map((tag) => el("span", { text: `#${tag}` }))) : null,
      el("ul", { class: "found" }, ...found),
      el("div", { class: "acts" },
        button("Helpful", () => does.feedback(each, true)),
        button("Not helpful", () => does.feedback(each, false)),
        button("Focus on it", () => does.focus(each)),
        each.has_picture ? button("Open page", () => does.page(each)) : null),
      el("p", { class: "said", role: "status", text: said.get(keyOf(each)) ?? "" })),
    signals(each))));
}

function toggle(each, place) {
  const key = keyOf(each);
  if (opened.has(key)) opened.delete(key);
  else opened.add(key);
  if (opened.has(key) && isNear(each) && !nears.has(each.citation)) does.near([each.citation]);
  marks.select(place, "table");
  draw();
}

function draw() {
  const rows = shownOnes();
  const active = document.activeElement;
  const within = active?.closest("#candidates tr[data-key]");
  const held = (rows.find(({ each }) => keyOf(each) === within?.dataset.key) ?? rows[0])?.place;
  body().replaceChildren(...rows.flatMap((each) => {
    const made = [row(each, each.place === held)];
    return opened.has(keyOf(each.each)) ? [...made, detail(each)] : made;
  }));
  if (within) focusAgain(within, active.textContent);
  const all = result.candidates.length;
  $("table-said").textContent = rows.length === all ? `${all}` : `${rows.length} of ${all}`;
  $("table-empty").hidden = rows.length > 0;
  $("table-empty").textContent = all ? "No candidate is like that." : "Nothing was found.";
  marks.again();
}

// Whoever uses the keyboard stays at the same button of the same candidate.
function focusAgain(old, text) {
  const kind = old.matches(".row") ? ".row" : ".detail";
  const same = [...body().rows].filter((each) => each.dataset.key === old.dataset.key && each.matches(kind));
  const button = same.flatMap((each) => [...each.querySelectorAll("button")]).find((each) => each.textContent === text);
  button?.focus({ preventScroll: true });
}

export function show(next) {
  result = next;
  nears = new Map();
  const names = [...new Set(result.candidates.flatMap((each) => Object.keys(each.shares)))];
  nameSignals(names);
  const entry = (name) => el("li", {}, el("i", { class: `dot ${signalClass(name)}` }), name.replaceAll("_", " "));
  $("signals").replaceChildren(...names.map(entry));
  draw();
}

// Whose exact figures are worth finding: those that lack least, or the first ones of the list of near misses.
export function wantedNear() {
  const listed = $("filter-fate").value === "near";
  const among = listed ? shownOnes().map(({ each }) => each) : result.candidates;
  const found = among.filter((each) => isNear(each) && !nears.has(each.citation));
  if (!listed) found.sort((a, b) => a.missing_tokens - b.missing_tokens);
  return found.slice(0, listed ? 10 : 4).map((each) => each.citation);
}

export const knownNear = () => [...nears].map(([citation, more]) => ({ citation, more }));

export function showNear(found) {
  for (const each of found) nears.set(each.citation, each.more);
  // In place: rows must not move under somebody's pointer because a figure became exact.
  for (const row of body().querySelectorAll("tr.row")) {
    const each = result.candidates[row.dataset.candidate];
    if (!isNear(each)) continue;
    row.querySelector(".near").replaceWith(nearNote(each));
    const told = row.nextElementSibling?.querySelector(".why");
    if (told) told.replaceWith(why(each));
  }
}

export function tell(candidate, text) {
  said.set(keyOf(candidate), text);
  draw();
}

export const forget = () => { opened.clear(); said.clear(); };

function move(event) {
  const buttons = [...body().querySelectorAll(".open")];
  const at = buttons.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (at < 0 || next === undefined || !buttons[next]) return;
  event.preventDefault();
  buttons[at].tabIndex = -1;
  buttons[next].tabIndex = 0;
  buttons[next].focus();
  marks.select(Number(buttons[next].closest("tr").dataset.candidate), "keys");
}

export function listen(actions) {
  does = actions;
  $("filter").addEventListener("input", () => draw());
  $("filter-fate").addEventListener("change", () => {
    draw();
    if ($("filter-fate").value === "near") does.near(wantedNear());
  });
  $("candidates").tHead.addEventListener("click", (event) => {
    const by = event.target.closest("button")?.dataset.sort;
    if (!by) return;
    sort = { by, down: sort.by === by ? !sort.down : by === "score" || by === "tokens" };
    for (const head of $("candidates").tHead.querySelectorAll("th")) {
      const mine = head.querySelector("button").dataset.sort === by;
      if (mine) head.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    draw();
  });
  body().addEventListener("keydown", move);
  marks.watch(body(), "table");
  marks.onSelect((place, from) => { if (from !== "table" && place !== null) marks.reveal(body(), place); });
}
