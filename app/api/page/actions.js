// What can be done with an answer: copy it with its citations, or copy a link that asks the question again.
import { byId, el, say, show } from "./dom.js";

/** Show the buttons below the answer to `query`. */
export function offerActions(query, body) {
  byId("actions").replaceChildren(
    button("Copy answer", () => markdown(body), "Answer copied with its citations"),
    button("Copy link", () => link(query), "Link copied"),
  );
  show(byId("actions"));
}

/** The question that the address names, "" for none. */
export const linkedQuestion = () => new URLSearchParams(location.search).get("q") ?? "";

/** The answer as Markdown: its text, then one line for each quote. */
export function markdown(body) {
  const quotes = (body.evidence ?? []).map((one) => {
    const document = body.citedDocuments[one.marker - 1];
    const where = document.url ? `[${document.title || document.id}](${document.url})` : document.title || document.id;
    return `[${one.marker}] ${where}: “${one.quote.replace(/\s+/g, " ").trim()}”`;
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
