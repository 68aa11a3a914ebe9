// The context to take along: as a link, as text, as JSON, as a request of another program, or as a picture of a card.

import { $, button, later, plain, say } from "./dom.js";
import * as ask from "./ask.js";

const WIDE = 900;
const MARGIN = 40;
const LONGEST = 1400;

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const python = (text) => JSON.stringify(text);

export function curl(state, key) {
  const headers = ["Content-Type: application/json", `Weftwork-User: ${encodeURIComponent(state.user)}`];
  if (key) headers.push("Authorization: Bearer $WEFTWORK_KEY");
  const address = new URL(`v1/workspaces/${encodeURIComponent(state.workspace)}/context/build`, document.baseURI);
  const said = headers.map((each) => `  -H "${each}"`).join(" \\\n");
  return `curl ${quote(address.href)} \\\n${said} \\\n  -d ${quote(JSON.stringify(request(state)))}`;
}

function request(state) {
  const { packer, sections, ...body } = ask.body(state);
  return sections ? { ...body, budget: { total: body.budget, sections } } : body;
}

export function code(state, key) {
  const { query, budget, ...more } = request(state);
  const size = typeof budget === "number" ? budget : budget.total;
  const options = Object.entries({ workspace: state.workspace, user: state.user, budget: size, ...more })
    .map(([name, value]) => `        ${name}=${python(value)},`).join("\n");
  const token = key ? ", key=os.environ[\"WEFTWORK_KEY\"]" : "";
  return `${key ? "import os\n\n" : ""}from weftwork import Client\n\nwith Client(${python(new URL(".", document.baseURI).href)}${token}) as client:\n` +
    `    context = client.context(\n        ${python(query)},\n${options}\n    )\n    print(context.text)\n`;
}

function wrapped(pen, text, width) {
  const lines = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      const longer = line ? `${line} ${word}` : word;
      if (line && pen.measureText(longer).width > width) { lines.push(line); line = word; } else line = longer;
    }
    lines.push(line);
  }
  return lines;
}

// A card drawn as a picture, in the colours of the page.
export async function drawn(card) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const colour = (name) => {
    pen.fillStyle = getComputedStyle(document.querySelector(name)).color;
    return pen.fillStyle;
  };
  const font = getComputedStyle(document.body).fontFamily;
  const said = card.content.length > LONGEST ? `${card.content.slice(0, LONGEST)} …` : card.content;
  pen.font = `32px ${font}`;
  const lines = wrapped(pen, said, 2 * (WIDE - 2 * MARGIN));
  canvas.width = 2 * WIDE;
  canvas.height = 2 * (2 * MARGIN + 66 + 22 * lines.length + 30);
  const [ink, muted] = [colour("body"), colour(".muted")];
  pen.fillStyle = getComputedStyle(document.querySelector(".panel")).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const write = (text, size, fill, y, bold = "") => {
    pen.font = `${bold} ${2 * size}px ${font}`;
    pen.fillStyle = fill;
    pen.fillText(text, 2 * MARGIN, 2 * y);
  };
  write(plain(card.title), 22, ink, MARGIN + 20, "600");
  write([...card.path, `[${card.citation}]`, `${card.tokens} tokens`].join(" · "), 13, muted, MARGIN + 44);
  lines.forEach((line, place) => write(line, 16, ink, MARGIN + 80 + 22 * place));
  write("Weftwork: exactly what the model reads", 12, muted, canvas.height / 2 - 22);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

export function listen(context) {
  const ways = {
    "Link": () => location.href,
    "Text": () => context.text(),
    "JSON": () => JSON.stringify(context.result(), null, 2),
    "curl": () => curl(context.state(), context.key()),
    "Python": () => code(context.state(), context.key()),
    "Picture of the card": () => drawn(context.card()),
  };
  const summary = $("copying").querySelector("summary");
  const back = later(() => { summary.textContent = "Copy"; }, 1500);
  const done = (text) => { summary.textContent = text; back(); };
  const copy = async (name) => {
    $("copying").open = false;
    summary.focus();
    try {
      const made = ways[name]();
      if (typeof made === "string") await navigator.clipboard.writeText(made);
      else await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
      done("Copied");
      say(`Copied: ${name}`);
    } catch {
      done("Not allowed here");
      say("This browser does not allow copying here");
    }
  };
  $("copy-menu").replaceChildren(...Object.keys(ways).map((name) => button(name, () => copy(name))));
  $("copying").addEventListener("toggle", () => {
    const [, ...others] = $("copy-menu").children;
    for (const each of others) each.disabled = !context.result() || (each.textContent === "Picture of the card" && !context.card());
  });
}
