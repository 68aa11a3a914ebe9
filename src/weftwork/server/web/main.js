// One question at a time: settings in, a context out. An answer that is no longer wanted is dropped.

import { $, el, number, short } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import * as compare from "./compare.js";
import * as marks from "./marks.js";
import * as table from "./table.js";
import * as text from "./text.js";
import * as walk from "./walk.js";
import * as write from "./write.js";

let running = null;
let result = null;
let shownFor = "";

const where = () => ({ workspace: $("workspace").value, user: $("user").value });

function fail(error) {
  if (error.name === "AbortError") return;
  if (error.status === 401) return askForKey(api.getKey() ? "This key is not valid, or no longer." : "");
  $("problem").textContent = error.message;
  $("problem").hidden = false;
  $("status").textContent = error.message;
}

function askForKey(problem) {
  $("key-problem").textContent = problem;
  if (!$("key-dialog").open) $("key-dialog").showModal();
}

async function update() {
  const said = ask.state();
  if (!said.workspace) return fail(new Error("there is no workspace yet for this user: make one with  weftwork init"));
  ask.writeAddress(said);
  $("settings-said").textContent = `${said.recipe}, ${number(said.budget)} tokens, ${said.user}`;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  document.body.classList.add("busy");
  try {
    const wanted = [said, ...(said.b ? [ask.second(said)] : [])];
    const found = await Promise.all(wanted.map((each) => api.inspect(each.workspace, each.user, ask.bodyOf(each), signal)));
    if (signal.aborted) return;
    $("problem").hidden = true;
    show(said, found, wanted);
    if (!said.b) findNear(table.wantedNear(), signal).catch((error) => { if (!signal.aborted) fail(error); });
  } catch (error) {
    if (!signal.aborted) fail(error);
  } finally {
    if (running?.signal === signal) {
      document.body.classList.remove("busy");
      document.body.classList.add("asked");
    }
  }
}

function show(said, [first, other], wanted) {
  const same = [said.workspace, said.user, said.query].join("\n");
  if (same !== shownFor) { table.forget(); marks.select(null); }
  else if (result) keepSelected(first);
  shownFor = same;
  result = first;
  $("single").hidden = Boolean(other);
  $("summary").hidden = Boolean(other);
  $("nearest").replaceChildren();
  $("compared").hidden = !other;
  text.showSummary(first);
  if (other) compare.show(first, other, wanted[0], wanted[1]);
  else {
    text.showText(first);
    text.showPages(first, write.picture, write.openPage);
    table.show(first);
    walk.show(first);
    if (marks.current() !== null) marks.select(marks.current(), "again");
  }
  const title = first.walk.nodes.find((node) => node.id === said.focus)?.title;
  if (said.focus && title) ask.setFocus(said.focus, title);
  $("status").textContent = `${number(first.tokens)} of ${number(first.budget)} tokens, ${first.candidates.length} candidates`;
}

// The chosen item stays chosen when it has another place in the new answer.
function keepSelected(next) {
  const old = result.candidates[marks.current() ?? -1];
  const at = old ? next.candidates.findIndex((each) => each.node === old.node && each.citation === old.citation) : -1;
  marks.select(at < 0 ? null : at, "again");
}

async function findNear(citations, signal) {
  if (!citations.length) return;
  const said = ask.state();
  const body = { ...ask.bodyOf(said), citations: [...new Set(citations)] };
  const { near } = await api.near(said.workspace, said.user, body, signal);
  if (signal?.aborted) return;
  table.showNear(near);
  showNearest(table.knownNear().filter((each) => each.more));
}

// The cheapest of the near misses, where it is seen at once.
function showNearest(near) {
  const least = near.reduce((best, each) => (!best || each.more < best.more ? each : best), null);
  const candidate = least && result.candidates.find((each) => each.citation === least.citation);
  if (!candidate) return $("nearest").replaceChildren();
  $("nearest").replaceChildren(
    el("span", { text: `“${short(candidate.title || candidate.node, 40)}” ` }),
    el("button", {
      type: "button", class: "link", text: `fits with ${number(least.more)} more tokens`,
      on: { click: () => ask.setBudget(result.budget + least.more) },
    }),
  );
}

// What a word on an item changes, in its score and in its rank.
async function feedback(candidate, useful) {
  const { workspace, user } = where();
  const isIt = (each) => each.node === candidate.node && each.citation === candidate.citation;
  const place = (found) => found.candidates.findIndex(isIt);
  const before = { score: candidate.score, rank: place(result) + 1, fate: candidate.fate };
  try {
    await api.feedback(workspace, user, candidate.node, useful);
    await update();
    const after = result.candidates[place(result)];
    const change = after ? after.score - before.score : 0;
    const moved = after ? `rank ${before.rank} → ${place(result) + 1}` : "no longer found";
    const sign = change < 0 ? "−" : "+";
    const said = Math.abs(change) < 0.0005
      ? `Noted. The score stays ${before.score.toFixed(3)}: this recipe does not weigh feedback, or it was said before.`
      : `Noted. Score ${before.score.toFixed(3)} → ${after.score.toFixed(3)} (${sign}${Math.abs(change).toFixed(3)}), ${moved}.`;
    table.tell(after ?? candidate, said);
    $("status").textContent = said;
  } catch (error) {
    fail(error);
  }
}

async function copy() {
  const made = text.whole(result);
  try {
    await navigator.clipboard.writeText(made);
    $("copy").textContent = "Copied";
    $("status").textContent = `Copied ${number(result.tokens)} tokens`;
  } catch {
    $("copy").textContent = "Not allowed here";
  }
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
}

async function start() {
  try {
    ask.offer(await api.settings(), ask.readAddress());
    $("key-dialog").close();
    await update();
  } catch (error) {
    fail(error);
  }
}

function theme() {
  $("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    localStorage.setItem("weftwork-theme", document.documentElement.dataset.theme);
  });
}

theme();
if (matchMedia("(max-width: 760px)").matches) $("settings").open = false;
else $("query").focus();
ask.listen(update);
text.listen();
walk.listen();
table.listen({
  feedback,
  near: (citations) => findNear(citations).catch(fail),
  setBudget: ask.setBudget,
  focus: (candidate) => { ask.setFocus(candidate.node, candidate.title); update(); },
  page: write.openPage,
});
write.listen(where, update);
$("copy").addEventListener("click", copy);
$("open-key").addEventListener("click", () => askForKey(""));
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setKey($("key").value.trim());
  $("key").value = "";
  start();
});
addEventListener("hashchange", () => start());
start();
