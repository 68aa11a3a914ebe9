import assert from "node:assert/strict";
import test from "node:test";

import { Weftwork, WeftworkError } from "../src/index.js";

const url = process.env.WEFTWORK_URL;
const weft = new Weftwork({ url });

test("a context is assembled within its budget, with citations", async () => {
  await weft.writeNodes("main", { nodes: [{ id: "dome", type: "page", title: "Dome", text: "The dome turns on brass rollers." }] });
  const context = await weft.buildContext("main", { query: "What does the dome turn on?", budget: 300 });
  assert.match(context.text, /brass rollers/);
  assert.ok(context.tokens <= 300 && context.citations.length > 0);
});

test("names of any kind are parts of an address, and queries are sent", async () => {
  await weft.writeNodes("main", { nodes: [{ id: "a/../b c", title: "Odd", text: "An odd name." }] });
  assert.equal((await weft.readNode("main", "a/../b c")).title, "Odd");
  assert.match((await weft.readDocument("main", { query: { reference: "Dome" } })).text, /rollers/);
});

test("a turn gives messages, and its receipt says what was in it", async () => {
  const thread = await weft.startThread("main", { title: "Node" });
  const turn = await weft.takeTurn("main", { thread: thread.id, message: "What does the dome turn on?" });
  assert.match(turn.messages.at(-1).content, /brass rollers/);
  assert.equal((await weft.showReceipt("main", turn.receipt)).thread, thread.id);
});

test("errors say what to do", async () => {
  await assert.rejects(weft.buildContext("main", { query: "x", budget: 0 }), (error) => error instanceof WeftworkError && error.status === 422);
  await assert.rejects(weft.readNode("main", "none"), (error) => error.status === 404 && /none/.test(error.message));
  assert.throws(() => weft.readNode("main"), TypeError);
  assert.throws(() => new Weftwork({ url: "weft.example.org" }), TypeError);
});

test("events come one by one", async () => {
  const names = [];
  for await (const { event } of weft.streamAnswer("main", { query: "What does the dome turn on?" })) names.push(event);
  assert.equal(names[0], "sources");
});
