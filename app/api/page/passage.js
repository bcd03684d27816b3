// A stored chunk on the page: where in its document it stands, and its text with the quotes marked.
import { el } from "./dom.js";

const AROUND = 220; // characters shown on either side of the quotes before "Whole passage" is pressed
const TO_A_SPACE = 30; // and so many more at most, to end between words
const LEVELS = [[0.95, "very high"], [0.8, "high"], [0.5, "medium"], [0, "low"]]; // of a score or a probability

/** Chapter, section and page of a chunk as a line; null where none is known. */
export function position(chunk) {
  const steps = new Set([chunk.chapter, chunk.section, chunk.page ? `page ${chunk.page}` : null]);
  const where = [...steps].filter(Boolean).join(" · ");
  return where ? el("p", { class: "place" }, where) : null;
}

/** Whether every quote stands at its place in the text. */
export function holds(text, rows) {
  const points = Array.from(text);
  return rows.every((one) => points.slice(one.start, one.end).join("") === one.quote);
}

/** The chunk's text with its quotes marked. Offsets count code points, so the text is cut into those. */
export function passage(text, rows, whole) {
  const points = Array.from(text);
  const [from, to] = shown(text, rows, whole);
  const cuts = new Set([from, to]);
  for (const one of rows) for (const cut of [one.start, one.end]) if (from < cut && cut < to) cuts.add(cut);
  const places = [...cuts].sort((a, b) => a - b);
  const made = [from > 0 ? "… " : ""];
  for (let i = 0; i + 1 < places.length; i += 1) {
    const words = points.slice(places[i], places[i + 1]).join("");
    const mine = rows.filter((one) => one.start <= places[i] && places[i + 1] <= one.end).map((one) => one.row);
    made.push(mine.length ? el("mark", { "data-rows": mine.join(" ") }, cells(words)) : cells(words));
  }
  made.push(to < points.length ? " …" : "");
  return el("blockquote", { class: "quote" }, ...made);
}

/** The text with the cells of table rows set apart by dots, not by bars, and without the line below their header. */
export function cells(text) {
  const dotted = (row) => row.replace(/^\|\s*|\s*(?<!\\)\|$/g, "").replace(/\s*(?<!\\)\|\s*/g, " · ").replaceAll("\\|", "|");
  return text.replace(/^\|(?:-+\|)+\n/gm, "").replace(/^\|.*|.*\|$/gm, dotted);
}

/** From where to where the passage is shown, in code points, cut at spaces. */
export function shown(text, rows, whole) {
  const points = Array.from(text);
  if (whole) return [0, points.length];
  let from = Math.max(0, Math.min(...rows.map((one) => one.start)) - AROUND);
  let to = Math.min(points.length, Math.max(...rows.map((one) => one.end)) + AROUND);
  for (let i = 0; i < TO_A_SPACE && from > 0 && !/\s/.test(points[from - 1]); i += 1) from -= 1;
  for (let i = 0; i < TO_A_SPACE && to < points.length && !/\s/.test(points[to]); i += 1) to += 1;
  return [from, to];
}

/** How surely a passage is about the question: a score, no probability. */
export function relevanceMeasure(value) {
  const figureOf = (score) => `a score of ${score.toFixed(2)} of 1: how surely the passage is about the question`;
  return measure("Relevance", value, figureOf);
}

/** How probably a quote supports the claim. */
export function supportMeasure(value) {
  const figureOf = (share) => `estimated ${Math.round(share * 100)} % likely that the quote supports the claim`;
  return measure("Support", value, figureOf);
}

/** A value in [0, 1] as a word, its figure on hover, on focus and for screen readers; null where it is not known. */
function measure(name, value, figureOf) {
  if (typeof value !== "number") return null;
  const word = LEVELS.find(([least]) => value >= least)[1];
  const figure = figureOf(value);
  return el("div", {}, el("dt", {}, name), el("dd", { tabindex: "0" }, word, el("span", { class: "figure" }, `, ${figure}`)));
}
