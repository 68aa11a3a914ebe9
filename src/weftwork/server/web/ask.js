// The settings: a form, and the address that reproduces it. The part after # is never sent to a server.

import { $, el, fill, later, number } from "./dom.js";
import { picker } from "./picker.js";

const LEAST = 100;
const SAME = "";
const PLAIN = ["query", "workspace", "user", "recipe", "lens", "packer"];
const OTHER = ["user", "recipe", "lens", "packer"];

let offered = { workspaces: [], recipes: [], lenses: [], packers: [], most_tokens: 200000, user: "" };
let pickers = {};
let tell = () => {};

export function readAddress() {
  const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const sections = {};
  for (const part of (found.sections ?? "").split(",")) {
    const [name, tokens] = part.split(":");
    if (name && /^\d+$/.test(tokens ?? "")) sections[name] = Number(tokens);
  }
  return { ...found, sections };
}

export function writeAddress(state) {
  const said = new URLSearchParams();
  for (const name of [...PLAIN, "focus", "thread", "budget"]) if (state[name]) said.set(name, state[name]);
  const sections = Object.entries(state.sections).map(([name, tokens]) => `${name}:${tokens}`);
  if (sections.length) said.set("sections", sections.join(","));
  if (state.b) {
    said.set("compare", "1");
    for (const [name, value] of Object.entries(state.b)) if (value) said.set(`b-${name}`, value);
  }
  if (`#${said}` !== location.hash) history.replaceState(null, "", `#${said}`);
}

// What the form says now. `b` holds what differs in a second context, or null if none is wanted.
export function state() {
  const said = Object.fromEntries(PLAIN.map((name) => [name, $(name).value]));
  said.focus = pickers.focus.value;
  said.thread = pickers.thread.value;
  said.budget = Math.max(1, Math.round(Number($("budget").value)) || 4000);
  said.sections = {};
  for (const input of $("shares-fields").querySelectorAll("input")) {
    if (input.value !== "") said.sections[input.name] = Math.max(0, Math.round(Number(input.value)));
  }
  said.b = null;
  if (!$("compare-fields").hidden) {
    said.b = Object.fromEntries(OTHER.map((name) => [name, $(`b-${name}`).value]));
    said.b.budget = Math.round(Number($("b-budget").value)) || 0;
  }
  return said;
}

export function bodyOf(said) {
  const body = { query: said.query, budget: said.budget, recipe: said.recipe || "default" };
  for (const name of ["lens", "packer", "focus", "thread"]) if (said[name]) body[name] = said[name];
  if (Object.keys(said.sections).length) body.sections = said.sections;
  return body;
}

export function second(said) {
  const other = { ...said, b: null };
  for (const [name, value] of Object.entries(said.b)) if (value) other[name] = value === "—" ? "" : value;
  return other;
}

// The slider is logarithmic: a step is felt the same at 500 tokens as at 50,000.
const toTokens = (place) => {
  const exact = LEAST * (offered.most_tokens / LEAST) ** (place / 100);
  const step = 10 ** Math.max(1, Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / step) * step;
};
const toPlace = (tokens) =>
  Math.round((100 * Math.log(Math.max(LEAST, tokens) / LEAST)) / Math.log(offered.most_tokens / LEAST));

export function offer(settings, said) {
  offered = settings;
  const spaces = settings.workspaces.map((each) => [each.name, each.name]);
  fill($("workspace"), spaces, said.workspace || $("workspace").value || settings.home);
  const names = (list, none) => [["", none], ...list.map((each) => [each.name ?? each, each.name ?? each])];
  fill($("recipe"), settings.recipes.map((each) => [each.name, each.name]), said.recipe ?? "default");
  fill($("lens"), names(settings.lenses, "none"), said.lens ?? "");
  for (const option of $("lens").options) {
    option.title = settings.lenses.find((each) => each.name === option.value)?.description ?? "";
  }
  fill($("packer"), names(settings.packers, "the recipe's"), said.packer ?? "");
  $("budget").value = said.budget || 1200;
  $("budget").max = settings.most_tokens;
  $("query").value = said.query ?? "";
  offerUsers(said.user);
  offerSections(said.sections);
  offerOther(said);
  pickers.focus.set(said.focus ?? "");
  pickers.thread.set(said.thread ?? "");
  showBudget();
}

function offerUsers(value) {
  const users = offered.workspaces.find((each) => each.name === $("workspace").value)?.users ?? [];
  fill($("user"), users.map((user) => [user, user]), value ?? ($("user").value || offered.user));
  $("user").disabled = users.length < 2;
}

function offerSections(values = {}) {
  const recipe = offered.recipes.find((each) => each.name === $("recipe").value);
  const names = Object.keys(recipe?.sections ?? {});
  $("shares").hidden = names.length === 0;
  const share = (name) => Math.floor((recipe.sections[name] * (Number($("budget").value) || 0)) / 4000);
  $("shares-fields").replaceChildren(
    ...names.map((name) =>
      el("label", { class: "field", text: name },
        el("input", { type: "number", min: 0, step: 10, name, value: values[name] ?? null, placeholder: share(name) })),
    ),
  );
  showShares();
}

function offerOther(said) {
  const users = [...$("user").options].map((option) => [option.value, option.value]);
  const other = (list) => [[SAME, "as A"], ...list.map((each) => [each.name ?? each, each.name ?? each])];
  fill($("b-user"), [[SAME, "as A"], ...users], said["b-user"] ?? "");
  fill($("b-recipe"), other(offered.recipes), said["b-recipe"] ?? "");
  fill($("b-lens"), [[SAME, "as A"], ["—", "none"], ...other(offered.lenses).slice(1)], said["b-lens"] ?? "");
  fill($("b-packer"), [[SAME, "as A"], ["—", "the recipe's"], ...other(offered.packers).slice(1)], said["b-packer"] ?? "");
  $("b-budget").value = said["b-budget"] ?? "";
  $("b-budget").placeholder = "as A";
  showCompare(Boolean(said.compare));
}

function showCompare(on) {
  $("compare-fields").hidden = !on;
  $("compare-toggle").setAttribute("aria-pressed", String(on));
  $("compare-toggle").textContent = on ? "Stop comparing" : "Compare with…";
}

function showBudget() {
  const tokens = Number($("budget").value) || 0;
  $("budget-slider").value = toPlace(tokens);
  $("budget-slider").setAttribute("aria-valuetext", `${number(tokens)} tokens`);
  const recipe = offered.recipes.find((each) => each.name === $("recipe").value);
  for (const input of $("shares-fields").querySelectorAll("input")) {
    input.placeholder = Math.floor(((recipe?.sections[input.name] ?? 0) * tokens) / 4000);
  }
}

function showShares() {
  const set = [...$("shares-fields").querySelectorAll("input")].filter((input) => input.value !== "").length;
  $("shares-said").textContent = set ? `${set} set` : "as the recipe divides them";
}

export function setBudget(tokens) {
  $("budget").value = tokens;
  showBudget();
  tell();
}

export const setFocus = (node, title) => pickers.focus.set(node, title);

export function listen(changed) {
  tell = changed;
  const wait = later(changed, 220);
  const soon = () => {
    document.body.classList.add("busy");
    wait();
  };
  const known = () => ({ workspace: $("workspace").value, user: $("user").value });
  pickers.focus = picker($("focus-picker"), "focus", "no focus: search for one", "", known, changed);
  pickers.thread = picker($("thread-picker"), "thread", "no thread", "thread", known, changed);
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
  $("query").addEventListener("input", soon);
  $("budget").addEventListener("input", () => { showBudget(); soon(); });
  $("budget-slider").addEventListener("input", () => {
    $("budget").value = toTokens(Number($("budget-slider").value));
    showBudget();
    soon();
  });
  $("workspace").addEventListener("change", () => {
    offerUsers();
    offerOther({});
    pickers.focus.set("");
    pickers.thread.set("");
    changed();
  });
  $("recipe").addEventListener("change", () => { offerSections(); changed(); });
  for (const id of ["user", "lens", "packer", ...OTHER.map((name) => `b-${name}`)]) $(id).addEventListener("change", changed);
  $("b-budget").addEventListener("input", soon);
  $("shares-fields").addEventListener("input", () => { showShares(); soon(); });
  $("compare-toggle").addEventListener("click", () => { showCompare($("compare-fields").hidden); changed(); });
}
