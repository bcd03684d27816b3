// Where the time went: one bar, a part for each stage, and the numbers beside it.
import { byId, el, show } from "./dom.js";

const NAMES = {
  validate: "checking the question",
  retrieve: "searching",
  grade: "grading",
  synthesize: "writing",
  cite: "verifying",
  extract: "asking the passages",
};

const ENDS = ["no_answer", "fail"]; // where a question leaves the graph: no work of its own

/** Draw the stages; nothing is shown where none were measured. */
export function drawTimings(stages = {}, total = null) {
  const section = byId("timings");
  const parts = Object.entries(stages).filter(([name, ms]) => typeof ms === "number" && !ENDS.includes(name));
  show(section, parts.length > 0);
  const bar = section.querySelector(".bar");
  bar.replaceChildren(...parts.map(([name, ms]) => {
    const part = el("span", { class: "part", "data-stage": name });
    part.style.flexGrow = String(Math.max(ms, 0.1));
    return part;
  }));
  const items = parts.map(([name, ms]) => el("li", {},
    el("span", { class: "swatch", "data-stage": name, "aria-hidden": "true" }),
    `${NAMES[name] ?? name} `, el("span", { class: "ms" }, time(ms))));
  if (total !== null) items.push(el("li", { class: "total" }, "in all ", el("span", { class: "ms" }, time(total))));
  section.querySelector(".legend").replaceChildren(...items);
}

function time(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`;
}
