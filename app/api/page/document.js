// A whole stored document in a dialog: its chunks in order, the quoted sentences marked and scrolled to.
import { byId, el } from "./dom.js";
import { holds, passage, position } from "./passage.js";
import { json } from "./service.js";

const MOST = 500; // chunks shown at once, around the quoted one

let latest = 0; // the newest request; an older one that arrives late is dropped

/** Show a document; `rows` are the evidence rows that quote it. Esc or Close closes, and focus goes back. */
export async function showDocument(id, title, rows = []) {
  const mine = (latest += 1);
  const text = byId("document-text");
  const state = byId("document-state");
  byId("document-title").textContent = title;
  text.replaceChildren();
  state.textContent = "Loading…";
  byId("document").showModal();
  text.focus();
  const around = rows.length ? `&around=${encodeURIComponent(rows[0].chunkId)}` : "";
  try {
    const found = await json(`/api/v1/documents/${encodeURIComponent(id)}?limit=${MOST}${around}`);
    if (mine !== latest) return;
    text.replaceChildren(...found.chunks.map((chunk) => part(chunk, rows)));
    const mark = text.querySelector("mark");
    mark?.scrollIntoView({ block: "center" });
    state.textContent = extent(found) + (rows.length && !mark ? " The quoted sentence was replaced since." : "");
  } catch (error) {
    if (mine === latest) state.textContent = error.message;
  }
}

/** Wire the dialog: its button, and what it held goes when it is closed. */
export function startDocument() {
  byId("document-close").addEventListener("click", () => byId("document").close());
  byId("document").addEventListener("close", () => { latest += 1; byId("document-text").replaceChildren(); });
}

function part(chunk, rows) {
  const mine = rows.filter((one) => one.chunkId === chunk.chunkId);
  return el("section", { class: "passage" }, position(chunk), passage(chunk.text, holds(chunk.text, mine) ? mine : [], true));
}

function extent({ offset, total, chunks }) {
  if (chunks.length < total) return `Passages ${offset + 1} to ${offset + chunks.length} of ${total}.`;
  return total === 1 ? "One passage." : `${total} passages.`;
}
