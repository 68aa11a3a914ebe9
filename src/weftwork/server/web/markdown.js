// Markdown as far as notes use it, made of elements and text nodes only: no markup of a note is ever read as markup.

import { el } from "./dom.js";

const INLINE = new RegExp([
  "(?<code>`+)(?<codeText>.+?)\\k<code>(?!`)",
  "!\\[\\[(?<embed>[^\\]\\n]+)\\]\\]",
  "\\[\\[(?:[^\\]|\\n]*\\|)?(?<wiki>[^\\]\\n]+)\\]\\]",
  "!\\[(?<alt>[^\\]\\n]*)\\]\\([^)\\n]*\\)",
  "\\[(?<link>[^\\]\\n]+)\\]\\((?<target>[^)\\s]+)[^)\\n]*\\)",
  "<?(?<url>https?:\\/\\/[^\\s<>)\\]]+)>?",
  "(?<strongMark>\\*\\*|__)(?=\\S)(?<strong>.+?)(?<=\\S)\\k<strongMark>",
  "~~(?<gone>[^~\\n]+)~~",
  "(?<![\\w*])\\*(?=[^\\s*])(?<star>[^*\\n]+?)(?<=\\S)\\*(?!\\w)",
  "(?<!\\w)_(?=\\S)(?<under>[^_\\n]+?)(?<=\\S)_(?!\\w)",
  "(?<!\\\\)\\[(?<cited>[a-z]\\d{6})\\]",
].join("|"), "gu");

let words = null;

export function highlight(matches) {
  const safe = [...matches].sort((a, b) => b.length - a.length).slice(0, 200)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  words = safe.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${safe.join("|")})(?![\\p{L}\\p{N}])`, "giu") : null;
}

// Text with what matched the question marked.
export function marked(text) {
  if (!words) return [document.createTextNode(text)];
  const made = [];
  let at = 0;
  for (const found of text.matchAll(words)) {
    made.push(document.createTextNode(text.slice(at, found.index)), el("mark", { text: found[0] }));
    at = found.index + found[0].length;
  }
  made.push(document.createTextNode(text.slice(at)));
  return made;
}

function linked(text, target) {
  const safe = /^https?:\/\//i.test(target);
  return safe ? el("a", { href: target, target: "_blank", rel: "noopener noreferrer" }, text === target ? marked(text) : inline(text))
    : el("span", { class: "md-link", title: target }, marked(text));
}

function span(found) {
  const { codeText, embed, wiki, alt, link, target, url, strong, gone, star, under, cited } = found.groups;
  if (codeText !== undefined) return el("code", {}, marked(codeText));
  if (embed !== undefined) return el("span", { class: "md-embed", text: embed });
  if (wiki !== undefined) return el("span", { class: "md-link" }, marked(wiki));
  if (alt !== undefined) return el("span", { class: "md-embed", text: alt || "picture" });
  if (link !== undefined) return linked(link, target);
  if (url !== undefined) return linked(url, url);
  if (strong !== undefined) return el("strong", {}, inline(strong));
  if (gone !== undefined) return el("s", {}, marked(gone));
  if (cited !== undefined) return el("span", { class: "md-cite", text: cited });
  return el("em", {}, inline(star ?? under));
}

export function inline(text) {
  const made = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    made.push(...marked(text.slice(at, found.index)), span(found));
    at = found.index + found[0].length;
  }
  made.push(...marked(text.slice(at)));
  return made;
}

const FENCE = /^\s*(`{3,}|~{3,})/;
const ITEM = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/;
const ROW = /^\s*\|.*\|\s*$/;
const TASK = /^\[([ xX/-])\]\s+(.*)$/s;
const GAP = /^\s*(\[…\]|…)\s*$/;

function fence(lines, at) {
  const mark = FENCE.exec(lines[at])[1];
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end += 1;
  return [el("pre", { tabindex: 0 }, el("code", {}, marked(lines.slice(at + 1, end).join("\n")))), end + 1];
}

function quoted(lines, at) {
  let end = at;
  while (end < lines.length && /^\s*>/.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(/^\s*> ?/, ""));
  const callout = /^\[!(\w+)\][+-]?\s*(.*)$/.exec(inner[0] ?? "");
  if (!callout) return [el("blockquote", {}, blocks(inner)), end];
  const title = callout[2] || callout[1];
  return [el("div", { class: "md-callout" }, el("p", { class: "md-callout-title" }, inline(title)), blocks(inner.slice(1))), end];
}

function table(lines, at) {
  let end = at;
  while (end < lines.length && ROW.test(lines[end])) end += 1;
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());
  const rows = lines.slice(at, end).filter((line) => !/^[\s|:-]+$/.test(line)).map(cells);
  const headed = /^[\s|:-]+$/.test(lines[at + 1] ?? "");
  const made = rows.map((row, place) =>
    el("tr", {}, row.map((cell) => el(headed && place === 0 ? "th" : "td", {}, inline(cell)))));
  return [el("div", { class: "md-table", tabindex: 0, role: "region", "aria-label": "Table" }, el("table", {}, made)), end];
}

const depth = (line) => /^\s*/.exec(line)[0].replaceAll("\t", "    ").length;

function list(lines, at) {
  const first = ITEM.exec(lines[at]);
  const level = depth(lines[at]);
  const ordered = /\d/.test(first[2]);
  const made = el(ordered ? "ol" : "ul", ordered ? { start: parseInt(first[2], 10) } : {});
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]);
    if (!item || depth(lines[end]) !== level || /\d/.test(item[2]) !== ordered) break;
    let next = end + 1;
    while (next < lines.length && lines[next].trim() && depth(lines[next]) > level) next += 1;
    made.append(entry(item[3], lines.slice(end + 1, next)));
    end = next;
    if (end < lines.length && !lines[end].trim() && ITEM.test(lines[end + 1] ?? "") && depth(lines[end + 1]) === level) end += 1;
  }
  return [made, end];
}

function entry(text, below) {
  const least = Math.min(...below.map(depth));
  const inner = below.map((line) => line.replaceAll("\t", "    ").slice(least));
  const task = TASK.exec(text);
  if (!task) return el("li", {}, inline(text), blocks(inner));
  const done = task[1].toLowerCase() === "x";
  const said = done ? "done" : task[1] === "/" ? "begun" : "open";
  const box = el("span", { class: `md-task ${said}`, role: "img", "aria-label": said });
  return el("li", { class: "task" }, box, inline(task[2]), blocks(inner));
}

const starts = (line) => FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || ROW.test(line) || GAP.test(line) || RULE.test(line) || /^\s*>/.test(line);

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !starts(lines[end])) end += 1;
  const made = el("p");
  lines.slice(at, end).forEach((line, place) => made.append(...(place ? [el("br")] : []), ...inline(line.trim())));
  return [made, end];
}

function block(lines, at) {
  const line = lines[at];
  const heading = HEADING.exec(line);
  if (FENCE.test(line)) return fence(lines, at);
  if (GAP.test(line)) return [el("p", { class: "md-gap", text: "[…]", title: "Something of the document is left out here" }), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (heading) return [el("p", { class: `md-heading level-${heading[1].length}`, role: "heading", "aria-level": 4 }, inline(heading[2])), at + 1];
  if (/^\s*>/.test(line)) return quoted(lines, at);
  if (ROW.test(line)) return table(lines, at);
  if (ITEM.test(line)) return list(lines, at);
  return paragraph(lines, at);
}

function blocks(lines) {
  const made = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) { at += 1; continue; }
    const [element, next] = block(lines, at);
    made.push(element);
    at = Math.max(next, at + 1);
  }
  return made;
}

export const render = (text) => el("div", { class: "md" }, blocks(text.replaceAll("\r", "").split("\n")));
