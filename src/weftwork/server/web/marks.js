// Marks the same candidate wherever it is shown: in the text, in the table and in the walk.

let selected = null;
const waiting = new Set();

const shown = (place) => document.querySelectorAll(`#single [data-candidate="${place}"]`);

function swap(name, place) {
  for (const each of document.querySelectorAll(`#single .${name}`)) each.classList.remove(name);
  if (place !== null) for (const each of shown(place)) each.classList.add(name);
}

const hover = (place) => swap("hovered", place);
export const onSelect = (run) => waiting.add(run);
export const current = () => selected;
export const again = () => swap("selected", selected);

export function select(place, from = "") {
  selected = place;
  swap("selected", place);
  for (const run of waiting) run(place, from);
}

// Hovering and choosing inside a part of the page; `from` says which, so that it does not scroll itself.
export function watch(part, from) {
  const of = (event) => event.target.closest("[data-candidate]")?.dataset.candidate ?? null;
  const place = (event) => (of(event) === null ? null : Number(of(event)));
  part.addEventListener("mouseover", (event) => hover(place(event)));
  part.addEventListener("mouseleave", () => hover(null));
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
  const found = part.querySelector(`[data-candidate="${place}"]`);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  found?.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
}
