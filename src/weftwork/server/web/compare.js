// Two contexts side by side: what differs first, the same below. Both sides are rows of one grid, so they scroll together.

import { button, cardsOf, el, number, plain, plural, say, short } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import { card } from "./cards.js";
import { strip } from "./budget.js";
import { highlight } from "./markdown.js";

const NONE = "—";

export function second(state) {
  const other = { ...state };
  for (const name of ["user", "recipe", "lens", "packer"]) if (state.b[name]) other[name] = state.b[name] === NONE ? "" : state.b[name];
  if (state.b.budget) other.budget = state.b.budget;
  if (state.b.recipe) other.sections = {};
  return other;
}

const shownOf = (result) => new Map(cardsOf(result).map((piece, place) => [piece.card.document, { piece, place }]));
const textOf = (side) => side.piece.card.content;

// Documents of both by what became of them: in one only, in both otherwise, in both the same.
export function differences(a, b) {
  const [left, right] = [shownOf(a), shownOf(b)];
  const rows = [...new Set([...left.keys(), ...right.keys()])].map((name) => {
    const [one, two] = [left.get(name), right.get(name)];
    const kind = !two ? "a" : !one ? "b" : textOf(one) === textOf(two) ? "same" : "other";
    return { name, one, two, kind };
  });
  const order = { a: 0, b: 1, other: 2, same: 3 };
  return rows.sort((x, y) => order[x.kind] - order[y.kind]);
}

// What of a document stands on one side only, by its candidates.
function onlyHere(side, other, result, beside) {
  const names = new Set(other.piece.card.candidates.map((place) => beside.candidates[place].citation));
  const more = side.piece.card.candidates.map((place) => result.candidates[place]).filter((each) => !names.has(each.citation));
  return more.length ? el("p", { class: "only", text: `Only here: ${more.slice(0, 4).map((each) => short(plain(each.title), 50)).join(", ")}${more.length > 4 ? ` and ${more.length - 4} more` : ""}` }) : null;
}

function pair(row, a, b, names) {
  const cell = (side, name) => (side ? card(side.piece, side.place, { side: name }) : el("p", { class: "absent", text: `Not in ${name.toUpperCase()}, ${names[name]}` }));
  const [left, right] = [cell(row.one, "a"), cell(row.two, "b")];
  if (row.kind === "other") {
    left.prepend(...[onlyHere(row.one, row.two, a, b)].filter(Boolean));
    right.prepend(...[onlyHere(row.two, row.one, b, a)].filter(Boolean));
  }
  left.classList.add(`diff-${row.kind}`);
  right.classList.add(`diff-${row.kind}`);
  return [left, right];
}

function settings(state, other) {
  const names = { user: "as", recipe: "recipe", lens: "lens", packer: "packer", budget: "tokens" };
  const value = (said, name) => (name === "budget" ? number(said.budget || ask.defaultTokens(said)) : said[name] || (name === "recipe" ? "default" : "none"));
  const differ = Object.keys(names).filter((name) => value(state, name) !== value(other, name));
  const said = (each) => differ.map((name) => `${names[name]} ${value(each, name)}`).join(", ") || `as ${each.user}`;
  return { a: said(state), b: said(other) };
}

function head(letter, name, result) {
  return el("div", { class: "side-head" }, el("h2", { text: `${letter}: ${name}` }),
    el("p", { class: "small muted", text: `${number(result.tokens)} of ${number(result.budget)} tokens · ${plural(cardsOf(result).length, "excerpt")}` }),
    strip(result));
}

function chooser(state, does) {
  const users = ask.usersOf(state.workspace);
  const set = (name, value) => does.change({ b: { ...state.b, [name]: value } }, "push");
  const select = (name, text, options) => {
    const made = el("select", { id: `b-${name}`, on: { change: () => set(name, made.value) } },
      options.map(([value, shown]) => el("option", { value, text: shown })));
    made.value = state.b[name] ?? "";
    return el("label", { class: "chip" }, el("span", { text }), made);
  };
  const same = [["", "the same"]];
  const tokens = el("input", { id: "b-budget", type: "number", min: 1, step: 1, inputmode: "numeric", placeholder: "same", value: state.b.budget || null,
    on: { change: () => set("budget", Math.max(0, Math.round(Number(tokens.value)))) } });
  return el("div", { class: "chips", role: "group", "aria-label": "Compare with" }, el("span", { class: "muted", text: "Compare with" }),
    select("user", "As", [...same, ...users.map((each) => [each, each])]),
    el("label", { class: "chip" }, el("span", { text: "Tokens" }), tokens),
    select("recipe", "Recipe", [...same, ...ask.RECIPES()]),
    select("lens", "Lens", [...same, [NONE, "none"], ...ask.choices().lenses.map((each) => [each.name, each.name])]),
    select("packer", "Packer", [...same, [NONE, "the recipe's"], ...ask.choices().packers.map((each) => [each, each])]));
}

function presets(state, does) {
  const others = ask.usersOf(state.workspace).filter((each) => each !== state.user);
  const tokens = state.budget || ask.defaultTokens(state);
  const none = { user: "", recipe: "", lens: "", packer: "", budget: 0, receipt: "" };
  const go = (b) => () => does.change({ b: { ...none, ...b } }, "push");
  return el("section", { class: "start", "aria-label": "What to compare" }, el("h2", { text: "What differs, and for whom?" }),
    el("div", { class: "questions" },
      others.slice(0, 4).map((each) => button(`As ${state.user}, and as ${each}`, go({ user: each }), "question-link")),
      button(`With ${number(tokens)} tokens, and with ${number(Math.max(1, Math.round(tokens / 2)))}`, go({ budget: Math.max(1, Math.round(tokens / 2)) }), "question-link"),
      button("By the default recipe, and by a walk of the graph", go({ recipe: "graph" }), "question-link")));
}

export function compareView(does) {
  async function show(state, signal) {
    if (!Object.values(state.b).some(Boolean)) return presets(state, does);
    if (!state.query.trim() && !state.focus && !state.thread) {
      return el("div", {}, chooser(state, does), el("section", { class: "start" }, el("h2", { text: "Ask a question above" }),
        el("p", { class: "muted", text: "Both sides answer it, and what differs stands first." })));
    }
    const other = second(state);
    const [a, b] = await Promise.all([state, other].map((each) => api.inspect(each.workspace, each.user, ask.body(each), signal)));
    highlight([...new Set([...a.matches, ...b.matches])]);
    const rows = differences(a, b);
    const names = settings(state, other);
    const of = (kind) => rows.filter((row) => row.kind === kind);
    const group = (kind, title) => (of(kind).length ? [el("h2", { class: "pair-title", text: title }), of(kind).flatMap((row) => pair(row, a, b, names))] : []);
    const same = of("same");
    const said = `${of("a").length} only in A, ${of("b").length} only in B, ${of("other").length} otherwise, ${same.length} the same`;
    say(said);
    return el("div", { class: "compared", id: "compared" }, el("div", { class: "compare-settings" }, chooser(state, does), el("p", { class: "muted", id: "compare-said", text: said })),
      el("div", { class: "pairs" }, head("A", names.a, a), head("B", names.b, b),
        group("a", `Only in A: ${names.a}`), group("b", `Only in B: ${names.b}`), group("other", "In both, but not the same of it"),
        same.length ? el("details", { class: "same", open: same.length === rows.length }, el("summary", { text: `${same.length} the same in both` }),
          el("div", { class: "pairs" }, same.flatMap((row) => pair(row, a, b, names)))) : null));
  }
  return { show };
}
