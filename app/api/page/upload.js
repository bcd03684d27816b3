// Documents brought by button or by drop, one after the other, each with its progress and what became of it.
import { bringIntoView, byId, el, say, show } from "./dom.js";
import { ingest, outcome } from "./ingest.js";
import { inCollection } from "./scope.js";

let offer = { mayUpload: false, maxUploadBytes: 0, suffixes: [] };
let queue = Promise.resolve();

/** Take what the service offers; without leave to upload, nothing of it shows. */
export function offerUploads(given) {
  offer = given;
  show(byId("add"), offer.mayUpload);
  byId("files").accept = offer.suffixes.join(",");
}

/** Wire the button, the file box and the drop; `added()` is called after each document, `unauthorized(retry)` on 401. */
export function startUploads(added, unauthorized) {
  const files = byId("files");
  const take = (list) => {
    for (const file of list) queue = queue.then(() => upload(file, added, unauthorized));
    if (list.length) requestAnimationFrame(() => bringIntoView(byId("uploads"))); // once the first row is drawn
  };
  byId("add").addEventListener("click", () => files.click());
  files.addEventListener("change", () => { take([...files.files]); files.value = ""; });
  const brings = (event) => offer.mayUpload && [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragover", (event) => { if (brings(event)) { event.preventDefault(); show(byId("drop")); } });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) show(byId("drop"), false); });
  addEventListener("drop", (event) => {
    show(byId("drop"), false);
    if (brings(event)) { event.preventDefault(); take([...event.dataTransfer.files]); }
  });
}

async function upload(file, added, unauthorized) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": `${file.name}: sending` });
  const state = el("span", { class: "state" }, "sending");
  const row = el("li", {}, el("span", { class: "name" }, file.name), bar, state);
  byId("uploads").querySelector("ul").prepend(row);
  show(byId("uploads"));
  const end = (kind, words) => {
    bar.remove();
    row.className = kind;
    state.textContent = words;
    say(`${file.name}: ${words}`);
  };
  if (file.size > offer.maxUploadBytes) {
    end("bad", `larger than ${Math.floor(offer.maxUploadBytes / 1048576)} MB; not sent`);
    return;
  }
  try {
    const report = await ingest(inCollection(`/api/v1/documents?name=${encodeURIComponent(file.name)}`), file, (share, words, begun) => {
      if (share === null) bar.removeAttribute("value");
      else bar.value = share;
      bar.ariaLabel = `${file.name}: ${words}`;
      state.textContent = words;
      if (begun) say(`${file.name}: ${words}`);
    });
    end("good", outcome(report));
    added();
  } catch (error) {
    end("bad", error.message);
    if (error.code === "UNAUTHORIZED") unauthorized(() => { queue = queue.then(() => upload(file, added, unauthorized)); });
  }
}
