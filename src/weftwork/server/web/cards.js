// The context as a document: a card for each excerpt, or the exact text.

import { cardsOf, el, hue, number, plain, plural } from "./dom.js";
import { marked, render } from "./markdown.js";

const FORMS = { line: "title only", hits: "", window: "", section: "whole section", whole: "whole document" };

export function path(parts) {
  return parts.length ? el("p", { class: "path", text: parts.map(plain).join(" › ") }) : null;
}

function facts(card) {
  const form = card.truncated ? card.note || "shortened" : FORMS[card.form];
  return el("p", { class: "facts" },
    el("span", { class: "num", text: plural(card.tokens, "token") }),
    form ? el("span", { text: form }) : null,
    el("code", { class: "cite", title: "The model cites it by this id", text: `[${card.citation}]` }));
}

export function card(made, place, does = {}) {
  const { card: it } = made;
  const id = `card-${does.side ?? ""}${place}`;
  const title = [...marked(plain(it.title))];
  const name = does.choose
    ? el("button", { type: "button", class: "title", "aria-pressed": "false", on: { click: () => does.choose(it.candidate) } }, title)
    : el("span", { class: "title" }, title);
  return el("article", {
    class: `card ${hue(place)} form-${it.form}`, "aria-labelledby": id,
    data: { candidate: it.candidate, candidates: it.candidates.join(" ") },
    on: does.choose ? { click: (event) => { if (!event.target.closest("a, button, pre") && !String(getSelection())) does.choose(it.candidate); } } : {},
  },
  el("header", {}, el("div", {}, el("h3", { id }, name), path(it.path)), facts(it)),
  it.form === "line" ? null : render(it.content),
  does.pages?.(it));
}

// Cards under the headings that stand in the text, in its order.
export function cards(result, does) {
  const made = [];
  let section = null;
  const shown = cardsOf(result);
  const several = new Set(shown.map((piece) => piece.card.section)).size > 1;
  shown.forEach((piece, place) => {
    const title = piece.card.form === "line" ? "By title only" : piece.card.section_title;
    if (several && title !== section) made.push(el("p", { class: "section-title", text: title }));
    section = title;
    made.push(card(piece, place, does));
  });
  return made;
}

export const text = (result) => result.pieces.map((piece) => piece.text).join("");

// Exactly the characters of the text; what belongs to an excerpt can be chosen.
export function raw(result, choose) {
  let place = -1;
  return el("div", { class: "raw", tabindex: 0, role: "region", "aria-label": "The exact text" }, result.pieces.map((piece) => {
    if (piece.card === null) return el("span", { class: "between", text: piece.text });
    place += 1;
    const { candidate, candidates } = piece.card;
    return el("span", {
      class: `piece ${hue(place)}`, text: piece.text, data: { candidate, candidates: candidates.join(" ") },
      on: { click: () => { if (!String(getSelection())) choose(candidate); } },
    });
  }));
}

export function pages(result, picture, open) {
  return (it) => {
    const found = new Map();
    for (const place of it.candidates) {
      const each = result.candidates[place];
      if (each.has_picture) found.set(each.node, each);
    }
    if (!found.size) return null;
    return el("div", { class: "pages" }, [...found.values()].slice(0, 12).map((each) => {
      const image = el("img", { alt: "", width: 60, height: 80 });
      picture(each.node, "thumbnail").then((address) => { image.src = address; }, () => image.remove());
      return el("button", { type: "button", class: "thumb", on: { click: () => open(each) } }, image, el("span", { text: `Page ${number(each.page)}` }));
    }));
  };
}

