// All candidates in one list, from in to out, with the line between them at the budget. The line can be dragged, and moved with keys.

import { FATES, button, el, hue, isIn, isWhole, number, plain, plural, short } from "./dom.js";
import { marked } from "./markdown.js";

const TEXT = 170;
const BEYOND = 6; // tokens for each pixel beyond the last row

export function ranking(does) {
  let result = null;
  let hues = new Map();
  let nears = new Map();
  let drag = null;

  const handle = el("div", {
    class: "cut-handle", id: "cut", role: "slider", tabindex: 0, "aria-label": "Budget", "aria-orientation": "vertical",
    "aria-valuemin": 1, title: "Drag, or move with the arrow keys",
  }, el("span", { class: "cut-grip", "aria-hidden": "true" }), el("b", { class: "num" }), el("span", { class: "small" }));
  const cut = el("li", { class: "cut" }, handle);
  const rows = el("ol", { class: "rows", "aria-label": "Candidates, from in to out" }, cut);
  const filter = el("input", { type: "search", id: "filter", placeholder: "Filter", "aria-label": "Filter candidates", spellcheck: "false" });
  const said = el("span", { class: "muted small" });
  const part = el("section", { class: "ranking panel", "aria-labelledby": "ranking-title" },
    el("div", { class: "panel-head" }, el("h2", { id: "ranking-title", text: "Ranking" }), said, el("span", { class: "grow" }), filter), rows);

  const keyOf = (each) => `${each.node}\n${each.citation}`;

  function missing(candidate) {
    if (isWhole(candidate)) return null;
    const near = nears.get(keyOf(candidate));
    if (!candidate.missing_tokens || near === null) {
      const why = candidate.reason.startsWith("among") ? "its text is shown with another" : candidate.reason;
      return el("p", { class: "small muted missing", text: `No budget would bring it in: ${why}` });
    }
    if (near === undefined) return el("p", { class: "small muted missing", text: "counting what is missing…" });
    return el("p", { class: "small missing" },
      button(`fits with ${plural(near, "more token", "more tokens")}`, () => does.budget(result.budget + near), "link near"));
  }

  function row(candidate, place) {
    const inside = isIn(candidate);
    const kind = isWhole(candidate) ? "" : FATES[candidate.fate];
    return el("li", { class: `row fate-${candidate.fate} ${hues.get(place) ?? ""}`, data: { candidate: place, candidates: place } },
      el("span", { class: "rank num", "aria-hidden": "true", text: Object.keys(candidate.signals).length ? place + 1 : "·" }),
      el("div", { class: "row-body" },
        el("button", { type: "button", class: "open", tabindex: -1, "aria-pressed": "false", on: { click: () => does.choose(place) } }, marked(plain(candidate.title))),
        inside ? null : el("p", { class: "row-text" }, marked(short(plain(candidate.text.replace(/\s+/g, " ")), TEXT))),
        missing(candidate)),
      el("span", { class: "cost num small muted", text: kind && inside ? kind : number(candidate.tokens), title: plural(candidate.tokens, "token") }));
  }

  function shown() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (each) => [each.title, each.text, each.citation, each.node, each.type, each.reason, ...each.tags].join(" ").toLowerCase();
    return result.candidates.map((each, place) => [each, place]).filter(([each]) => words.every((word) => text(each).includes(word)));
  }

  function draw() {
    const at = document.activeElement?.closest?.(".row")?.dataset.candidate;
    const listed = shown();
    for (const each of [...rows.children]) if (each !== cut) each.remove();
    cut.before(...listed.filter(([each]) => isIn(each)).map(([each, place]) => row(each, place)));
    cut.after(...listed.filter(([each]) => !isIn(each)).map(([each, place]) => row(each, place)));
    const count = result.candidates.filter(isIn).length;
    said.textContent = `${count} in, ${result.candidates.length - count} out`;
    const unused = result.budget - result.tokens;
    handle.querySelector("b").textContent = `${number(result.budget)} tokens`;
    handle.querySelector(".small").textContent = unused > 0 ? `${number(unused)} unused` : "full";
    handle.setAttribute("aria-valuemax", does.most());
    handle.setAttribute("aria-valuenow", result.budget);
    handle.setAttribute("aria-valuetext", `${number(result.budget)} tokens, ${count} candidates in`);
    does.marked();
    rove(rows.querySelector(`.row[data-candidate="${at}"] .open`) ?? rows.querySelector(".row.selected .open") ?? rows.querySelector(".open"), at !== undefined);
  }

  function rove(open, focus) {
    for (const each of rows.querySelectorAll(".open")) each.tabIndex = -1;
    if (!open) return;
    open.tabIndex = 0;
    if (focus) open.focus();
  }

  rows.addEventListener("keydown", (event) => {
    const opens = [...rows.querySelectorAll(".open")];
    const at = opens.indexOf(event.target);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: opens.length - 1 }[event.key];
    if (at < 0 || next === undefined || !opens[next]) return;
    event.preventDefault();
    rove(opens[next], true);
    does.choose(Number(opens[next].closest(".row").dataset.candidate));
  });

  handle.addEventListener("keydown", (event) => {
    const step = Math.max(1, Math.round(result.budget / 50));
    const by = { ArrowDown: step, ArrowRight: step, ArrowUp: -step, ArrowLeft: -step, PageDown: 5 * step, PageUp: -5 * step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    does.budget(Math.max(1, Math.min(does.most(), (drag?.budget ?? asked ?? result.budget) + by)));
  });
  let asked = null;

  // How many tokens a way of so many pixels is: the rows that it passes count what they cost.
  function geometry() {
    const sizes = (after) => [...rows.children].filter((each) => each !== cut && (after === Boolean(cut.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING)))
      .map((each) => {
        const candidate = result.candidates[Number(each.dataset.candidate)];
        return { height: each.offsetHeight, tokens: after && !candidate.missing_tokens ? 0 : candidate.tokens };
      });
    return { below: sizes(true), above: sizes(false).reverse() };
  }

  function tokensAt(way) {
    const steps = way > 0 ? drag.below : drag.above;
    let left = Math.abs(way);
    let tokens = 0;
    for (const { height, tokens: cost } of steps) {
      tokens += cost * Math.min(1, left / height);
      left -= height;
      if (left <= 0) break;
    }
    if (left > 0 && way > 0) tokens += BEYOND * left;
    return Math.round(way > 0 ? drag.full + tokens : drag.used - tokens);
  }

  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    const truncated = result.candidates.some((each) => each.missing_tokens && !isWhole(each));
    drag = { y: event.clientY, scroll: rows.scrollTop, full: result.budget, used: truncated ? result.budget : result.tokens, ...geometry() };
    cut.classList.add("dragged");
    event.preventDefault();
    handle.focus();
  });
  handle.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const way = event.clientY - drag.y;
    if (Math.abs(way) < 3) return;
    drag.budget = Math.max(1, Math.min(does.most(), tokensAt(way)));
    handle.querySelector("b").textContent = `${number(drag.budget)} tokens`;
    does.drag(drag.budget);
  });
  const drop = () => {
    if (!drag) return;
    const { budget } = drag;
    drag = null;
    cut.classList.remove("dragged");
    if (budget) does.budget(budget);
  };
  handle.addEventListener("pointerup", drop);
  handle.addEventListener("pointercancel", drop);
  filter.addEventListener("input", draw);

  return {
    part,
    show(made) {
      result = made;
      asked = null;
      nears = new Map();
      hues = new Map();
      made.pieces.filter((piece) => piece.card).forEach((piece, at) => piece.card.candidates.forEach((place) => hues.set(place, hue(at))));
      draw();
    },
    asking: (budget) => { asked = budget; },
    near(found) {
      for (const each of found) nears.set(keyOf(each), each.more);
      draw();
    },
    nearOf: (candidate) => nears.get(keyOf(candidate)),
    dragging: () => drag !== null,
    reveal(place) {
      const found = rows.querySelector(`.row[data-candidate="${place}"]`);
      if (!found) return;
      const top = found.offsetTop - rows.offsetTop;
      if (top < rows.scrollTop || top + found.offsetHeight > rows.scrollTop + rows.clientHeight) rows.scrollTop = Math.max(0, top - rows.clientHeight / 3);
      rove(found.querySelector(".open"), false);
    },
  };
}
