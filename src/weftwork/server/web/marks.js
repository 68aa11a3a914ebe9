// Marks the same candidate wherever it is shown: in the text, in the table and in the walk.
// An excerpt of the text shows several: it is marked for each of them, and hovering it marks them all.

let selected = null;
const waiting = new Set();

const showing = (place) => `[data-candidate="${place}"]:not([data-candidates]), [data-candidates~="${place}"]`;

function swap(name, places) {
  for (const each of document.querySelectorAll(`#single .${name}`)) each.classList.remove(name);
  for (const place of places) {
    for (const each of document.querySelectorAll(`#single :is(${showing(place)})`)) each.classList.add(name);
  }
}

const hover = (places) => swap("hovered", places);
export const onSelect = (run) => waiting.add(run);
export const current = () => selected;
export const again = () => swap("selected", selected === null ? [] : [selected]);

export function select(place, from = "") {
  selected = place;
  again();
  for (const run of waiting) run(place, from);
}

// Hovering and choosing inside a part of the page; `from` says which, so that it does not scroll itself.
export function watch(part, from) {
  const of = (event) => event.target.closest("[data-candidate]")?.dataset ?? null;
  const place = (event) => (of(event) === null ? null : Number(of(event).candidate));
  const all = (event) => (of(event) === null ? [] : (of(event).candidates ?? of(event).candidate).split(" "));
  part.addEventListener("mouseover", (event) => hover(all(event)));
  part.addEventListener("mouseleave", () => hover([]));
  part.addEventListener("click", (event) => {
    if (place(event) !== null && !event.target.closest("button, a, input")) select(place(event), from);
  });
  part.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches("[data-candidate][tabindex]")) {
      event.preventDefault();
      select(place(event), from);
    }
  });
}

export function reveal(part, place) {
  const found = part.querySelector(showing(place));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  found?.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
}
