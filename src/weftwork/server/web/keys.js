// Keys of this workspace, for those who may administer it: make one, see them, revoke one.

import { ago, button, el } from "./dom.js";
import * as api from "./api.js";
import * as ask from "./ask.js";

function maker(state, made) {
  const user = el("select", {}, ask.usersOf(state.workspace).map((value) => el("option", { value, text: value })));
  const scope = el("select", {}, ["read", "write", "admin", "record"].map((value) => el("option", { value, text: value })));
  const name = el("input", { maxlength: 100, placeholder: "what it is for" });
  const said = el("p", { class: "bad-text small", role: "alert" });
  return el("form", {
    class: "panel form", on: {
      submit: async (event) => {
        event.preventDefault();
        try {
          made(await api.createKey(state.workspace, { user: user.value, scope: scope.value, name: name.value.trim() }));
        } catch (error) { said.textContent = error.message; }
      },
    },
  }, el("div", { class: "fields" }, el("label", { class: "field" }, "For", user), el("label", { class: "field" }, "May", scope), el("label", { class: "field" }, "Name", name)), said,
  el("div", { class: "buttons" }, el("button", { type: "submit", class: "main", text: "Make a key" })));
}

function entry(state, does, key) {
  const said = el("p", { class: "small bad-text", role: "status" });
  const revoke = button("Revoke", async () => {
    if (revoke.textContent === "Revoke") { revoke.textContent = "Revoke for good?"; return; }
    try { await api.revokeKey(state.workspace, key.id); does.again(); } catch (error) { said.textContent = error.message; }
  }, "danger");
  const used = key.last_used_at ? `used ${ago(key.last_used_at, ask.now())}` : null;
  return el("li", { class: `entry${key.state === "active" ? "" : " past"}` },
    el("div", {}, el("p", { class: "entry-title" }, key.name || key.id, el("span", { class: "badge", text: key.scope }), key.state === "active" ? null : el("span", { class: "badge", text: key.state })),
      el("p", { class: "path", text: [key.id, `for ${key.user}`, `made ${ago(key.created_at, ask.now())}`, used].filter(Boolean).join(" · ") }), said),
    el("div", { class: "entry-acts" }, key.state === "active" ? revoke : null));
}

export function keysView(does) {
  let fresh = null;
  async function show(state, signal) {
    if (!ask.may("admin")) return el("p", { class: "empty", text: "Keys are for those who administer this workspace." });
    const { keys } = await api.keys(state.workspace, signal);
    const token = fresh && el("div", { class: "notice", role: "status" }, el("div", {}, el("p", { text: "The new key. It is shown this once:" }), el("p", { class: "token", id: "token", text: fresh })));
    fresh = null;
    return el("section", { class: "library", "aria-labelledby": "keys-title" },
      el("div", { class: "library-head" }, el("h2", { id: "keys-title", text: "Keys" }), el("span", { class: "muted", text: `of ${state.workspace}` })),
      keys.length ? null : el("p", { class: "notice", text: "Without any key this server is for this machine only. From the first key on, everyone needs one, this page too." }),
      token, maker(state, (made) => { fresh = made.token; api.adopt(made); does.again(); }),
      keys.length ? el("ol", { class: "entries", id: "keys" }, keys.map((key) => entry(state, does, key))) : el("p", { class: "empty", text: "There is no key yet." }));
  }
  return { show };
}
