// A context: what the model reads on the left, why on the right, and the line between in and out.

import { $, button, calm, cardsOf, el, isIn, isWhole, number, plain, plural, say, short } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import * as cards from "./cards.js";
import { details, strip } from "./budget.js";
import { openPage, picture, readWhole } from "./dialogs.js";
import { highlight } from "./markdown.js";
import { ranking } from "./ranking.js";
import { why } from "./why.js";

const CHUNK = 10;

export function contextView(does) {
  let result = null;
  let state = null;
  let chosen = null;
  let finding = null;

  const headline = el("p", { class: "headline" });
  const nearest = el("p", { class: "nearest", id: "nearest", "aria-live": "polite" });
  const budget = el("div", { class: "budget" });
  const warnings = el("ul", { class: "warnings", id: "warnings" });
  const more = el("details", { class: "more", id: "details" }, el("summary", { text: "Details" }), el("div"));
  const toggle = el("button", { type: "button", class: "quiet", id: "raw", "aria-pressed": "false", text: "Raw", on: { click: () => does.change({ raw: !state.raw }, "push") } });
  const text = el("div", { class: "text", id: "text" });
  const reason = el("section", { class: "why panel", id: "why", "aria-label": "Why" });
  const list = ranking({
    choose: (place) => choose(place, "ranking"),
    budget: (tokens) => { list.asking(tokens); does.change({ budget: tokens }, "typing"); },
    drag: (tokens) => does.change({ budget: tokens }, "drag"),
    most: ask.mostTokens,
    marked: () => mark(),
  });
  const part = el("div", { class: "context" },
    el("section", { class: "summary", "aria-label": "Budget" }, el("div", { class: "summary-line" }, headline, nearest), budget, warnings, more),
    el("div", { class: "columns" },
      el("section", { class: "document", "aria-labelledby": "text-title" },
        el("div", { class: "panel-head" }, el("h2", { id: "text-title", text: "What the model reads" }), el("span", { class: "grow" }), toggle), text),
      el("aside", { class: "side", "aria-label": "Why, and the ranking" }, reason, list.part)));

  const showing = (place) => `[data-candidates~="${place}"]`;

  function swap(name, places) {
    for (const each of part.querySelectorAll(`.${name}`)) each.classList.remove(name);
    for (const place of places) for (const each of part.querySelectorAll(showing(place))) each.classList.add(name);
  }

  function mark() {
    swap("selected", chosen === null ? [] : [chosen]);
    for (const each of part.querySelectorAll("[aria-pressed].title, [aria-pressed].open")) {
      each.setAttribute("aria-pressed", String(each.closest("[data-candidates]").classList.contains("selected")));
    }
  }

  function choose(place, from) {
    chosen = place;
    const candidate = result.candidates[place];
    mark();
    explain();
    if (from !== "ranking") list.reveal(place);
    if (from !== "text") {
      const found = text.querySelector(showing(place));
      found?.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    }
    if (from && candidate) does.change({ chosen: candidate.citation }, "note");
  }

  function explain() {
    const candidate = result.candidates[chosen];
    if (!candidate) return reason.replaceChildren();
    const open = reason.querySelector(".numbers")?.open ?? false;
    reason.replaceChildren(...why(candidate, result, {
      write: ask.may("write"),
      read: (node, title) => readWhole(state, node, title),
      focus: (each) => does.change({ focus: each.node }, "push"),
      feedback,
    }, list.nearOf(candidate)).filter(Boolean));
    reason.querySelector(".numbers").open = open;
  }

  async function feedback(candidate, useful) {
    const place = (found) => found.candidates.findIndex((each) => each.node === candidate.node && each.citation === candidate.citation);
    const before = { score: candidate.score, rank: place(result) + 1 };
    try {
      await api.feedback(state.workspace, state.user, candidate.node, useful, state.query);
      await does.again();
      const after = result.candidates[place(result)];
      const change = after ? after.score - before.score : 0;
      const said = Math.abs(change) < 0.0005
        ? `Noted. The score stays ${before.score.toFixed(3)}: this recipe does not weigh feedback, or it was said before.`
        : `Noted. Score ${before.score.toFixed(3)} → ${after.score.toFixed(3)}, rank ${before.rank} → ${place(result) + 1}.`;
      $("feedback-said").textContent = said;
    } catch (error) {
      does.fail(error);
    }
  }

  // What lacks room, and how much: the nearest first, then all others as they are counted.
  async function findNear() {
    finding?.abort();
    finding = new AbortController();
    const { signal } = finding;
    const shown = result;
    const lacking = shown.candidates.filter((each) => each.missing_tokens && !isWhole(each));
    nearest.replaceChildren();
    if (!lacking.length) return;
    const ask_for = (citations) => api.near(state.workspace, state.user, { ...ask.body(state), citations }, signal);
    const known = [];
    const take = (found) => {
      if (signal.aborted || shown !== result) throw new DOMException("", "AbortError");
      known.push(...found.filter((each) => each.more !== null));
      list.near(found);
      showNearest(known);
    };
    take((await ask_for([])).near);
    const left = [...new Set(lacking.map((each) => each.citation))].filter((each) => !known.some((one) => one.citation === each));
    for (let at = 0; at < left.length; at += CHUNK) take((await ask_for(left.slice(at, at + CHUNK))).near);
    explain();
    part.classList.add("counted");
  }

  function showNearest(known) {
    const least = known.reduce((best, each) => (!best || each.more < best.more ? each : best), null);
    const candidate = least && result.candidates.find((each) => each.node === least.node && each.citation === least.citation);
    if (!candidate) return nearest.replaceChildren();
    nearest.replaceChildren(el("span", { text: `Nearest miss: “${short(plain(candidate.title), 48)}” ` }),
      button(`fits with ${plural(least.more, "more token", "more tokens")}`, () => does.change({ budget: result.budget + least.more }, "push"), "link near"));
  }

  function nothing() {
    const lacking = result.candidates.some((each) => each.missing_tokens);
    const title = lacking ? `Nothing fits into ${plural(result.budget, "token")}` : "Nothing in this workspace answers this";
    const said = result.candidates.length
      ? `${plural(result.candidates.length, "candidate was", "candidates were")} looked at, and the list says why each is left out.`
      : "No note, document or memory that you may see speaks of it.";
    return el("div", { class: "nothing" }, el("h3", { text: title }), el("p", { class: "muted", text: said }));
  }

  function show(made, said) {
    const same = result && said.query === state.query && said.user === state.user && said.workspace === state.workspace;
    const kept = same ? result.candidates[chosen] : null;
    result = made;
    state = said;
    part.classList.remove("counted");
    highlight(made.matches);
    const shown = cardsOf(made);
    const inside = made.candidates.filter(isIn).length;
    headline.replaceChildren(el("b", { class: "num", text: `${number(made.tokens)} of ${number(made.budget)} tokens` }),
      el("span", { class: "muted", text: ` · ${plural(shown.length, "excerpt")} · ${inside} of ${plural(made.candidates.length, "candidate")} in` }));
    budget.replaceChildren(strip(made, (place) => choose(place, "strip")));
    warnings.replaceChildren(...made.warnings.map((each) => el("li", { text: each })));
    more.lastChild.replaceChildren(details(made));
    toggle.setAttribute("aria-pressed", String(said.raw));
    const pages = cards.pages(made, (node, size) => picture(said, node, size), (each) => openPage(said, each));
    const top = text.scrollTop;
    if (!shown.length) text.replaceChildren(nothing());
    else if (said.raw) text.replaceChildren(cards.raw(made, (place) => choose(place, "text")));
    else text.replaceChildren(...cards.cards(made, { choose: (place) => choose(place, "text"), pages }));
    text.scrollTop = top;
    const wanted = kept ?? (said.chosen ? made.candidates.find((each) => each.citation === said.chosen) : null);
    const place = wanted ? made.candidates.findIndex((each) => each.node === wanted.node && each.citation === wanted.citation) : -1;
    list.show(made);
    chosen = place >= 0 ? place : (shown[0]?.card.candidate ?? (made.candidates.length ? 0 : null));
    if (chosen !== null) choose(chosen, "");
    else { reason.replaceChildren(); }
    reason.hidden = chosen === null;
    list.part.hidden = !made.candidates.length;
    say(`${number(made.tokens)} of ${number(made.budget)} tokens, ${plural(shown.length, "excerpt")}, ${inside} of ${plural(made.candidates.length, "candidate")} in`);
    if (!list.dragging()) findNear().catch((error) => { if (error.name !== "AbortError") does.fail(error); });
  }

  // The side is as high as the window has room below where it begins, so that the line is always in sight.
  const side = part.querySelector(".side");
  const fit = () => { if (side.isConnected) side.style.setProperty("--room", `${Math.max(320, innerHeight - Math.max(12, side.parentElement.getBoundingClientRect().top) - 12)}px`); };
  addEventListener("scroll", fit, { passive: true });
  new ResizeObserver(fit).observe(part);
  addEventListener("resize", fit);

  part.addEventListener("mouseover", (event) => swap("hovered", event.target.closest("[data-candidates]")?.dataset.candidates.split(" ") ?? []));
  part.addEventListener("mouseleave", () => swap("hovered", []));

  return { part, show, result: () => result, chosen: () => result?.candidates[chosen], text: () => cards.text(result), toggleRaw: (on) => { if (result) show(result, { ...state, raw: on }); } };
}
