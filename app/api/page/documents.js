// The stored documents: listed when the section is opened, shown whole, and deleted where that is allowed.
import { showDocument } from "./document.js";
import { byId, el, say, show } from "./dom.js";
import { json } from "./service.js";

const MOST = 1000; // documents listed

let mayDelete = false;
let asked = 0; // lists asked for: an answer that a later one overtook is not drawn
let changed = () => {};
let wantKey = () => {};

/** Wire the section; `deleted()` is called after each deletion, `unauthorized(retry)` on 401. */
export function startDocuments(deleted, unauthorized) {
  changed = deleted;
  wantKey = unauthorized;
  byId("documents").addEventListener("toggle", () => byId("documents").open && list());
  const dialog = byId("confirm");
  byId("confirm-no").addEventListener("click", () => dialog.close());
  byId("confirm-yes").addEventListener("click", () => dialog.close("yes"));
}

/** Draw the list anew, if it is open: documents were added or deleted, or a key was given. */
export function refreshDocuments(mayUpload) {
  mayDelete = mayUpload;
  if (byId("documents").open) list();
}

async function list() {
  const section = byId("documents");
  const rows = section.querySelector("ul");
  const state = byId("documents-state");
  const turn = ++asked;
  let found;
  try {
    found = await json(`/api/v1/documents?limit=${MOST}`);
  } catch (error) {
    state.textContent = error.message;
    if (error.code === "UNAUTHORIZED") wantKey(list);
    return;
  }
  if (turn !== asked) return;
  const focused = document.activeElement;
  const at = [...rows.children].findIndex((row) => row.contains(focused));
  const drawn = new Map([...rows.children].map((row) => [row.dataset.shows, row]));
  rows.replaceChildren(...found.documents.map((one) => drawn.get(shows(one)) ?? row(one)));
  show(rows, found.total > 0);
  state.textContent = found.total > MOST ? `The first ${MOST} of ${found.total} documents.`
    : found.total ? `${found.total} ${found.total === 1 ? "document" : "documents"}.` : "No documents to list.";
  if (at < 0) return; // else the focus was on a row, and moving a row takes it away
  const again = rows.children[at]?.querySelector(focused.classList.contains("delete") ? ".delete" : ".link");
  (focused.isConnected ? focused : again ?? summary()).focus();
}

function row(one) {
  const made = el("li", { "data-shows": shows(one) },
    el("button", { type: "button", class: "link", "aria-haspopup": "dialog", onclick: () => showDocument(one.id, one.title) }, one.title),
    el("span", { class: "tag" }, one.id === one.title ? "" : `${one.id} · `, passages(one.chunks)),
    mayDelete ? el("button", {
      type: "button", class: "quiet small delete", "aria-label": `Delete ${one.title}`, onclick: () => remove(one, made),
    }, "Delete") : null);
  return made;
}

async function remove(one, made) {
  if (made.ariaBusy === "true" || !await confirmed(one)) return;
  made.ariaBusy = "true"; // a second press does nothing until the first one has its answer
  made.querySelector(".state")?.remove();
  try {
    await json(`/api/v1/documents/${encodeURIComponent(one.id)}`, { method: "DELETE" });
  } catch (error) {
    made.ariaBusy = "false";
    made.append(el("span", { class: "state", role: "alert" }, error.message));
    if (error.code === "UNAUTHORIZED") wantKey(list);
    return;
  }
  say(`${one.title} deleted`);
  const next = made.nextElementSibling ?? made.previousElementSibling;
  if (made.contains(document.activeElement)) (next?.querySelector(".delete") ?? summary()).focus();
  made.remove();
  changed();
}

function confirmed(one) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = `Delete “${one.title}”?`;
  byId("confirm-text").textContent = `${passages(one.chunks)} will no longer be found. The file it came from stays.`;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

// A row that shows the same is kept: a dialog opened from it gives the focus back to it.
const shows = (one) => JSON.stringify([one.id, one.title, one.chunks, mayDelete]);
const summary = () => byId("documents").querySelector("summary");
const passages = (count) => `${count} ${count === 1 ? "passage" : "passages"}`;
