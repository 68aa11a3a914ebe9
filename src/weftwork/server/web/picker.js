// A combobox for a node: search as you type, arrow keys, Enter to take, Escape to close, empty for none.

import { el, later } from "./dom.js";
import * as api from "./api.js";

export function picker(place, id, hint, type, known, changed) {
  const input = el("input", {
    id, type: "text", role: "combobox", placeholder: hint, autocomplete: "off", spellcheck: "false",
    "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list",
  });
  const list = el("ul", { id: `${id}-list`, role: "listbox", class: "choices", "aria-label": `Choices for ${id}` });
  list.hidden = true;
  place.append(input, list);
  const self = { value: "" };
  let choices = [];
  let at = -1;
  let running;

  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (next) => {
    at = choices.length ? (next + choices.length) % choices.length : -1;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at < 0) return;
    input.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const take = (choice) => {
    self.set(choice?.id ?? "", choice?.title ?? "");
    close();
    changed();
  };
  const show = (found) => {
    choices = found;
    const option = (choice, place) =>
      el("li", {
        id: `${id}-${place}`, role: "option", "aria-selected": "false",
        // The field must not lose the focus before the choice is taken.
        on: { mousedown: (event) => { event.preventDefault(); take(choice); } },
      },
      el("span", { text: choice.title }),
      el("small", { text: [choice.type, ...choice.trail.slice(0, 1)].join(" · ") }));
    const none = el("li", { class: "none", text: "Nothing found" });
    list.replaceChildren(...(found.length ? found.map(option) : [none]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    at = -1;
  };
  const search = async () => {
    running?.abort();
    running = new AbortController();
    const { workspace, user } = known();
    try {
      show((await api.nodes(workspace, user, input.value === self.title ? "" : input.value, type, running.signal)).nodes);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };
  const soon = later(search, 150);

  self.set = async (value, title = "") => {
    self.value = value;
    self.title = title || value;
    input.value = self.title;
    input.title = value;
  };
  input.addEventListener("input", () => {
    if (input.value === "" && self.value) take(null);
    else soon();
  });
  input.addEventListener("focus", () => { input.select(); search(); });
  input.addEventListener("blur", () => {
    running?.abort();
    input.value = self.title ?? "";
    close();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) search();
      else mark(at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      const typed = input.value !== "" && input.value !== self.title;
      if (!list.hidden && choices.length && (at >= 0 || typed)) take(choices[Math.max(0, at)]);
    } else if (event.key === "Escape" && !list.hidden) { event.preventDefault(); close(); }
  });
  self.set("");
  return self;
}
