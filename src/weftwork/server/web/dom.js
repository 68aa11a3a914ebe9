// Building the page. What comes from a workspace is only ever set as text, never as markup.

export const $ = (id) => document.getElementById(id);

export function el(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name === "on") for (const [event, run] of Object.entries(value)) made.addEventListener(event, run);
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const number = (value) => Math.round(value).toLocaleString("en");
export function short(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : text;
}

export const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

// A select that keeps its value when its options change, as far as the value is still there.
export function fill(select, options, value) {
  select.replaceChildren(...options.map(([key, label]) => el("option", { value: key, text: label })));
  select.value = options.some(([key]) => key === value) ? value : (options[0]?.[0] ?? "");
}

export function later(run, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}

const SECTIONS = [
  "system", "focus", "references", "semantic", "relations", "activity", "history", "graph", "memories", "pages",
];
// Sections have colours of their own; names that nobody foresaw share one.
export const sectionClass = (name) => `s-${SECTIONS.includes(name) ? name : "else"}`;

// Signals have theirs by their place in the profile, whichever profile it is.
let signals = [];
export const nameSignals = (names) => { signals = names; };
export const signalClass = (name) => (name === "other" ? "g-other" : `g-${signals.indexOf(name) % 10}`);
export const FATES = { included: "in", truncated: "shortened", line: "title only", dropped: "out" };
export const isIn = (candidate) => candidate.fate !== "dropped";
