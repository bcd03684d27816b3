// What is said when there is no answer. A decline is the documents' silence; a failure is a part that broke.
import { showDocument } from "./document.js";
import { byId, drawing, el } from "./dom.js";
import { passage, position, relevanceMeasure } from "./passage.js";
import { inCollection } from "./scope.js";
import { json } from "./service.js";
import { why } from "./why.js";

const CLOSE = 0.7; // relevance from which the service itself calls a passage close

const FAILED = {
  VALIDATION_ERROR: ["The question was not accepted", "Change it and ask again."],
  RETRIEVAL_FAILED: ["The search is broken", "The vector store, the embedding model or the reranker did not answer. Run garden health to see which, then ask again."],
  SYNTHESIS_FAILED: ["The chat model did not answer", "The search worked; the model that writes did not. Check that it runs, then ask again."],
  OVERLOADED: ["The service is busy", "Every slot is taken just now. Wait a moment and ask again."],
  PAYLOAD_TOO_LARGE: ["The question is too long", "Shorten it and ask again."],
  INTERNAL_ERROR: ["Something went wrong inside the service", "This is a defect of ours. The request id names it in the log."],
  UNREACHABLE: ["The question was not sent", "Ask again once the server is back."],
  BROKEN_OFF: ["The connection broke off", "What had come of the answer was not verified, so it is not shown. Ask again."],
};

/** Nothing to say. */
export function clearNotice() {
  byId("outcome").replaceChildren();
}

/** The documents do not answer. */
export function declined(body, question, mayUpload) {
  const { answer, closest = [], metadata } = body;
  const tips = metadata.chunksRetrieved ? ["Use the words the documents would use.", "Ask one thing at a time."] : ["No document is stored yet."];
  tips.push(mayUpload ? "Add the documents that hold the answer." : "Add the documents that hold the answer: garden ingest.");
  put("declined", "status", sprout(), answer, [
    ...(closest.length ? [el("p", { class: "try" }, "The closest passages:"),
      el("ul", { class: "closest" }, ...closest.map((one, i) => close(one, question, i === 0 && one.relevance >= CLOSE)))] : []),
    el("p", { class: "try" }, "What may help:"),
    el("ul", {}, ...tips.map((tip) => el("li", {}, tip))),
    why(body),
  ]);
}

/** A passage that is close, and no answer: where it stands and, once it is opened, its best sentence lit and how close it is. */
function close(one, question, open) {
  const where = el("span", { class: "place" });
  const name = one.title || one.documentId;
  const whole = el("button", {
    type: "button", class: "quiet small", "aria-haspopup": "dialog", "aria-label": `Whole document: ${name}`,
    onclick: () => showDocument(one.documentId, name, [], one.chunkId),
  }, "Whole document");
  json(inCollection(`/api/v1/chunks/${encodeURIComponent(one.chunkId)}`)).then(
    (chunk) => where.append(position(chunk)?.textContent ?? ""),
    () => {}, // the chunk is gone since: its text stands there
  );
  const best = bestSentence(one.text, question);
  return el("li", {}, el("details", { open },
    el("summary", {}, name, " ", where),
    passage(one.text, best, !best.length),
    el("dl", { class: "measures" }, relevanceMeasure(one.relevance)), whole));
}

/** The sentence that shares most words with the question, as a row to be lit; none where none shares any. */
function bestSentence(text, question) {
  const words = (of) => new Set(of.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));
  const asked = words(question);
  const sentences = [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)].map((one) => one.segment);
  const shared = sentences.map((one) => [...words(one)].filter((word) => asked.has(word)).length);
  if (!(Math.max(...shared) > 0)) return [];
  const best = shared.indexOf(Math.max(...shared));
  const start = Array.from(sentences.slice(0, best).join("")).length;
  return [{ row: 0, start, end: start + Array.from(sentences[best].trimEnd()).length }];
}

/** A part broke. `again` asks once more. */
export function failed(error, again) {
  const [title, advice] = FAILED[error.code] ?? ["The request failed", "Ask again; if it stays so, look into the log."];
  put("failed", "alert", triangle(), title, [
    el("p", {}, error.message),
    el("p", { class: "try" }, advice),
    el("p", { class: "facts" }, "Code ", el("code", {}, error.code),
      ...(error.requestId ? [" · Request id to quote ", el("code", {}, error.requestId)] : [])),
    el("button", { type: "button", class: "quiet", onclick: again }, "Ask again"),
  ]);
}

/** The reader stopped it. */
export function stopped() {
  put("stopped", "status", null, "Stopped", [
    el("p", {}, "What had come of the answer was not verified yet, so it is not shown."),
  ]);
}

function put(kind, role, icon, title, content) {
  const box = el("section", { class: `notice ${kind}`, role }, icon, el("div", {}, el("h2", {}, title), ...content));
  byId("outcome").replaceChildren(box);
}

const sprout = () => drawing("M12 21v-9m0 3c0-4 2.500-7 8-7.500C20 12 17 15 12 15Zm0 3c0-3-2-5.500-7-6C5 16 8 18 12 18Z");
const triangle = () => drawing("M12 3.500 22 20.500H2Zm0 6v5.500m0 2.500v.4");
