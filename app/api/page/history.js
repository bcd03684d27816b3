// What was asked before: in this browser only, the newest twenty, and never an answer.
import { byId, el, show } from "./dom.js";

const KEY = "garden.history";
const MOST = 20;
const MAX_CHARS = 2000;

/** Remember a question and how it ended. */
export function remember(question, outcome) {
  const kept = read().filter((one) => one.question !== question);
  write([{ question: question.slice(0, MAX_CHARS), outcome }, ...kept].slice(0, MOST));
}

/** Draw the list; `ask(question)` is called for the one that is chosen. */
export function drawHistory(ask) {
  const kept = read();
  const section = byId("history");
  show(section, kept.length > 0);
  section.querySelector("ul").replaceChildren(...kept.map(({ question, outcome }) => el("li", {},
    el("button", { type: "button", class: "link", onclick: () => ask(question) }, question),
    el("span", { class: `tag ${outcome === "answered" ? "answered" : "other"}` },
      outcome === "answered" ? "answered" : outcome === "failed" ? "failed" : "no answer"))));
}

/** Forget everything. */
export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // no storage, nothing kept
  }
}

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one?.question === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function write(kept) {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // full or forbidden: the page works without
  }
}
