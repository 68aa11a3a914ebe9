// The walk as rings around where it began. The same walk is always drawn the same way.

import { $, isIn, plural, sectionClass, short, svg } from "./dom.js";
import * as marks from "./marks.js";

const MOST = 48;
const RING = 124;
const LABEL = 26;
const radius = (ring) => (ring === 0 ? 0 : RING * (0.35 + 0.65 * ring));

// Children by what led to them; a node has one shortest way, so this is a forest.
function forest(walk) {
  const nodes = walk.nodes.slice(0, MOST);
  const kept = new Set(nodes.map((node) => node.id));
  const below = new Map(nodes.map((node) => [node.id, []]));
  const above = new Map();
  for (const step of walk.steps) {
    if (kept.has(step.from) && kept.has(step.to) && !above.has(step.to) && step.from !== step.to) {
      above.set(step.to, step);
      below.get(step.from).push(step.to);
    }
  }
  return { nodes, below, above, roots: nodes.filter((node) => !above.has(node.id)) };
}

// Leaves share the circle evenly; a node stands in the middle of its leaves.
function layOut({ nodes, below, roots }) {
  const places = new Map();
  const lone = roots.length === 1;
  const leaves = (id) => below.get(id).reduce((sum, child) => sum + leaves(child), 0) || 1;
  const total = roots.reduce((sum, node) => sum + leaves(node.id), 0);
  let turn = 0;
  const put = (id, ring) => {
    const from = turn;
    for (const child of below.get(id)) put(child, ring + 1);
    if (!below.get(id).length) turn += 1;
    const angle = (2 * Math.PI * ((from + turn) / 2)) / total - Math.PI / 2;
    const far = radius(ring);
    places.set(id, { x: far * 1.35 * Math.cos(angle), y: far * 0.82 * Math.sin(angle), ring, angle });
  };
  for (const node of roots) put(node.id, lone ? 0 : 1);
  return { places, rings: Math.max(0, ...nodes.map((node) => places.get(node.id).ring)) };
}

function link(step, places) {
  const a = places.get(step.from);
  const b = places.get(step.to);
  const line = svg("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "step" });
  const said = svg("title");
  said.textContent = `${step.direction === "out" ? "→" : "←"} ${step.edge}${step.label ? ` (${step.label})` : ""}`;
  line.append(said);
  return line;
}

// Beside its node, away from the middle; above or below where that would be on top of the step to it.
function label(name, at) {
  const upright = at.ring === 0 || Math.abs(Math.cos(at.angle)) < 0.1;
  const below = at.ring > 0 && Math.sin(at.angle) > 0;
  const right = Math.cos(at.angle) >= 0;
  const beside = { x: right ? 12 : -12, y: 4, "text-anchor": right ? "start" : "end" };
  const made = svg("text", upright ? { x: 0, y: below ? 22 : -15, "text-anchor": "middle" } : beside);
  made.textContent = short(name, LABEL);
  return made;
}

function dot(node, at, candidate, place) {
  const shown = candidate !== undefined && isIn(candidate);
  const kinds = ["stop", candidate ? sectionClass(candidate.section) : "s-else", shown ? "is-in" : "is-out"];
  if (at.ring === 0) kinds.push("is-start");
  const name = node.title || node.id;
  const full = svg("title");
  full.textContent = `${name} (${node.type})`;
  const group = svg("g", {
    class: kinds.join(" "),
    transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`,
    "aria-label": `${name}, ${node.type}, ${node.distance} away, ${shown ? "in the text" : "left out"}`,
  }, full, svg("circle", { r: at.ring === 0 ? 10 : 7 }), label(name, at));
  if (place !== undefined) {
    group.dataset.candidate = place;
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
  }
  return group;
}

export function show(result) {
  const { walk, candidates } = result;
  $("walk-panel").hidden = walk.nodes.length < 2;
  if (walk.nodes.length < 2) return;
  const tree = forest(walk);
  const { places, rings } = layOut(tree);
  const first = new Map();
  candidates.forEach((each, place) => { if (!first.has(each.node)) first.set(each.node, place); });
  const wide = radius(rings) * 1.35 + 170;
  const high = radius(rings) * 0.82 + 34;
  const viewBox = [-wide, -high, 2 * wide, 2 * high].map((each) => each.toFixed(0)).join(" ");
  const drawing = svg("svg", { viewBox, role: "group", "aria-label": "Nodes that the walk reached, by distance" });
  for (let ring = 1; ring <= rings; ring += 1) {
    drawing.append(svg("ellipse", { cx: 0, cy: 0, rx: radius(ring) * 1.35, ry: radius(ring) * 0.82, class: "ring" }));
  }
  for (const step of tree.above.values()) drawing.append(link(step, places));
  for (const node of tree.nodes) {
    const place = first.get(node.id);
    drawing.append(dot(node, places.get(node.id), candidates[place], place));
  }
  $("walk").replaceChildren(drawing);
  $("walk").scrollLeft = ($("walk").scrollWidth - $("walk").clientWidth) / 2;
  const more = walk.nodes.length > MOST ? `, the nearest ${MOST} drawn` : "";
  $("walk-said").textContent = `${plural(walk.nodes.length, "node")} from ${plural(tree.roots.length, "start")}${more}`;
}

export function listen() {
  marks.watch($("walk"), "walk");
}
