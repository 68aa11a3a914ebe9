// The budget as one strip, to scale; and what is of interest only at times, folded.

import { cardsOf, el, hue, isIn, number, plain, plural, short } from "./dom.js";

export function strip(result, choose) {
  const whole = Math.max(result.budget, result.tokens, 1);
  const share = (tokens) => ({ width: `${(100 * tokens) / whole}%` });
  const made = cardsOf(result).map((piece, place) => {
    const { title, tokens, candidate, candidates } = piece.card;
    const name = `${short(plain(title), 60)}, ${plural(tokens, "token")}`;
    return el("i", {
      class: hue(place), title: name, css: share(tokens), data: { candidate, candidates: candidates.join(" ") },
      on: choose ? { click: () => choose(candidate) } : {},
    });
  });
  const frame = el("i", { class: "frame", title: `Headings, ${plural(result.frame_tokens, "token")}`, css: share(result.frame_tokens) });
  const unused = result.budget - result.tokens;
  return el("div", {
    class: "strip", role: "img",
    "aria-label": `${plural(cardsOf(result).length, "excerpt")} take ${number(result.tokens)} of ${number(result.budget)} tokens; ${number(unused)} are unused`,
  }, made, result.frame_tokens ? frame : null);
}

const STAGES = ["collect", "score", "compose", "pack", "render"];

function line(name, said) {
  return [el("dt", { text: name }), el("dd", { text: said })];
}

const ENDED = {
  budget: "the budget is used up",
  evidence: "nothing else has enough evidence",
  workspace: "everything that you may see is in it",
};

export function details(result) {
  const times = STAGES.filter((name) => name in result.timings);
  const total = times.reduce((sum, name) => sum + result.timings[name], 0);
  const finders = new Map();
  for (const each of result.candidates) for (const { collector } of each.findings) {
    const known = finders.get(collector) ?? [0, 0];
    finders.set(collector, [known[0] + 1, known[1] + (isIn(each) ? 1 : 0)]);
  }
  return el("dl", { class: "facts-list" },
    line("Why it ends", ENDED[result.ended]),
    result.support === null ? null : line("How well the best answers", `${result.support.toFixed(2)} of 1`),
    result.sections.map((each) => line(each.title, `${plural(each.tokens, "token")}${each.budget === null ? "" : ` (may count on ${number(each.budget)}; what others leave is there for all)`}`)),
    result.lines_tokens ? line("By title only", plural(result.lines_tokens, "token")) : null,
    result.frame_tokens ? line("Headings", plural(result.frame_tokens, "token")) : null,
    [...finders].map(([name, [found, inside]]) => line(`Found by ${name}`, `${number(found)}, of which ${number(inside)} are in`)),
    times.length ? line("Made in", `${total.toFixed(0)} ms: ${times.map((name) => `${name} ${result.timings[name].toFixed(1)}`).join(", ")}`) : null,
    line("Id", result.id));
}
