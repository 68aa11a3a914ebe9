// What was added, from where and when; uploads on their way; and everything that one may do with them.

import { ago, button, el, number, plain, plural } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import { readWhole } from "./dialogs.js";

const UNFINISHED = ["queued", "running"];

function progress(job) {
  if (job.state === "queued") return "waiting";
  if (job.state === "running") return job.expected ? `page ${number(job.done)} of ${number(job.expected)}` : plural(job.done ?? 0, "page read", "pages read");
  if (job.state === "done") return job.notes?.length ? `indexed; ${job.notes.join("; ")}` : "indexed";
  return job.state === "failed" ? `failed: ${job.why ?? "for a reason that only the server's log has"}` : job.state;
}

function jobEntry(state, does, job) {
  const said = el("p", { class: "small muted state" });
  const bar = el("progress", { "aria-label": `Progress of ${job.name}` });
  const cancel = button("Cancel", async () => {
    try { update(await api.cancelJob(state.workspace, state.user, job.id)); } catch (error) { said.textContent = error.message; }
  }, "quiet");
  const made = el("li", { class: "entry job" }, el("div", {}, el("p", { class: "entry-title", text: job.name }), said, bar),
    el("div", { class: "entry-acts" }, ask.may("write") ? cancel : null));
  function update(now) {
    const over = !UNFINISHED.includes(now.state);
    said.textContent = progress(now);
    said.classList.toggle("bad-text", now.state === "failed");
    made.dataset.state = now.state;
    bar.hidden = over;
    cancel.hidden = over;
    if (now.expected) { bar.max = now.expected; bar.value = now.done ?? 0; }
  }
  update(job);
  async function follow() {
    for await (const each of api.events(state.workspace, state.user, job.id)) update(each.data);
    does.again();
  }
  if (UNFINISHED.includes(job.state)) follow().catch((error) => { said.textContent = error.message; });
  return made;
}

// Files are dropped here, or chosen; each is sent and indexed while one looks on.
export function dropZone(state, does) {
  const jobs = el("ol", { class: "entries", id: "jobs" });
  const send = async (file) => {
    const line = el("li", { class: "entry" }, el("div", {}, el("p", { class: "entry-title", text: file.name }), el("p", { class: "small muted state", text: "sending" })));
    jobs.prepend(line);
    try {
      line.replaceWith(jobEntry(state, does, { name: file.name, ...(await api.upload(state.workspace, state.user, file)) }));
    } catch (error) {
      line.querySelector(".state").textContent = error.message;
      line.querySelector(".state").classList.add("bad-text");
    }
  };
  const input = el("input", { type: "file", multiple: true, id: "upload-file", on: { change: () => { [...input.files].forEach(send); input.value = ""; } } });
  const zone = el("div", {
    class: "drop", on: {
      dragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
      dragleave: () => zone.classList.remove("over"),
      drop: (event) => { event.preventDefault(); zone.classList.remove("over"); [...event.dataTransfer.files].forEach(send); },
    },
  }, el("label", { for: "upload-file" }, el("b", { text: "Drop documents here, or choose them" }),
    el("span", { class: "small muted", text: "PDF, Word, PowerPoint, Excel, HTML, EPUB, Markdown, pictures or text" })), input);
  return el("div", { class: "library" }, zone, jobs);
}

function documentEntry(state, does, node) {
  const name = plain(node.title || node.id);
  const facts = [node.type, node.source || null, node.updated_at ? `changed ${ago(node.updated_at, ask.now())}` : null, node.owner ? `of ${node.owner}` : null];
  const said = el("p", { class: "small bad-text", role: "status" });
  const remove = button("Remove", async () => {
    if (remove.textContent === "Remove") { remove.textContent = "Remove for good?"; return; }
    try {
      await api.removeNode(state.workspace, state.user, node.id);
      does.again();
    } catch (error) {
      said.textContent = error.message;
      remove.textContent = "Remove";
    }
  }, "danger");
  return el("li", { class: "entry" }, el("div", {}, el("p", { class: "entry-title", text: name }), el("p", { class: "path", text: facts.filter(Boolean).join(" · ") }), said),
    el("div", { class: "entry-acts" }, button("Read", () => readWhole(state, node.id, name), "quiet"), ask.may("write") ? remove : null));
}

// A file or folder of the server that was added: what of it is there, what could not be read, and reading it again.
function sourceEntry(state, does, source) {
  const said = el("p", { class: "small", role: "status" });
  const attempt = (run) => async () => {
    try { await run(); } catch (error) { said.textContent = error.message; said.classList.add("bad-text"); }
  };
  const read = button("Index again", attempt(async () => {
    said.textContent = "reading…";
    const { added, changed, removed, unchanged } = await api.readSource(state.workspace, source.id);
    said.textContent = `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
  }), "quiet");
  const remove = button("Remove", attempt(async () => {
    if (remove.textContent === "Remove") { remove.textContent = "Remove all of it for good?"; return; }
    await api.removeSource(state.workspace, source.id);
    does.again();
  }), "danger");
  const errors = source.skipped.length ? el("details", { class: "more" }, el("summary", { text: `${plural(source.skipped.length, "file", "files")} could not be read` }),
    source.skipped.map(({ what, why }) => el("p", { class: "small", text: `${what} ${why}` }))) : null;
  return el("li", { class: "entry" }, el("div", {}, el("p", { class: "entry-title", text: source.name }),
    el("p", { class: "path", text: [`${number(source.stored)} by ${source.connector}`, source.is_there ? null : "gone from the server's disk"].filter(Boolean).join(" · ") }), errors, said),
  el("div", { class: "entry-acts" }, source.is_there ? read : null, remove));
}

export function documentsView(does) {
  async function show(state, signal) {
    const [{ documents, total }, { jobs }, { sources }] = await Promise.all([
      api.documents(state.workspace, state.user, signal), api.jobs(state.workspace, state.user, signal),
      ask.may("admin") ? api.sources(state.workspace, signal) : { sources: [] }]);
    const uploads = jobs.filter((job) => UNFINISHED.includes(job.state) || job.state === "failed");
    return el("section", { class: "library", "aria-labelledby": "documents-title" },
      el("div", { class: "library-head" }, el("h2", { id: "documents-title", text: "Documents and notes" }),
        el("span", { class: "muted", text: total > documents.length ? `the latest ${number(documents.length)} of ${number(total)} in ${state.workspace}` : `${number(total)} in ${state.workspace}, seen as ${state.user}` })),
      ask.may("write") ? dropZone(state, does) : null,
      uploads.length ? [el("h3", { text: "Uploads" }), el("ol", { class: "entries", id: "uploads" }, uploads.map((job) => jobEntry(state, does, job)))] : null,
      sources.length ? [el("h3", { text: "Files and folders of the server" }), el("ol", { class: "entries", id: "sources" }, sources.map((each) => sourceEntry(state, does, each))), el("h3", { text: "Documents and notes, the latest first" })] : null,
      documents.length ? el("ol", { class: "entries", id: "documents" }, documents.map((node) => documentEntry(state, does, node)))
        : el("p", { class: "empty", text: "There is nothing here yet." }));
  }
  return { show };
}
