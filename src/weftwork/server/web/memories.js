// Memories: listed, searched, added, changed, pinned, forgotten, and what they were before.

import { ago, button, el, later, number } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";

function editor(memory, save, close) {
  const text = el("textarea", { rows: 3, required: true, maxlength: 20000 });
  text.value = memory?.content ?? "";
  const kind = el("input", { value: memory?.type ?? "", placeholder: "fact", list: "memory-types" });
  const tags = el("input", { value: memory?.tags.join(", ") ?? "", placeholder: "separated by commas" });
  const shared = el("input", { type: "checkbox" });
  const said = el("p", { class: "small bad-text", role: "alert" });
  const body = () => ({
    text: text.value, ...(kind.value.trim() ? { type: kind.value.trim() } : {}),
    tags: tags.value.split(",").map((tag) => tag.trim()).filter(Boolean), ...(!memory && shared.checked ? { access: ["*"] } : {}),
  });
  return el("form", {
    class: memory ? "" : "panel form", on: {
      submit: async (event) => {
        event.preventDefault();
        try { await save(body()); } catch (error) { said.textContent = error.message; }
      },
    },
  }, el("label", { class: "field" }, memory ? "Change it" : "What shall be remembered?", text),
  el("div", { class: "fields" }, el("label", { class: "field" }, "Type", kind), el("label", { class: "field" }, "Tags", tags)),
  memory ? null : el("label", { class: "check" }, shared, "Share it with the whole workspace"), said,
  el("div", { class: "buttons" }, close ? button("Cancel", close, "quiet") : null, el("button", { type: "submit", class: "main", text: memory ? "Save" : "Remember" })));
}

function entry(state, does, memory) {
  const below = el("div", { class: "history", hidden: true });
  const said = el("p", { class: "small bad-text", role: "status" });
  const attempt = (run) => async () => { try { await run(); } catch (error) { said.textContent = error.message; } };
  const put = (body) => api.changeMemory(state.workspace, state.user, memory.id, body).then(() => does.again());
  const forget = button("Forget", attempt(async () => {
    if (forget.textContent === "Forget") { forget.textContent = "Forget for good?"; return; }
    await api.forgetMemory(state.workspace, state.user, memory.id);
    does.again();
  }), "danger");
  const toggle = (fill) => attempt(async () => {
    below.hidden = !below.hidden;
    if (!below.hidden) below.replaceChildren(...(await fill()));
  });
  const versions = async () => (await api.history(state.workspace, state.user, memory.id)).memories.map((each) =>
    el("p", { class: "small" }, el("span", { class: "muted", text: `${each.valid_from ? ago(each.valid_from, ask.now()) : "from the beginning"}: ` }), each.content));
  const edit = async () => [editor(memory, put, () => { below.hidden = true; })];
  const mine = ask.may("write");
  return el("li", { class: `entry memory${memory.valid_until ? " past" : ""}` },
    el("div", {}, el("p", { class: "entry-title" }, memory.content, memory.pinned ? el("span", { class: "badge", text: "pinned" }) : null),
      el("p", { class: "path", text: [memory.type, memory.owner && `of ${memory.owner}`, memory.updated_at && ago(memory.updated_at, ask.now()), ...memory.tags.map((tag) => `#${tag}`)].filter(Boolean).join(" · ") }), said),
    el("div", { class: "entry-acts" }, button("History", toggle(versions), "quiet"),
      mine ? [button("Edit", toggle(edit), "quiet"), button(memory.pinned ? "Unpin" : "Pin", attempt(() => put({ pinned: !memory.pinned })), "quiet"), forget] : null), below);
}

export function memoriesView(does) {
  let words = "";
  const types = el("datalist", { id: "memory-types" }, ["fact", "preference", "decision"].map((value) => el("option", { value })));
  async function listed(state, signal) {
    if (!words.trim()) return (await api.memories(state.workspace, state.user, signal)).memories;
    const { results } = await api.searchMemories(state.workspace, state.user, words, signal);
    return results.map((each) => each.memory);
  }
  async function show(state, signal) {
    const found = await listed(state, signal);
    const list = el("div");
    const draw = (all) => list.replaceChildren(all.length ? el("ol", { class: "entries", id: "memories" }, all.map((each) => entry(state, does, each)))
      : el("p", { class: "empty", text: words ? "No memory speaks of that." : "Nothing is remembered here yet." }));
    draw(found);
    const search = el("input", { type: "search", id: "memory-search", placeholder: "Search memories", "aria-label": "Search memories", value: words, spellcheck: "false",
      on: { input: later(async () => { words = search.value; try { draw(await listed(state)); } catch (error) { does.fail(error); } }, 200) } });
    const adding = el("div", { hidden: true });
    const add = button("Add a memory", () => {
      adding.hidden = !adding.hidden;
      adding.replaceChildren(editor(null, async (body) => { await api.remember(state.workspace, state.user, body); does.again(); }, () => { adding.hidden = true; }));
    }, "main");
    return el("section", { class: "library", "aria-labelledby": "memories-title" }, types,
      el("div", { class: "library-head" }, el("h2", { id: "memories-title", text: "Memories" }), el("span", { class: "muted", text: `${number(found.length)}, seen as ${state.user}` }),
        el("span", { class: "grow" }), search, ask.may("write") ? add : null), adding, list);
  }
  return { show };
}
