// The question and the chips below it: what they offer, what they say, and when that changes.

import { $, el, later, number } from "./dom.js";
import { picker } from "./picker.js";

const LATE = 220;
const pickers = {};
let settings = null;

const name = (each) => [each.name ?? each, each.name ?? each];
const recipeOf = (state) => settings.recipes.find((each) => each.name === (state.recipe || "default"));
export const defaultTokens = (state) => recipeOf(state)?.tokens ?? 4000;

// A value of an address that is not offered stays visible: the server says what is wrong with it.
function choose(select, options, value) {
  const known = options.some(([key]) => key === value) ? options : [...options, [value, value]];
  select.replaceChildren(...known.map(([key, label]) => el("option", { value: key, text: label })));
  select.value = value;
}

export function usersOf(workspace) {
  return settings.workspaces.find((each) => each.name === workspace)?.users ?? [];
}

// Fill what an address leaves open: the workspace to begin with, and oneself.
export function complete(state) {
  state.workspace ||= settings.home ?? settings.workspaces[0]?.name ?? "";
  const users = usersOf(state.workspace);
  state.user ||= users.includes(settings.user) ? settings.user : (users[0] ?? settings.user);
  return state;
}

export function offer(made) {
  settings = made;
  const admin = made.scope === "admin";
  $("view-keys").hidden = !admin;
}

export const may = (scope) => ["read", "write", "admin"].indexOf(settings?.scope ?? "read") >= ["read", "write", "admin"].indexOf(scope);
export const now = () => new Date(settings.now);
export const mostTokens = () => settings.most_tokens;
export const choices = () => settings;

export const RECIPES = () => settings.recipes.map((each) => [each.name, each.name]);

export function show(state) {
  choose($("workspace"), settings.workspaces.map(name), state.workspace);
  choose($("user"), usersOf(state.workspace).map(name), state.user);
  choose($("recipe"), RECIPES(), state.recipe || "default");
  choose($("lens"), [["", "none"], ...settings.lenses.map((each) => [each.name, each.name])], state.lens);
  choose($("packer"), [["", "the recipe's"], ...settings.packers.map(name)], state.packer);
  for (const option of $("lens").options) {
    option.title = settings.lenses.find((each) => each.name === option.value)?.description ?? "";
  }
  if ($("query").value !== state.query) $("query").value = state.query;
  if (document.activeElement !== $("budget")) $("budget").value = state.budget || defaultTokens(state);
  $("budget").max = settings.most_tokens;
  if (pickers.focus.value !== state.focus) pickers.focus.set(state.focus);
  if (pickers.thread.value !== state.thread) pickers.thread.set(state.thread);
  showSections(state);
  const custom = [state.focus, state.thread, state.lens, state.packer, ...Object.keys(state.sections)].filter(Boolean).length;
  $("custom-said").textContent = custom ? number(custom) : "";
}

function showSections(state) {
  const recipe = recipeOf(state);
  const names = Object.keys(recipe?.sections ?? {});
  $("shares").hidden = names.length === 0;
  const shown = [...$("shares-fields").querySelectorAll("input")].map((input) => input.name).join();
  const tokens = state.budget || defaultTokens(state);
  const share = (section) => Math.floor((recipe.sections[section] * tokens) / 4000);
  if (shown !== names.join()) {
    $("shares-fields").replaceChildren(...names.map((section) =>
      el("label", { class: "field", text: settings.section_titles[section] ?? section }, el("input", { type: "number", min: 0, step: 10, name: section }))));
  }
  for (const input of $("shares-fields").querySelectorAll("input")) {
    input.placeholder = share(input.name);
    if (document.activeElement !== input) input.value = state.sections[input.name] ?? "";
  }
}

export function sections() {
  const made = {};
  for (const input of $("shares-fields").querySelectorAll("input")) {
    if (input.value !== "") made[input.name] = Math.max(0, Math.round(Number(input.value)));
  }
  return made;
}

export function body(state) {
  const made = { query: state.query, budget: state.budget || defaultTokens(state), recipe: state.recipe || "default" };
  for (const each of ["lens", "packer", "focus", "thread"]) if (state[each]) made[each] = state[each];
  if (Object.keys(state.sections).length) made.sections = state.sections;
  return made;
}

export const nameFocus = (node, title) => { if (pickers.focus.value === node) pickers.focus.set(node, title); };

// `changed(parts, how)` is told what changed in the state, and whether that is a step of the history.
export function listen(where, changed) {
  pickers.focus = picker($("focus-picker"), "focus", "search for a note", "", where, () => changed({ focus: pickers.focus.value }, "push"));
  pickers.thread = picker($("thread-picker"), "thread", "search for a thread", "thread", where, () => changed({ thread: pickers.thread.value }, "push"));
  const typed = later(() => changed({ query: $("query").value }, "typing"), LATE);
  const asked = () => changed({ query: $("query").value.trim(), chosen: "" }, "push");
  $("query").addEventListener("input", () => { document.body.classList.add("busy"); typed(); });
  $("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); asked(); }
  });
  $("ask").addEventListener("submit", (event) => { event.preventDefault(); asked(); });
  const budget = later(() => changed({ budget: Math.max(0, Math.round(Number($("budget").value))) }, "typing"), LATE);
  $("budget").addEventListener("input", () => { document.body.classList.add("busy"); budget(); });
  $("workspace").addEventListener("change", () =>
    changed({ workspace: $("workspace").value, user: "", focus: "", thread: "", chosen: "" }, "push"));
  for (const id of ["user", "recipe", "lens", "packer"]) {
    $(id).addEventListener("change", () => changed({ [id]: id === "recipe" && $(id).value === "default" ? "" : $(id).value, ...(id === "recipe" ? { sections: {} } : {}) }, "push"));
  }
  $("shares-fields").addEventListener("input", later(() => changed({ sections: sections() }, "typing"), LATE));
  for (const pop of document.querySelectorAll(".pop")) closeOutside(pop);
}

function closeOutside(pop) {
  addEventListener("pointerdown", (event) => { if (pop.open && !pop.contains(event.target)) pop.open = false; });
  pop.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !pop.open) return;
    pop.open = false;
    pop.querySelector("summary").focus();
  });
}
