// The stored documents: listed when the section is opened, shown whole; ingested again and deleted where that is allowed.
import { showDocument } from "./document.js";
import { byId, el, plural, say, show } from "./dom.js";
import { ingest, outcome } from "./ingest.js";
import { inCollection } from "./scope.js";
import { json } from "./service.js";

const MOST = 1000; // documents listed

const reread = new Map(); // what became of the documents ingested again, by id

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
  listFolders();
  const state = byId("documents-state");
  const turn = ++asked;
  let found;
  try {
    found = await json(inCollection(`/api/v1/documents?limit=${MOST}`));
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
    : found.total ? `${plural(found.total, "document")}.` : "No documents to list.";
  if (at < 0) return; // else the focus was on a row, and moving a row takes it away
  const kind = ["again", "delete"].find((one) => focused.classList.contains(one)) ?? "link";
  (focused.isConnected ? focused : rows.children[at]?.querySelector(`.${kind}`) ?? summary()).focus();
}

/** Show the folders the documents came from, to who may upload: the paths are those of the machine that serves. */
async function listFolders() {
  if (!mayDelete) return;
  const { folders } = await json("/api/v1/folders").catch(() => ({ folders: [] }));
  byId("folders").replaceChildren(...folders.map((one) => el("p", { class: "hint" }, one.path,
    one.watched ? " · watched, in step" : " · ingested", ...moment(one.syncedAt))));
  show(byId("folders"), folders.length > 0);
}

function row(one) {
  const made = el("li", { "data-shows": shows(one) },
    el("div", { class: "about" },
      el("button", { type: "button", class: "link", "aria-haspopup": "dialog", onclick: () => showDocument(one.id, one.title) }, one.title),
      el("p", { class: "tag" }, one.id === one.title ? "" : `${one.id} · `, plural(one.chunks, "passage"), ...when(one.ingestedAt)),
      reread.has(one.id) ? el("p", { class: "state" }, reread.get(one.id)) : null),
    mayDelete && one.hasFile ? el("button", {
      type: "button", class: "quiet small again", "aria-label": `Ingest ${one.title} again`, onclick: () => again(one, made),
    }, "Ingest again") : null,
    mayDelete ? el("button", {
      type: "button", class: "quiet small delete", "aria-label": `Delete ${one.title}`, onclick: () => remove(one, made),
    }, "Delete") : null);
  return made;
}

/** Read the document's file again; what became of it stands in its row. */
async function again(one, made) {
  if (!begin(made)) return;
  const state = el("p", { class: "state" }, "reading its file");
  made.querySelector(".about").append(state);
  say(`${one.title}: reading its file`);
  try {
    const report = await ingest(address(one), null, (share, words) => { state.textContent = words; });
    made.ariaBusy = "false";
    reread.set(one.id, outcome(report));
    say(`${one.title}: ${outcome(report)}`);
    changed();
  } catch (error) {
    state.remove();
    fail(made, error);
  }
}

async function remove(one, made) {
  if (made.ariaBusy === "true" || !await confirmed(one) || !begin(made)) return;
  try {
    await json(address(one), { method: "DELETE" });
  } catch (error) {
    fail(made, error);
    return;
  }
  say(`${one.title} deleted`);
  const next = made.nextElementSibling ?? made.previousElementSibling;
  if (made.contains(document.activeElement)) (next?.querySelector(".delete") ?? summary()).focus();
  made.remove();
  changed();
}

/** Mark the row as busy; a second press does nothing until the first one has its answer. */
function begin(made) {
  if (made.ariaBusy === "true") return false;
  made.ariaBusy = "true";
  made.querySelector(".state")?.remove();
  return true;
}

function fail(made, error) {
  made.ariaBusy = "false";
  made.append(el("span", { class: "state bad", role: "alert" }, error.message));
  if (error.code === "UNAUTHORIZED") wantKey(list);
}

function confirmed(one) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = `Delete “${one.title}”?`;
  byId("confirm-text").textContent = `${plural(one.chunks, "passage")} will no longer be found. The file it came from stays, `
    + "and garden ingest leaves it out until it is run with --restore.";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

// A row that shows the same is kept: a dialog opened from it gives the focus back to it.
const shows = (one) => JSON.stringify([one, mayDelete, reread.get(one.id)]);
const address = (one) => inCollection(`/api/v1/documents/${encodeURIComponent(one.id)}`);
const summary = () => byId("documents").querySelector("summary");
/** When it was ingested. */
const when = (time) => time && !Number.isNaN(Date.parse(time)) ? [" · ingested", ...moment(time)] : [];

/** A moment, in the reader's own time. */
function moment(time) {
  const words = new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return [" ", el("time", { datetime: time }, words)];
}
