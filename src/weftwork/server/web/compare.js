// Two contexts side by side, with what differs between them marked, document by document.

import { $, FATES, el, isIn, number, plural, sectionClass, short } from "./dom.js";
import { bar, legend, pieces } from "./text.js";

const keyOf = (candidate) => `${candidate.node}\n${candidate.citation}`;
const nameOf = (candidate) => short(candidate.title || candidate.node, 48);
const MOST_NAMED = 4;
const KINDS = { a: "only in A", b: "only in B", form: "other form", moved: "moved", same: "same" };

// The excerpts of a text by their documents, in its order: the place counts from 1.
// A thread may stand there twice, among what was found and as the conversation.
function standing(result) {
  const found = new Map();
  for (const piece of result.pieces) {
    if (piece.candidate === undefined) continue;
    const key = found.has(piece.document) ? `${piece.document}\n${piece.section}` : piece.document;
    const passages = new Map(piece.candidates.map((place) => [keyOf(result.candidates[place]), result.candidates[place]]));
    const best = result.candidates[piece.candidate];
    found.set(key, { piece, best, passages, at: found.size + 1 });
  }
  return found;
}

// The longest run of keys that stand in the same order in both: what is not in it has moved.
function unmoved(orderA, orderB) {
  const at = new Map(orderB.map((key, place) => [key, place]));
  const runs = [];
  for (const key of orderA) {
    let best = { last: -1, length: 0, before: null };
    for (const run of runs) if (at.get(run.key) < at.get(key) && run.length > best.length) best = run;
    runs.push({ key, length: best.length + 1, before: best.key === undefined ? null : best });
  }
  const kept = new Set();
  const longest = runs.reduce((best, run) => (run.length > (best?.length ?? 0) ? run : best), null);
  for (let run = longest; run; run = run.before) kept.add(run.key);
  return kept;
}

const sameText = (one, two) => one.piece.form === two.piece.form && one.piece.text === two.piece.text;

// Order is compared among what both have: a document that is missing before it moves nothing.
function differences(a, b) {
  const [inA, inB] = [standing(a), standing(b)];
  const shared = (one, other) => [...one.keys()].filter((key) => other.has(key));
  const [orderA, orderB] = [shared(inA, inB), shared(inB, inA)];
  const still = unmoved(orderA, orderB);
  const rows = [];
  for (const key of new Set([...inA.keys(), ...inB.keys()])) {
    const [one, two] = [inA.get(key), inB.get(key)];
    const step = one && two ? orderA.indexOf(key) - orderB.indexOf(key) : 0;
    let kind = "same";
    if (!two) kind = "a";
    else if (!one) kind = "b";
    else if (!sameText(one, two)) kind = "form";
    else if (!still.has(key)) kind = "moved";
    rows.push({ key, one, two, step, kind, any: one ?? two });
  }
  return rows;
}

function told(row, side, results) {
  const [mine, other] = side === "a" ? [row.one, row.two] : [row.two, row.one];
  if (mine) {
    const { tokens, score } = mine.piece;
    const more = other ? [...mine.passages].filter(([key]) => !other.passages.has(key)).map(([, each]) => each) : [];
    return el("td", {}, el("b", { text: `${mine.at}.` }), ` ${said(mine)}, ${number(tokens)} tokens, ${score.toFixed(2)}`,
      more.length ? el("small", { class: "muted", text: `Only here: ${names(more)}` }) : null);
  }
  const there = results[side].candidates.find((each) => other.passages.has(keyOf(each)));
  return el("td", { class: "muted", text: there ? `out: ${there.reason}` : "not found" });
}

function names(candidates) {
  const all = [...new Set(candidates.map(nameOf))];
  const more = all.length - MOST_NAMED;
  return all.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function said({ piece, best }) {
  if (piece.form === "line") return FATES.line;
  return piece.truncated ? FATES.truncated : FATES[best.fate];
}

// A document with the names of the parts of it that are shown.
function naming({ piece, passages }) {
  const parts = [...passages.values()].filter((each) => each.node !== piece.document);
  return [
    el("span", { class: "naming", text: piece.title }),
    parts.length ? el("small", { class: "muted", text: names(parts) }) : null,
  ];
}

function mark(row) {
  const way = row.step > 0 ? "up" : "down";
  const said = row.kind === "moved" ? `moved ${way}` : KINDS[row.kind];
  return el("span", { class: `mark mark-${row.kind}`, text: said });
}

function table(rows, results) {
  const head = ["Document", "What differs", "A", "B"].map((text) => el("th", { scope: "col", text }));
  const made = rows.map((row) =>
    el("tr", { class: `diff-${row.kind}` },
      el("th", { scope: "row" },
        el("i", { class: `dot ${sectionClass(row.any.piece.section)}` }), ...naming(row.any)),
      el("td", {}, mark(row)), told(row, "a", results), told(row, "b", results)));
  return el("div", { class: "table-wrap" }, el("table", { class: "diff" },
    el("caption", { class: "unseen", text: "Documents of both contexts and how they differ" }),
    el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...made)));
}

function side(name, said, result, kinds) {
  const chosen = `${result.candidates.filter(isIn).length} of ${result.candidates.length} candidates`;
  return el("section", { class: "side", "aria-label": `Context ${name}` },
    el("h3", {}, el("b", { class: "letter", text: name }), el("span", { text: said })),
    el("p", { class: "muted", text: `${plural(result.tokens, "token")} of ${number(result.budget)} · ${chosen}` }),
    el("div", { class: "bar", role: "img", "aria-label": `${result.tokens} of ${result.budget} tokens used` }, ...bar(result)),
    el("ul", { class: "legend" }, ...legend(result)),
    el("div", { class: "context-text", tabindex: 0, role: "region", "aria-label": `Text of ${name}` },
      ...pieces(result, { still: true, mark: (piece) => `diff-${kinds.get(piece) ?? "same"}` })));
}

function settings(said, other) {
  const named = ["user", "recipe", "lens", "packer", "budget"].filter((name) => said[name] !== other[name]);
  const value = (name) => said[name] || (name === "packer" ? "of the recipe" : "none");
  return named.map((name) => `${name} ${value(name)}`).join(", ") || "the same settings";
}

export function show(a, b, saidA, saidB) {
  const rows = differences(a, b);
  const kinds = new Map(rows.flatMap((row) => [row.one, row.two].filter(Boolean).map((each) => [each.piece, row.kind])));
  const count = (kind) => rows.filter((row) => row.kind === kind).length;
  $("compare-said").textContent = Object.keys(KINDS).map((kind) => `${count(kind)} ${KINDS[kind]}`).join(" · ");
  $("compare-body").replaceChildren(
    el("div", { class: "sides" }, side("A", settings(saidA, saidB), a, kinds), side("B", settings(saidB, saidA), b, kinds)),
    table(rows, { a, b }));
}
