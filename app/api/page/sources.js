// The sources, once each: where it is from, how well it fits, and the quotes inside the passage they stand in.
import { showDocument } from "./document.js";
import { bringIntoView, byId, el, safeUrl, scrollWithin, show } from "./dom.js";
import { cells, holds, passage, position, relevanceMeasure, shown, supportMeasure } from "./passage.js";
import { inCollection } from "./scope.js";
import { json } from "./service.js";

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
  if (!card) return;
  const shown = card.querySelector("mark.lit") ?? card;
  if (getComputedStyle(byId("sources")).position === "sticky") scrollWithin(byId("sources"), shown);
  const { top, bottom } = shown.getBoundingClientRect();
  if (follow && (top < 0 || bottom > innerHeight)) bringIntoView(shown); // the answer stays where it is, if it can
}

function source(document, k, body, relevance) {
  const rows = (body.evidence ?? []).map((one, row) => Object.assign(one, { row })).filter((one) => one.marker === k);
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
  card.append(el("button", {
    type: "button",
    class: "quiet small whole",
    "aria-haspopup": "dialog",
    "aria-label": `Whole document: ${name}`,
    onclick: () => showDocument(document.id, name, rows.toSorted((one, other) => lit(card, other) - lit(card, one))),
  }, "Whole document"));
  return card;
}

const lit = (card, { row }) => card.querySelector(`mark.lit[data-rows~="${row}"]`) !== null;

/** The passage once it is here, its page noted for the copy; until then, and if it never comes, the quotes alone. */
function fill(box, chunkId, rows, relevance) {
  const support = Math.min(...rows.map((one) => one.support));
  const measures = el("dl", { class: "measures" },
    relevanceMeasure(relevance),
    supportMeasure(support));
  const paint = (chunk, whole) => keepingLit(box, () => {
    box.replaceChildren(position(chunk) ?? "", passage(chunk.text, rows, whole), measures);
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
  json(inCollection(`/api/v1/chunks/${encodeURIComponent(chunkId)}`)).then(
    (chunk) => {
      if (holds(chunk.text, rows)) { // else it was replaced since: the quotes are what was verified
        for (const one of rows) one.page = chunk.page;
        paint(chunk, false);
      }
      box.classList.add("arrived");
    },
    () => {}, // the chunk is gone or cannot be had: the quotes stand there
  );
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
    i ? " … " : "", el("mark", { "data-rows": one.row }, cells(one.quote)),
  ]));
}
