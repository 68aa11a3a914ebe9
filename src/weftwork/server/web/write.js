// Writing: a memory, a document, a word on whether an item helped; and looking at a page.

import { $, el, number } from "./dom.js";
import * as api from "./api.js";

let known = () => ({ workspace: "", user: "" });
let changed = () => {};
const pictures = new Map();

// Pictures are fetched with the key and kept, each once.
export function picture(node, size) {
  const { workspace, user } = known();
  const name = [workspace, user, node, size].join("\n");
  if (!pictures.has(name)) {
    pictures.set(name, api.picture(workspace, user, node, size));
    pictures.get(name).catch(() => pictures.delete(name));
  }
  return pictures.get(name);
}

export async function openPage(candidate) {
  $("page-title").textContent = candidate.title;
  $("page-body").replaceChildren(el("p", { class: "muted", text: "Loading…" }));
  $("page-dialog").showModal();
  try {
    const address = await picture(candidate.node, "image");
    $("page-body").replaceChildren(el("img", { src: address, alt: candidate.title }));
  } catch (error) {
    $("page-body").replaceChildren(el("p", { class: "bad-text", text: error.message }));
  }
}

async function remember(event) {
  event.preventDefault();
  const { workspace, user } = known();
  const tags = $("memory-tags").value.split(",").map((tag) => tag.trim()).filter(Boolean);
  const memory = { text: $("memory-text").value };
  if ($("memory-type").value.trim()) memory.type = $("memory-type").value.trim();
  if (tags.length) memory.tags = tags;
  if ($("memory-shared").checked) memory.access = ["*"];
  try {
    const kept = await api.remember(workspace, user, memory);
    $("memory-said").textContent = `Remembered as ${kept.id}.`;
    $("memory-text").value = "";
    changed();
  } catch (error) {
    $("memory-said").textContent = error.message;
  }
}

const said = (job) => {
  if (job.state === "queued") return "waiting";
  if (job.state === "running") {
    return job.expected ? `page ${number(job.done)} of ${number(job.expected)}` : `${number(job.done ?? 0)} pages read`;
  }
  if (job.state === "done") return "indexed";
  return job.state === "failed" ? `failed: ${job.why ?? "unknown"}` : job.state;
};

function show(line, job) {
  const bar = line.querySelector("progress");
  if (job.state === "done") { bar.max = 1; bar.value = 1; }
  else if (job.expected) { bar.max = job.expected; bar.value = job.done ?? 0; }
  line.querySelector(".state").textContent = said(job);
  line.className = job.state;
}

async function upload(event) {
  event.preventDefault();
  const { workspace, user } = known();
  const file = $("upload-file").files[0];
  if (!file) return;
  const line = el("li", { class: "queued" }, el("span", { class: "name", text: file.name }),
    el("progress", { "aria-label": `Progress of ${file.name}` }), el("span", { class: "state", text: "sending" }));
  $("jobs").append(line);
  try {
    let job = await api.upload(workspace, user, file);
    show(line, job);
    for await (const each of api.events(workspace, user, job.id)) {
      job = each.data;
      show(line, job);
    }
    $("upload-said").textContent = job.state === "done" ? `${file.name} can be found now.` : `${file.name}: ${said(job)}`;
    changed();
  } catch (error) {
    line.className = "failed";
    line.querySelector(".state").textContent = error.message;
    $("upload-said").textContent = `${file.name}: ${error.message}`;
  }
}

export function listen(where, written) {
  known = where;
  changed = written;
  $("open-memory").addEventListener("click", () => { $("memory-said").textContent = ""; $("memory-dialog").showModal(); });
  $("open-upload").addEventListener("click", () => { $("upload-said").textContent = ""; $("upload-dialog").showModal(); });
  $("memory-form").addEventListener("submit", remember);
  $("upload-form").addEventListener("submit", upload);
  for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
}
