// The sources, once each: where it is from, how well it fits, and the quotes inside the passage they stand in.
import { bringIntoView, byId, el, safeUrl, scrollWithin, show } from "./dom.js";
import { json } from "./service.js";

const AROUND = 220; // characters shown on either side of the quotes before "Whole passage" is pressed
const LEVELS = [[0.95, "very high"], [0.8, "high"], [0.5, "medium"], [0, "low"]]; // of a probability
const TO_A_SPACE = 30; // and so many more at most, to end between words

/** Write the list; the passages come as they arrive. `relevance`: chunk id to relevance, from the retrieval event. */
export function writeSources(body, relevance) {
  const section = byId("sources");
  const list = section.querySelector("ol");
  show(section, body.citedDocuments.length > 0);
  list.replaceChildren(...body.citedDocuments.map((document, i) => source(document, i + 1, body, relevance)));
}

/** Light the quotes of these evidence rows, and bring the source into view where that was asked for. */
export function lightQuotes(rows, k, follow) {
  for (const node of byId("sources").querySelectorAll("mark")) {
    const mine = node.dataset.rows.split(" ").map(Number);
    node.classList.toggle("lit", mine.some((row) => rows.includes(row)));
  }
  for (const card of byId("sources").querySelectorAll(".source")) {
    card.classList.toggle("lit", card.id === `source-${k}`);
  }
  const card = byId(`source-${k}`);
  const lit = card?.querySelector("mark.lit");
  if (!card) return;
  if (follow) bringIntoView(lit ?? card);
  else if (matchMedia("(min-width: 60rem)").matches) scrollWithin(byId("sources"), lit ?? card);
}

function source(document, k, body, relevance) {
  const rows = (body.evidence ?? []).map((one, row) => ({ ...one, row })).filter((one) => one.marker === k);
  const chunks = [...new Set(rows.map((one) => one.chunkId))];
  const url = safeUrl(document.url);
  const name = document.title || document.id;
  const card = el(
    "li",
    { class: "source", id: `source-${k}` },
    el("h3", {}, el("span", { class: "number", "aria-hidden": "true" }, String(k)),
      url ? el("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, name) : name),
    document.id === name ? null : el("p", { class: "place" }, document.id),
  );
  for (const chunkId of chunks) {
    const box = el("div", { class: "passage" });
    card.append(box);
    fill(box, chunkId, rows.filter((one) => one.chunkId === chunkId), relevance.get(chunkId));
  }
  if (!chunks.length) card.append(el("p", { class: "quote" }, document.snippet));
  return card;
}

/** The passage once it is here; until then, and if it never comes, the quotes alone. */
function fill(box, chunkId, rows, relevance) {
  const support = Math.min(...rows.map((one) => one.support));
  const measures = el("dl", { class: "measures" },
    measure("Relevance", relevance, "the passage is about the question"),
    measure("Support", support, "the quote supports the claim"));
  const paint = (chunk, whole) => keepingLit(box, () => {
    const where = [chunk.chapter, chunk.section, chunk.page ? `page ${chunk.page}` : null].filter(Boolean).join(" · ");
    box.replaceChildren(where ? el("p", { class: "place" }, where) : "", passage(chunk.text, rows, whole), measures);
    const [from, to] = shown(chunk.text, rows, false);
    if (to - from < Array.from(chunk.text).length) {
      box.append(el("button", {
        type: "button",
        class: "quiet small",
        "aria-expanded": String(whole),
        onclick: () => { paint(chunk, !whole); box.querySelector("button").focus(); },
      }, whole ? "Less" : "Whole passage"));
    }
  });
  box.replaceChildren(quotes(rows), measures);
  json(`/api/v1/chunks/${encodeURIComponent(chunkId)}`).then(
    (chunk) => {
      if (holds(chunk.text, rows)) paint(chunk, false); // else it was replaced since: the quotes are what was verified
      box.classList.add("arrived");
    },
    () => {}, // the chunk is gone or cannot be had: the quotes stand there
  );
}

/** Whether every quote stands at its place in the text. */
function holds(text, rows) {
  const points = Array.from(text);
  return rows.every((one) => points.slice(one.start, one.end).join("") === one.quote);
}

function measure(name, value, hint) {
  if (typeof value !== "number") return null;
  const word = LEVELS.find(([least]) => value >= least)[1];
  const figure = `${Math.round(value * 100)} % likely that ${hint}`;
  return el("div", { title: figure }, el("dt", {}, name), el("dd", {}, word, el("span", { class: "hidden" }, `, ${figure}`)));
}

/** Draw anew; what was lit is lit again. */
function keepingLit(box, draw) {
  const lit = new Set([...box.querySelectorAll("mark.lit")].flatMap((node) => node.dataset.rows.split(" ")));
  draw();
  for (const node of box.querySelectorAll("mark")) {
    node.classList.toggle("lit", node.dataset.rows.split(" ").some((row) => lit.has(row)));
  }
}

function quotes(rows) {
  return el("blockquote", { class: "quote" }, ...rows.flatMap((one, i) => [
    i ? " … " : "", el("mark", { "data-rows": one.row }, one.quote),
  ]));
}

/** The chunk's text with its quotes marked. Offsets count code points, so the text is cut into those. */
function passage(text, rows, whole) {
  const points = Array.from(text);
  const [from, to] = shown(text, rows, whole);
  const cuts = new Set([from, to]);
  for (const one of rows) for (const cut of [one.start, one.end]) if (from < cut && cut < to) cuts.add(cut);
  const places = [...cuts].sort((a, b) => a - b);
  const made = [from > 0 ? "… " : ""];
  for (let i = 0; i + 1 < places.length; i += 1) {
    const words = points.slice(places[i], places[i + 1]).join("");
    const mine = rows.filter((one) => one.start <= places[i] && places[i + 1] <= one.end).map((one) => one.row);
    made.push(mine.length ? el("mark", { "data-rows": mine.join(" ") }, words) : words);
  }
  made.push(to < points.length ? " …" : "");
  return el("blockquote", { class: "quote" }, ...made);
}

/** From where to where the passage is shown, in code points, cut at spaces. */
function shown(text, rows, whole) {
  const points = Array.from(text);
  if (whole) return [0, points.length];
  let from = Math.max(0, Math.min(...rows.map((one) => one.start)) - AROUND);
  let to = Math.min(points.length, Math.max(...rows.map((one) => one.end)) + AROUND);
  for (let i = 0; i < TO_A_SPACE && from > 0 && !/\s/.test(points[from - 1]); i += 1) from -= 1;
  for (let i = 0; i < TO_A_SPACE && to < points.length && !/\s/.test(points[to]); i += 1) to += 1;
  return [from, to];
}
