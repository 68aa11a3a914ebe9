// What opens above the page: a document to be read whole, and a picture of a page.

import { $, button, el } from "./dom.js";
import * as api from "./api.js";
import { render } from "./markdown.js";

const pictures = new Map();

// Pictures are fetched with the key and kept, each once.
export function picture({ workspace, user }, node, size) {
  const name = [workspace, user, node, size].join("\n");
  if (!pictures.has(name)) {
    pictures.set(name, api.picture(workspace, user, node, size));
    pictures.get(name).catch(() => pictures.delete(name));
  }
  return pictures.get(name);
}

function open(title) {
  $("reader-title").textContent = title;
  $("reader-body").replaceChildren(el("p", { class: "muted", text: "Reading…" }));
  $("reader").showModal();
}

const failed = (error) => $("reader-body").replaceChildren(el("p", { class: "bad-text", text: error.message }));

export async function openPage(where, candidate) {
  open(candidate.title);
  try {
    $("reader-body").replaceChildren(el("img", { src: await picture(where, candidate.node, "image"), alt: candidate.title }));
  } catch (error) {
    failed(error);
  }
}

export async function readWhole({ workspace, user }, reference, title) {
  open(title);
  const go = async (start) => {
    const part = await api.read(workspace, user, reference, start);
    if (!start) $("reader-body").replaceChildren();
    $("reader-body").append(render(part.text));
    if (part.next) {
      const on = button("Read on", async () => { on.remove(); await go(part.next).catch(failed); });
      $("reader-body").append(on);
    }
  };
  await go("").catch(failed);
}

export function listen() {
  for (const close of document.querySelectorAll("dialog [data-close]")) {
    close.addEventListener("click", () => close.closest("dialog").close());
  }
}
