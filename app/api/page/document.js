// A whole stored document in a dialog: its chunks in order, the quoted sentences marked and scrolled to.
import { byId, el, safeUrl, show } from "./dom.js";
import { holds, passage, position } from "./passage.js";
import { inCollection } from "./scope.js";
import { hasKey, json, openFile, picture } from "./service.js";

const MOST = 500; // chunks shown at once, around the quoted one

let latest = 0; // the newest request; an older one that arrives late is dropped

/**
 * Show a document at the first quote of `rows`, the evidence rows that quote it, or at the chunk `at`. Esc or Close
 * closes, and focus goes back.
 */
export async function showDocument(id, title, rows = [], at = rows[0]?.chunkId) {
  const mine = (latest += 1);
  const text = byId("document-text");
  const state = byId("document-state");
  byId("document-title").textContent = title;
  text.replaceChildren();
  show(byId("document-pdf"), false);
  show(byId("document-print"), false);
  state.textContent = "Loading…";
  byId("document").showModal();
  text.focus();
  const around = at ? `&around=${encodeURIComponent(at)}` : "";
  try {
    const found = await json(inCollection(`/api/v1/documents/${encodeURIComponent(id)}?limit=${MOST}${around}`));
    if (mine !== latest) return;
    text.replaceChildren(...found.chunks.map((chunk) => part(chunk, rows)));
    const mark = text.querySelector(`mark[data-rows~="${rows[0]?.row}"]`);
    const index = found.chunks.findIndex((chunk) => chunk.chunkId === at);
    (mark ?? text.children[index])?.scrollIntoView({ block: mark ? "center" : "start" });
    const page = found.chunks[index]?.page;
    state.textContent = (page ? `The ${mark ? "quoted sentence" : "passage"} is on page ${page}. ` : "") + extent(found) +
      (rows.length && !mark ? " The quoted sentence was replaced since." : "");
    offerPdf(found, page);
    if (page && isPdf(found)) offerPrint(mine, title, rows[0] ?? { chunkId: at });
  } catch (error) {
    if (mine === latest) state.textContent = error.message;
  }
}

/** Wire the dialog: its button, and what it held goes when it is closed. */
export function startDocument() {
  byId("document-close").addEventListener("click", () => byId("document").close());
  byId("document").addEventListener("close", () => { latest += 1; byId("document-text").replaceChildren(); });
}

/** The original in the browser's own viewer, at the quoted page: the service's file, or the web address it came from. */
function offerPdf({ id, hasFile, chunks }, page) {
  const link = byId("document-pdf");
  const url = safeUrl(chunks[0].url);
  const address = hasFile ? inCollection(`/api/v1/files/${encodeURIComponent(id)}`) : url?.split("#")[0];
  if (!/\.pdf$/i.test(hasFile ? id : address)) return;
  link.href = address + (page ? `#page=${page}` : "");
  link.textContent = page ? `Open the PDF at page ${page}` : "Open the PDF";
  link.onclick = hasFile && hasKey() ? (event) => {
    event.preventDefault();
    openFile(link.href).catch((error) => { byId("document-state").textContent = error.message; });
  } : null;
  show(link);
}

const isPdf = ({ id, hasFile }) => hasFile && /\.pdf$/i.test(id);

/** A button for the page as it is printed, the quote marked on it, in place of the text; drawn when it is first asked for. */
function offerPrint(mine, title, { chunkId, start, end }) {
  const [button, text, state] = ["document-print", "document-text", "document-state"].map(byId);
  const [what, offsets] = start === undefined ? ["the passage", ""] : ["the quoted sentence", `?start=${start}&end=${end}`];
  let image = null;
  const words = state.textContent;
  button.onclick = async () => {
    if (!image) {
      try {
        const { address, headers } = await picture(inCollection(`/api/v1/pictures/${encodeURIComponent(chunkId)}${offsets}`));
        if (mine !== latest) return;
        const found = Number(headers.get("X-Marks")) ? `, ${what} marked` : `; ${what} was not found on it`;
        image = el("img", { src: address, alt: `Page ${headers.get("X-Page")} of ${title}${found}`, hidden: true, onload: () => URL.revokeObjectURL(address) });
        text.append(image);
      } catch (error) {
        if (mine === latest) state.textContent = error.message;
        return;
      }
    }
    const printed = image.hidden;
    for (const one of text.children) show(one, (one === image) === printed);
    button.setAttribute("aria-pressed", String(printed));
    text.scrollTop = 0;
    state.textContent = printed ? `${image.alt}.` : words;
  };
  button.setAttribute("aria-pressed", "false");
  show(button);
}

function part(chunk, rows) {
  const mine = rows.filter((one) => one.chunkId === chunk.chunkId);
  return el("section", { class: "passage" }, position(chunk), passage(chunk.text, holds(chunk.text, mine) ? mine : [], true));
}

function extent({ offset, total, chunks }) {
  if (chunks.length < total) return `Passages ${offset + 1} to ${offset + chunks.length} of ${total}.`;
  return total === 1 ? "One passage." : `${total} passages.`;
}
