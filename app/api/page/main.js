// The page put together: a question goes out, what comes back is shown as it comes.
import { keepQuestion, keptQuestion, offerActions } from "./actions.js";
import { markVerified, lightClaims, writeAnswer } from "./answer.js";
import { startColours } from "./colours.js";
import { conversationId, renew } from "./conversation.js";
import { bringIntoView, byId, el, plural, say, show } from "./dom.js";
import { startDocument } from "./document.js";
import { refreshDocuments, startDocuments } from "./documents.js";
import { watch } from "./health.js";
import { drawHistory, forget, remember } from "./history.js";
import { clearNotice, declined, failed, stopped } from "./notice.js";
import { inCollection, offerCollections, resetCollection, scope, startScope } from "./scope.js";
import { ask, Failed, hasKey, json, useKey } from "./service.js";
import { lightQuotes, writeSources } from "./sources.js";
import { drawTimings } from "./timings.js";
import { offerUploads, startUploads } from "./upload.js";

const question = byId("question");
const hovers = matchMedia("(hover: hover)").matches;
let running = null; // the AbortController of the question on its way
let afterKey = null; // what to do once a key was given
let offer = { examples: [], mayUpload: false };

async function start(text) {
  const query = text.trim();
  if (!query) {
    question.focus();
    return;
  }
  running?.abort();
  const mine = new AbortController();
  running = mine;
  question.value = query;
  keepQuestion(query);
  begin(query);
  try {
    await follow(query, mine.signal);
  } catch (error) {
    if (running !== mine) return; // another question has taken its place
    if (error.name === "AbortError") stop();
    else fail(error, query);
  } finally {
    if (running === mine) {
      running = null;
      busy(false);
    }
  }
}

async function follow(query, signal) {
  const relevance = new Map();
  let understood = query;
  for await (const { name, data } of ask(query, conversationId, scope(), signal)) {
    if (name === "rewritten") {
      understood = data.query;
      keepQuestion(understood);
      byId("asked-as").textContent = `Asked as: ${understood}`;
      show(byId("asked-as"));
    } else if (name === "retrieval") {
      for (const chunk of data.chunks) relevance.set(chunk.chunkId, chunk.relevance);
      stage(data.chunks.length ? `Found ${data.chunks.length} passages. Writing…` : "Nothing found.");
    } else if (name === "token") {
      byId("answer").append(data.text);
    } else if (name === "verified") {
      markVerified(byId("answer"), data.sentence);
    } else if (name === "answer") {
      finish(understood, data, relevance);
    }
  }
}

function begin(query) {
  clearNotice();
  show(byId("examples"), false);
  show(byId("sources"), false);
  show(byId("timings"), false);
  show(byId("actions"), false);
  show(byId("asked-as"), false);
  show(byId("anew"));
  byId("answer-title").textContent = query;
  show(byId("answer-title"));
  byId("answer").replaceChildren();
  byId("answer").classList.add("coming");
  byId("result").setAttribute("aria-busy", "true");
  show(byId("result"));
  stage("Searching the documents…");
  say("Searching the documents");
  busy(true);
  if (!hovers) question.blur(); // puts the keyboard away
}

function finish(query, body, relevance) {
  const outcome = body.metadata.outcome;
  settle();
  drawTimings(body.metadata.stageTimingsMs, body.metadata.processingTimeMs);
  if (body.metadata.answerSynthesized) {
    const pick = (rows, k, follow = false) => {
      lightClaims(byId("answer"), rows);
      lightQuotes(rows, k, follow);
    };
    writeAnswer(byId("answer"), body, pick);
    writeSources(body, relevance);
    bringIntoView(byId("answer")); // on a phone the sources lie over the lower part of the window
    say(`Answer: ${body.answer} ${plural(body.citedDocuments.length, "source")}.`);
  } else {
    show(byId("answer-title"), false);
    byId("answer").replaceChildren();
    declined(body, query, offer.mayUpload);
  }
  offerActions(query, body);
  remember(query, outcome);
  drawHistory(start);
}

function fail(error, query) {
  settle();
  show(byId("result"), false);
  if (error.code === "UNAUTHORIZED") {
    wantKey(() => start(query));
    return;
  }
  if (error.code === "UNREACHABLE") watch(refresh);
  failed(error instanceof Failed ? error : new Failed("INTERNAL_ERROR", "The page could not show the answer."), () => start(query));
  remember(query, "failed");
  drawHistory(start);
}

function stop() {
  settle();
  show(byId("result"), false);
  stopped();
}

function settle() {
  byId("answer").classList.remove("coming");
  byId("result").removeAttribute("aria-busy");
  show(byId("stage"), false);
}

function stage(words) {
  byId("stage").textContent = words;
  show(byId("stage"));
}

function busy(yes) {
  show(byId("stop"), yes);
  byId("go").textContent = yes ? "Ask anew" : "Ask";
}

/** Leave the conversation: what is asked next has nothing to do with what was asked before. */
function leave() {
  if (!byId("anew").hidden) renew();
  show(byId("anew"), false);
  keepQuestion("");
}

/** Begin a new conversation, on an empty page. */
function anew() {
  running?.abort();
  running = null;
  leave();
  settle();
  busy(false);
  clearNotice();
  show(byId("asked-as"), false);
  show(byId("result"), false);
  question.value = "";
  question.focus();
  say("A new conversation");
}

function wantKey(then) {
  afterKey = then;
  byId("key-title").textContent = hasKey() ? "That key was not accepted" : "This service needs an API key";
  show(byId("key"));
  byId("secret").focus();
}

/** What the service offers here: examples while the sample documents are stored, uploads where they are allowed. */
async function refresh() {
  try {
    offer = await json(inCollection("/api/v1/page"));
  } catch (error) {
    if (error.details?.field === "collection") {
      resetCollection();
      await refresh();
      return;
    }
    if (error.code === "UNAUTHORIZED") wantKey(refresh);
    else if (error.code === "UNREACHABLE") watch(refresh);
    return;
  }
  offerCollections(offer);
  offerUploads(offer);
  refreshDocuments(offer.mayUpload);
  const section = byId("examples");
  section.querySelector("ul").replaceChildren(...offer.examples.map((one) => el("li", {},
    el("button", { type: "button", class: "example", onclick: () => start(one) }, one))));
  show(section, offer.examples.length > 0 && byId("result").hidden && !byId("outcome").firstChild);
}

byId("ask").addEventListener("submit", (event) => { event.preventDefault(); start(question.value); });
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    start(question.value);
  }
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) running?.abort(); // a dialog takes Esc for itself
});
byId("stop").addEventListener("click", () => running?.abort());
byId("forget").addEventListener("click", () => { leave(); forget(); drawHistory(start); say("Forgotten"); question.focus(); });
byId("anew").addEventListener("click", anew);
byId("key").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey(byId("secret").value.trim());
  byId("secret").value = "";
  show(byId("key"), false);
  const then = afterKey;
  afterKey = null;
  refresh();
  if (then && then !== refresh) then();
});

startColours();
drawHistory((text) => { start(text); bringIntoView(byId("main")); });
startUploads(refresh, wantKey);
startDocument();
startScope(() => { anew(); refresh(); });
startDocuments(refresh, wantKey);
watch(refresh);
refresh();
if (keptQuestion()) start(keptQuestion());
if (hovers) question.focus({ preventScroll: true }); // on a phone it would open the keyboard
