// The start: what is in the workspace, questions that it can answer, and contexts that were made lately.

import { ago, button, day, el, number } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import { dropZone } from "./documents.js";

function count(value, name, view) {
  const shown = [el("b", { class: "num", text: number(value) }), el("span", { class: "muted", text: name })];
  return view ? el("a", { class: "count", href: `#view=${view}` }, shown) : el("div", { class: "count" }, shown);
}

function empty(state, does) {
  const commands = ["weftwork add ~/notes", "weftwork remember \"We meet on Tuesdays.\""];
  return el("section", { class: "start empty-store", "aria-label": "Start" },
    el("h2", { text: `“${state.workspace}” is empty` }),
    el("p", { class: "muted", text: "Put something into it, and this page shows what a model would read of it for any question." }),
    ask.may("write") ? dropZone(state, does) : null,
    el("p", { class: "muted", text: "Or on the command line:" }),
    el("pre", { class: "commands", tabindex: 0 }, el("code", { text: commands.join("\n") })));
}

function questions(list, does) {
  if (!list.length) return null;
  return el("section", { class: "block", "aria-labelledby": "questions-title" },
    el("h2", { id: "questions-title", text: "Questions it can answer" }),
    el("ul", { class: "questions" }, list.map((each) => el("li", {}, button(each, () => does.change({ query: each }, "push"), "question-link")))));
}

export async function start(state, does, signal) {
  const found = await api.overview(state.workspace, state.user, signal);
  const { notes, documents, memories, passages } = found;
  if (!passages && !notes && !documents && !memories) return empty(state, does);
  const moment = ask.now();
  const aged = Math.abs(Date.now() - moment) > 86_400_000
    ? `read as of ${day(moment)}` : null;
  return el("section", { class: "start", "aria-label": "Start" },
    el("div", { class: "counts" },
      count(notes, notes === 1 ? "note" : "notes", "documents"), count(documents, documents === 1 ? "document" : "documents", "documents"),
      count(memories, memories === 1 ? "memory" : "memories", "memories"), count(passages, passages === 1 ? "passage" : "passages")),
    el("p", { class: "muted", text: [found.changed_at ? `Last change ${ago(found.changed_at, moment)}` : null, aged, `seen as ${state.user}`].filter(Boolean).join(" · ") }),
    questions(found.questions, does),
    await does.recent?.(state, signal));
}

