// The page as a whole: a state in the address, a view of it, and what happens when the server is slow, refuses or is gone.

import { $, button, el } from "./dom.js";
import * as address from "./address.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import * as copy from "./copy.js";
import * as dialogs from "./dialogs.js";
import { compareView } from "./compare.js";
import { contextView } from "./context.js";
import { documentsView } from "./documents.js";
import { keysView } from "./keys.js";
import { memoriesView } from "./memories.js";
import { receiptsView, recent } from "./receipts.js";
import { start } from "./start.js";

const SLOW = 150;
const RETRY = 2000;
let state = address.read();
let ready = false;
let running = null;
let shownFor = "";
let waiting = null; // the newest state of a drag, while another one is asked for

const does = { change, again: () => update(), fail, recent };
const context = contextView(does);
const views = { compare: compareView(does), documents: documentsView(does), receipts: receiptsView(does), memories: memoriesView(does), keys: keysView(does) };

const put = (part) => { if ($("view").firstChild !== part || $("view").childNodes.length > 1) $("view").replaceChildren(part); };
// What an answer is about: all but its size, and what of it is looked at.
const subject = () => address.hash({ ...state, budget: 0, raw: false, chosen: "" });

// What a click, a key or a drag changes. "note" is only remembered, "drag" is asked for as fast as answers come.
function change(parts, how) {
  state = ask.complete({ ...state, ...parts });
  if (how === "note") return address.write(state, "replace");
  if (how === "drag") return follow();
  address.write(state, how);
  showViews();
  ask.show(state);
  if ("raw" in parts && Object.keys(parts).length === 1) return context.toggleRaw(parts.raw);
  return update();
}

async function follow() {
  if (waiting) { waiting = state; return; }
  waiting = state;
  while (waiting) {
    const now = waiting;
    await update(true);
    waiting = waiting === now ? null : waiting;
  }
}

function fail(error) {
  if (error.name === "AbortError") return;
  if (error.status === 401) return askForKey(api.getKey() ? "This key is not valid, or no longer." : "");
  const gone = error.status === 0;
  const again = gone || error.status >= 500 ? [button("Try again", () => begin())] : [];
  $("problem").replaceChildren(el("span", { class: "grow", text: gone ? "The server does not answer. Trying again…" : error.message }), ...again);
  $("problem").hidden = false;
  if (gone) setTimeout(comeBack, RETRY);
}

async function comeBack() {
  if ($("problem").hidden) return;
  try {
    await api.alive();
    begin();
  } catch {
    setTimeout(comeBack, RETRY);
  }
}

function askForKey(problem) {
  $("key-problem").textContent = problem;
  if (!$("key-dialog").open) $("key-dialog").showModal();
  put(el("section", { class: "start" }, el("h2", { text: "This server needs a key" }),
    el("p", { class: "muted", text: "Whoever runs it makes one with  weftwork keys create. It decides what you see here." }),
    button("Enter a key", () => askForKey(""), "main")));
}

function busy(on, stale) {
  document.body.classList.toggle("busy", on);
  document.body.classList.toggle("stale", on && Boolean(stale));
  $("view").setAttribute("aria-busy", String(on));
  clearTimeout(busy.timer);
  if (on) busy.timer = setTimeout(() => { $("progress").hidden = false; }, SLOW);
  else $("progress").hidden = true;
}

async function content(signal) {
  if (state.view !== "context") return views[state.view].show(state, signal);
  if (!state.query.trim() && !state.focus && !state.thread) return start(state, does, signal);
  const found = await api.inspect(state.workspace, state.user, ask.body(state), signal);
  return () => { context.show(found, state); return context.part; };
}

async function update(dragged = false) {
  if (!ready) return;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  busy(true, !dragged && shownFor !== subject());
  try {
    const made = await content(signal);
    if (signal.aborted) return;
    $("problem").hidden = true;
    put(typeof made === "function" ? made() : made);
    document.body.dataset.view = state.view;
    document.body.classList.toggle("asking", state.view === "context" || state.view === "compare");
    shownFor = subject();
  } catch (error) {
    if (!signal.aborted) fail(error);
  } finally {
    if (running?.signal === signal) {
      busy(false);
      // What was asked for did not come: what is still there answers something else.
      document.body.classList.toggle("stale", shownFor !== "" && shownFor !== subject());
      document.body.classList.add("asked");
    }
  }
}

function showViews() {
  if (!(state.view in views) && state.view !== "context") state.view = "context";
  for (const link of document.querySelectorAll("#views a")) {
    const here = link.dataset.view === state.view;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  $("ask").hidden = state.view !== "context" && state.view !== "compare";
  document.title = state.query && !$("ask").hidden ? `${state.query.slice(0, 80)} · Weftwork` : "Weftwork";
}

// A link to a part of the page keeps the question and whose eyes one looks through.
function navigate() {
  const said = address.read();
  const linked = [...new URLSearchParams(location.hash.slice(1)).keys()].join() === "view";
  const again = said.view === "context" && state.view === "context";
  const asked = again ? { query: "", focus: "", thread: "" } : {};
  const kept = linked ? { ...state, ...asked, view: said.view, chosen: "", receipt: "", b: { ...state.b, receipt: "" } } : said;
  state = ready ? ask.complete(kept) : kept;
  if (linked) history.replaceState(history.state, "", address.hash(state));
  if (!ready) return;
  showViews();
  ask.show(state);
  update();
}

async function begin() {
  busy(true);
  try {
    ask.offer(await api.settings());
    ready = true;
    state = ask.complete(state);
    if (!state.workspace) throw new Error("there is no workspace yet for this user: make one with  weftwork init");
    $("key-dialog").close();
    $("problem").hidden = true;
    showViews();
    ask.show(state);
    await update();
  } catch (error) {
    busy(false);
    fail(error);
  }
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem("weftwork-theme", document.documentElement.dataset.theme);
}

$("theme").addEventListener("click", theme);
$("skip").addEventListener("click", (event) => { event.preventDefault(); $("result").focus(); $("result").scrollIntoView(); });
ask.listen(() => state, change);
dialogs.listen();
copy.listen({
  state: () => state,
  key: () => api.getKey() !== "",
  result: () => (state.view === "context" ? context.result() : null),
  text: context.text,
  card: () => context.result()?.pieces.find((piece) => piece.card?.candidates.includes(context.result().candidates.indexOf(context.chosen())))?.card,
});
$("open-key").addEventListener("click", () => { $("key-problem").textContent = ""; $("key-dialog").showModal(); });
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setKey($("key").value.trim());
  $("key").value = "";
  begin();
});
addEventListener("popstate", navigate);
if (!matchMedia("(max-width: 760px)").matches) $("query").focus();
begin();
