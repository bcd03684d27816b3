// Where to search: a collection, where there are several, and one document or those whose names begin alike.
import { byId, el, show } from "./dom.js";

const KEY = "garden.collection";

let chosen = sessionStorage.getItem(KEY); // null: the service's own default

/** What a question says of where to search. */
export function scope() {
  const source = byId("source").value.trim();
  return { ...(chosen ? { collection: chosen } : {}), ...(source ? { source } : {}) };
}

/** The path, for the chosen collection. */
export function inCollection(path) {
  return chosen ? `${path}${path.includes("?") ? "&" : "?"}collection=${encodeURIComponent(chosen)}` : path;
}

/** Search the service's own collection again: the chosen one is gone, or hidden from this key. */
export function resetCollection() {
  chosen = null;
  sessionStorage.removeItem(KEY);
}

/** Offer the collections; with a single one there is nothing to choose. */
export function offerCollections({ collection, collections }) {
  byId("collection").replaceChildren(...collections.map((one) => el("option", { value: one }, one)));
  byId("collection").value = collection ?? "";
  show(byId("collections"), collections.length > 1);
}

/** Wire the two fields; `moved()` is called after another collection was chosen. */
export function startScope(moved) {
  byId("collection").addEventListener("change", () => {
    chosen = byId("collection").value;
    sessionStorage.setItem(KEY, chosen);
    byId("source").value = "";
    moved();
  });
}
