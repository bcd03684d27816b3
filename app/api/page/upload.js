// Documents brought by button or by drop, one after the other, each with its progress and what became of it.
import { byId, el, say, show } from "./dom.js";
import { Failed, failedBy, keyHeaders } from "./service.js";

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
  const take = (list) => { for (const file of list) queue = queue.then(() => upload(file, added, unauthorized)); };
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
  const bar = el("progress", { max: 1, value: 0, "aria-label": `Sending ${file.name}` });
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
    const report = await send(file, (share) => {
      if (share < 1) bar.value = share;
      else { bar.removeAttribute("value"); state.textContent = "reading and indexing"; }
    });
    end("good", outcome(report));
    added();
  } catch (error) {
    end("bad", error.message);
    if (error.code === "UNAUTHORIZED") unauthorized(() => { queue = queue.then(() => upload(file, added, unauthorized)); });
  }
}

function outcome(report) {
  const passages = `${report.chunks} ${report.chunks === 1 ? "passage" : "passages"}`;
  const what = report.added ? `added, ${passages}` : report.changed ? `replaced, ${passages}` : "already stored, unchanged";
  return report.skipped.length ? `${what}; left out: ${report.skipped[0].reason}` : what;
}

/** XMLHttpRequest, since fetch does not tell how much has been sent. */
function send(file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v1/documents?name=${encodeURIComponent(file.name)}`);
    for (const [name, value] of Object.entries(keyHeaders())) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.upload.onload = () => progress(1);
    request.onerror = () => reject(new Failed("UNREACHABLE", "the server cannot be reached"));
    request.onload = () => {
      let body = null;
      try { body = JSON.parse(request.responseText); } catch { /* no body of ours */ }
      if (request.status === 200 && body) resolve(body);
      else reject(failedBy(body, request.getResponseHeader("X-Request-ID"), request.status));
    };
    request.send(file);
  });
}
