// The answer with its markers. Each [k] becomes a button that lights its quote; the words it stands for light with it.
import { el } from "./dom.js";
import { cells } from "./passage.js";

const UNVERIFIED = -1; // the row of a claim that lost its citation

/**
 * Write the answer into `into`. `pick(row numbers, k)` is called when a marker is hovered, focused or pressed.
 */
export function writeAnswer(into, body, pick) {
  const anchors = anchorsOf(body);
  const claims = claimsOf(body, anchors);
  const cited = anchors.map((anchor) => ({ ...anchor, rows: rowsAt(anchor, body, claims) }));
  let at = 0;
  const made = [];
  for (const anchor of cited) {
    made.push(...textWithClaims(body.answer, at, anchor.start, claims));
    at = anchor.end + /^[.,;:!?]?/.exec(body.answer.slice(anchor.end))[0].length; // no line begins with the full stop
    made.push(el("span", { class: "kept" }, marker(anchor, body, pick), ...textWithClaims(body.answer, anchor.end, at, claims)));
  }
  made.push(...textWithClaims(body.answer, at, body.answer.length, claims));
  into.replaceChildren(...made);
}

/** Show in the provisional text that this sentence of it is verified: its words stay where they are. */
export function markVerified(into, sentence) {
  into.normalize();
  for (const node of [...into.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE)) {
    const words = sentence.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const found = new RegExp(words.join("\\s+")).exec(node.data.replaceAll(/ ?\[\d+\]/g, (marker) => " ".repeat(marker.length)));
    if (!found) continue;
    const rest = node.splitText(found.index);
    rest.splitText(found[0].length);
    rest.replaceWith(el("span", { class: "checked" }, rest.data));
    return;
  }
}

/** Light the claims of these evidence rows, and the marker they belong to. */
export function lightClaims(into, rows) {
  const has = (node) => (node.dataset.rows ?? "").split(" ").some((row) => row !== "" && rows.includes(Number(row)));
  for (const node of into.querySelectorAll(".claim")) node.classList.toggle("lit", has(node));
  for (const node of into.querySelectorAll(".marker")) node.setAttribute("aria-pressed", String(has(node)));
}

/** Where the citations stand, as the evidence says: other brackets are the document's own. */
function anchorsOf(body) {
  const units = unitsOf(body.answer);
  const anchors = new Map();
  for (const { marker: k, markers } of body.evidence ?? []) {
    for (const [from, to] of markers) {
      const [start, end] = [units[from], units[to]];
      anchors.set(start, { k, gap: body.answer.slice(0, start).trimEnd().length, start, end });
    }
  }
  return [...anchors.values()].sort((one, other) => one.start - other.start);
}

/** The position in UTF-16 units, which JavaScript counts, of each code point, which the service counts. */
function unitsOf(text) {
  const units = [0];
  for (const letter of text) units.push(units.at(-1) + letter.length);
  return units;
}

/** Where each cited sentence stands in the answer: found in the answer without its markers, then mapped back. */
function claimsOf(body, anchors) {
  const back = []; // position in the answer without markers -> position in the answer
  let at = 0;
  for (const { gap, end } of [...anchors, { gap: body.answer.length, end: body.answer.length }]) {
    for (; at < gap; at += 1) back.push(at);
    at = end;
  }
  const plain = back.map((position) => body.answer[position]).join("");
  const claims = [];
  for (const [row, one] of (body.evidence ?? []).entries()) {
    const from = plain.indexOf(one.sentence);
    if (from < 0 || !one.sentence) continue;
    const last = from + one.sentence.length - 1;
    // A marker may stand behind the last character, too: it belongs to the sentence up to the next word.
    claims.push({ row, k: one.marker, start: back[from], end: back[last] + 1, reach: back[last + 1] ?? body.answer.length });
  }
  for (const text of body.metadata.unsupported ?? []) {
    const from = plain.indexOf(text);
    if (from >= 0 && text) claims.push({ row: UNVERIFIED, k: 0, start: back[from], end: back[from + text.length - 1] + 1, reach: 0 });
  }
  return claims;
}

/** The evidence rows a marker stands for: those of its sentence, or all of its source where that cannot be told. */
function rowsAt(anchor, body, claims) {
  const near = claims.filter((one) => one.k === anchor.k && one.start < anchor.start && anchor.end <= one.reach);
  if (near.length) return near.map((one) => one.row);
  return (body.evidence ?? []).flatMap((one, row) => (one.marker === anchor.k ? [row] : []));
}

/** The text between two positions, cut where a claim begins or ends. */
function textWithClaims(text, start, end, claims) {
  const cuts = new Set([start, end]);
  for (const claim of claims) {
    for (const cut of [claim.start, claim.end]) if (start < cut && cut < end) cuts.add(cut);
  }
  const positions = [...cuts].sort((a, b) => a - b);
  const made = [];
  for (let i = 0; i + 1 < positions.length; i += 1) {
    const words = cells(text.slice(positions[i], positions[i + 1]));
    const rows = claims.filter((claim) => claim.start <= positions[i] && positions[i + 1] <= claim.end).map((claim) => claim.row);
    if (!rows.length) made.push(words);
    else if (rows.every((row) => row === UNVERIFIED)) {
      made.push(el("span", { class: "unverified", title: "No cited source was found to support this." }, words));
    } else made.push(el("span", { class: "claim", "data-rows": rows.filter((row) => row !== UNVERIFIED).join(" ") }, words));
  }
  return made;
}

function marker(anchor, body, pick) {
  const title = body.citedDocuments[anchor.k - 1].title || body.citedDocuments[anchor.k - 1].id;
  const choose = () => pick(anchor.rows, anchor.k);
  return el(
    "button",
    {
      type: "button",
      class: "marker",
      "data-rows": anchor.rows.join(" "),
      "aria-label": `Source ${anchor.k}: ${title}`,
      "aria-pressed": "false",
      "aria-controls": `source-${anchor.k}`,
      onpointerenter: (event) => event.pointerType === "mouse" && choose(),
      onfocus: choose,
      onclick: () => pick(anchor.rows, anchor.k, true),
    },
    String(anchor.k),
  );
}
