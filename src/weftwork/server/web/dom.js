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
    else if (name === "css") for (const [rule, said] of Object.entries(value)) made.style.setProperty(rule, said);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (text, run, kind = "", more = {}) =>
  el("button", { type: "button", class: kind, text, on: { click: run }, ...more });

export const number = (value) => Math.round(value).toLocaleString("en");
export const plural = (count, word, many = `${word}s`) => `${number(count)} ${count === 1 ? word : many}`;

export function short(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : text;
}

// A title as people read it: without the signs of Markdown.
export const plain = (text) =>
  text.replace(/!?\[\[([^\]|]*\|)?([^\]]+)\]\]/g, "$2").replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^\s*(#{1,6}|>)\s+/, "").replace(/^\[!(\w+)\]\s*/, "").replace(/(\*\*|__|~~|`)/g, "").trim() || text;

export const day = (moment) => new Date(moment).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });

export function ago(moment, now = Date.now()) {
  const minutes = (now - new Date(moment)) / 60000;
  if (minutes < 1) return "just now";
  if (minutes >= 14 * 1440) return `on ${day(moment)}`;
  const [unit, size] = [["day", 1440], ["hour", 60], ["minute", 1]].find(([, least]) => minutes >= least);
  return `${plural(Math.floor(minutes / size), unit)} ago`;
}

export function later(run, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
export const say = (text) => { $("status").textContent = text; };

export const FATES = { included: "in", truncated: "shortened", line: "title only", dropped: "out" };
export const isIn = (candidate) => candidate.fate !== "dropped";
export const isWhole = (candidate) => candidate.fate === "included";
export const cardsOf = (result) => result.pieces.filter((piece) => piece.card !== null);
// Twelve hues that repeat: neighbours differ, and a card has one in the strip and at its side.
export const hue = (place) => `hue-${place % 8}`;
