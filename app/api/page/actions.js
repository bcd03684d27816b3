// What can be done with an answer: copy it with its citations, copy a link that asks the question again, rate it.
import { byId, drawing, el, say, show } from "./dom.js";
import { scope } from "./scope.js";
import { json } from "./service.js";

const THUMB = "M7 11v10H3V11Zm0 0 4-8c1.700 0 2.800 1.200 2.500 2.800L13 9h6a2 2 0 0 1 2 2.300l-1.200 7.700A2.400 2.400 0 0 1 17.400 21H7";

/** Show the buttons below the answer to `query`, or below the decline: that can be rated too. */
export function offerActions(query, body) {
  byId("actions").replaceChildren(
    body.metadata.answerSynthesized ? button("Copy answer", () => markdown(body), "Answer copied with its citations") : "",
    button("Copy link", () => link(query), "Link copied"),
    thumb("up", "Helpful", query, body),
    thumb("down", "Not helpful", query, body),
  );
  show(byId("actions"));
}

const linked = () => new URLSearchParams(location.search).get("q") ?? "";

/** Let a reload, or a way back to this page, ask `query` again, "" none; the server's log does not see it. */
export function keepQuestion(query) {
  history.replaceState({ asked: query }, "", query === linked() ? location.href : location.pathname);
}

/** The question that was asked here last, or that the address names; "" for none. */
export const keptQuestion = () => history.state?.asked ?? linked();

/** The answer as Markdown: its text, then one line for each quote, with its page where that has come. */
export function markdown(body) {
  const quotes = (body.evidence ?? []).map((one) => {
    const document = body.citedDocuments[one.marker - 1];
    const where = document.url ? `[${document.title || document.id}](${document.url})` : document.title || document.id;
    const page = one.page ? `, page ${one.page}` : "";
    return `[${one.marker}] ${where}${page}: “${one.quote.replace(/\s+/g, " ").trim()}”`;
  });
  return `${body.answer}\n\n${quotes.join("\n\n")}\n`;
}

function link(query) {
  const address = new URL(location.pathname, location.origin);
  address.searchParams.set("q", query);
  return address.href;
}

function button(label, text, done) {
  return el("button", { type: "button", class: "quiet small", onclick: () => copy(text(), done) }, label);
}

function thumb(rating, label, query, body) {
  const pressed = () => rate(rating, query, body);
  return el("button", {
    type: "button",
    class: `quiet small thumb ${rating}`,
    title: "Stores the question, its outcome and the ids of the sources on the server",
    "aria-pressed": "false",
    onclick: pressed,
  }, drawing(THUMB), label);
}

/** Send one rating of this answer; a second one is not taken, a failed one may be sent again. */
async function rate(rating, query, { metadata, citedDocuments }) {
  const row = byId("actions");
  const thumbs = [...row.querySelectorAll(".thumb")];
  if (thumbs.some((one) => one.getAttribute("aria-disabled") === "true")) return;
  const mark = (sent) => thumbs.forEach((one) => {
    one.setAttribute("aria-disabled", String(sent));
    one.setAttribute("aria-pressed", String(sent && one.classList.contains(rating)));
  });
  mark(true);
  row.querySelector(".state")?.remove();
  try {
    const cited = citedDocuments.map((one) => one.id);
    const given = { question: query, outcome: metadata.outcome, rating, citedDocuments: cited, requestId: metadata.requestId, collection: scope().collection };
    const headers = { "Content-Type": "application/json" };
    await json("/api/v1/feedback", { method: "POST", headers, body: JSON.stringify(given) });
    say("Thank you. The rating is stored with the question.");
  } catch (error) {
    mark(false);
    row.append(el("span", { class: "state", role: "alert" }, error.message));
  }
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text); // no clipboard without HTTPS beyond this machine
  }
  say(done);
}

function copyBySelection(text) {
  const field = el("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
  field.value = text;
  document.body.append(field);
  const focused = document.activeElement;
  field.select();
  document.execCommand("copy");
  field.remove();
  focused?.focus();
}
