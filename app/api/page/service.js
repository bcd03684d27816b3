// The service over HTTP: one way to ask it anything, and one kind of error.
import { events } from "./sse.js";

const KEY = "garden.key";
const CONVERSATIONS = "/api/v1/conversations";

/** A refusal or failure: `code` is the service's own, or "UNREACHABLE" or "BROKEN_OFF". */
export class Failed extends Error {
  constructor(code, message, { requestId = null, details = {}, status = 0 } = {}) {
    super(message);
    Object.assign(this, { code, requestId, details, status });
  }
}

/** Keep the key for this tab; an empty one is forgotten. */
export function useKey(secret) {
  if (secret) sessionStorage.setItem(KEY, secret);
  else sessionStorage.removeItem(KEY);
}

/** Whether a key was given in this tab. */
export const hasKey = () => sessionStorage.getItem(KEY) !== null;

/** The headers that show the key, if there is one. */
export function keyHeaders() {
  const secret = sessionStorage.getItem(KEY);
  return secret && /^[\x21-\x7e]+$/.test(secret) ? { "X-API-Key": secret } : {}; // no header holds other signs
}

/** Ask for JSON. Throws `Failed`; an abort passes through as it is. */
export async function json(path, options = {}) {
  const response = await reach(path, options);
  return response.json();
}

/**
 * Ask a question of a conversation, in a `scope` (`scope.js`); yields `rewritten` for a follow-up, then the events of `POST /query/stream`.
 * Throws `Failed` where it ends in none.
 */
export async function* ask(query, conversation, scope, signal) {
  const response = await reach(`${CONVERSATIONS}/${conversation}/query`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query, includeEvidence: true, ...scope }),
    signal,
  });
  const requestId = response.headers.get("X-Request-ID");
  try {
    for await (const event of events(response.body)) {
      if (event.name === "error") throw failedBy(event.data, requestId);
      yield event;
      if (event.name === "answer") return;
    }
  } catch (error) {
    if (error instanceof Failed || error.name === "AbortError") throw error;
  }
  throw new Failed("BROKEN_OFF", "The connection broke off before the answer was complete.", { requestId });
}

/** Make the server forget a conversation; one it cannot be told to forget is deleted when it is old. */
export function forgetConversation(conversation) {
  reach(`${CONVERSATIONS}/${conversation}`, { method: "DELETE" }).catch(() => {});
}

/** Open a file of the service in a new tab: no link can carry the key, so the file is fetched with it. */
export async function openFile(address) {
  const { pathname, search, hash } = new URL(address);
  const tab = open("", "_blank");
  try {
    tab.location = URL.createObjectURL(await (await reach(pathname + search, {})).blob()) + hash;
  } catch (error) {
    tab.close();
    throw error;
  }
}

/** A picture of the service as an address of this page's own, with the response's headers. */
export async function picture(path) {
  const response = await reach(path, {});
  return { address: URL.createObjectURL(await response.blob()), headers: response.headers };
}

/** The error that an error body stands for. */
export function failedBy(body, requestId, status = 0) {
  const { error = "INTERNAL_ERROR", message = "The request failed.", details = {} } = body ?? {};
  return new Failed(error, message, { requestId, details, status });
}

async function reach(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...options.headers, ...keyHeaders() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed("UNREACHABLE", "The server cannot be reached.");
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw failedBy(body, response.headers.get("X-Request-ID"), response.status);
}
