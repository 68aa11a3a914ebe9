// The assembled text, the budget by section, the times and the pages of documents.

import { $, el, isIn, number, plural, sectionClass } from "./dom.js";
import * as marks from "./marks.js";

export const whole = (result) => result.pieces.map((piece) => piece.text).join("");

// Excerpts stand as blocks, so a line break beside one is already there.
export function pieces(result, options = {}) {
  return result.pieces.map((piece, place) => {
    if (piece.candidate === undefined) {
      const before = result.pieces[place - 1]?.candidate !== undefined;
      const after = result.pieces[place + 1]?.candidate !== undefined;
      let text = before && piece.text.startsWith("\n") ? piece.text.slice(1) : piece.text;
      if (after && text.endsWith("\n")) text = text.slice(0, -1);
      return text === "" ? null : el("span", { class: "frame", text });
    }
    const kind = options.mark?.(piece) ?? "";
    const places = { candidate: piece.candidate, candidates: piece.candidates.join(" ") };
    return el("div", {
      class: `piece ${sectionClass(piece.section)} form-${piece.form}${piece.truncated ? " cut" : ""} ${kind}`,
      text: piece.text.replace(/\n$/, ""),
      data: { ...(options.still ? {} : places), tokens: number(piece.tokens) },
      title: `${piece.section}, ${plural(piece.tokens, "token")}`,
    });
  }).filter(Boolean);
}

export function showText(result) {
  const made = pieces(result);
  const none = el("p", { class: "empty", text: "Nothing that you may see belongs here." });
  $("text").replaceChildren(...(made.length ? made : [none]));
  $("text-said").textContent = plural(result.tokens, "token");
  $("copy").disabled = made.length === 0;
}

export function bar(result) {
  const parts = result.sections.map((each) => [each.tokens, sectionClass(each.name), each.title || each.name]);
  parts.push([result.lines_tokens, "s-lines", "titles only"], [result.frame_tokens, "s-frame", "headings"]);
  return parts.filter(([tokens]) => tokens > 0).map(([tokens, kind, name]) => {
    const part = el("span", { class: `part ${kind}`, title: `${name}: ${plural(tokens, "token")}` });
    part.style.flexBasis = `${(100 * tokens) / Math.max(result.budget, result.tokens)}%`;
    return part;
  });
}

export function legend(result) {
  const hint = "What the section may count on; what others leave is there for all";
  const entry = (kind, name, said, share = null) =>
    el("li", {}, el("i", { class: `dot ${kind}` }), el("span", { text: name }), el("b", { text: said }),
      share === null ? null : el("span", { class: "muted", text: `share ${number(share)}`, title: hint }));
  const unused = result.budget - result.tokens;
  return [
    ...result.sections.map((each) =>
      entry(sectionClass(each.name), each.name, number(each.tokens), each.budget)),
    ...(result.lines_tokens ? [entry("s-lines", "titles only", number(result.lines_tokens))] : []),
    ...(result.frame_tokens ? [entry("s-frame", "headings", number(result.frame_tokens))] : []),
    entry("s-unused", "unused", number(unused)),
  ];
}

const STAGES = ["collect", "score", "compose", "pack", "render"];

function times(result) {
  const known = STAGES.filter((name) => name in result.timings);
  if (!known.length) return el("span");
  const total = known.reduce((sum, name) => sum + result.timings[name], 0);
  const line = el("span", { class: "stages", "aria-hidden": "true" });
  for (const name of known) {
    const part = el("i", { class: `stage-${name}` });
    part.style.flexGrow = result.timings[name];
    line.append(part);
  }
  const said = known.map((name) => `${name} ${result.timings[name].toFixed(1)}`).join(" · ");
  return el("div", { class: "figure times" },
    el("b", { text: `${total.toFixed(0)} ms` }), line, el("span", { class: "muted", text: said }));
}

export function showSummary(result) {
  const chosen = result.candidates.filter(isIn).length;
  const figure = (big, small, kind = "") =>
    el("div", { class: `figure ${kind}` }, el("b", { text: big }), el("span", { class: "muted", text: small }));
  const unused = result.budget - result.tokens;
  $("figures").replaceChildren(
    figure(number(result.tokens), `of ${number(result.budget)} tokens, ${number(unused)} unused`),
    figure(`${chosen} of ${result.candidates.length}`, "candidates in the text"),
    times(result),
  );
  $("bar").replaceChildren(...bar(result));
  const said = result.sections.map((each) => `${each.name} ${each.tokens}`).join(", ");
  const used = `${result.tokens} of ${result.budget} tokens used`;
  $("bar").setAttribute("aria-label", `${used}: ${said || "nothing"}; ${unused} unused`);
  $("legend").replaceChildren(...legend(result));
  $("warnings").replaceChildren(...result.warnings.map((text) => el("li", { text })));
}

export function showPages(result, picture, open) {
  const all = result.candidates.map((each, place) => [each, place]);
  const shown = all.filter(([each]) => each.has_picture && isIn(each));
  $("pages").hidden = shown.length === 0;
  $("pages").replaceChildren(...shown.slice(0, 12).map(([each, place]) => thumbnail(each, place, picture, open)));
}

function thumbnail(candidate, place, picture, open) {
  const image = el("img", { alt: "", width: 66, height: 88 });
  picture(candidate.node, "thumbnail").then((address) => { image.src = address; }, () => image.remove());
  return el("button", {
    type: "button", class: "thumb", title: candidate.title, "aria-label": `Open ${candidate.title}`,
    data: { candidate: place }, on: { click: () => open(candidate) },
  }, image, el("span", { text: `p. ${candidate.page}` }));
}

export function listen() {
  marks.watch($("text"), "text");
  marks.watch($("pages"), "text");
  marks.onSelect((place, from) => { if (from !== "text" && place !== null) marks.reveal($("text"), place); });
}
