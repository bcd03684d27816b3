// Whether the service is there and ready; while it is not, the page says why and looks again by itself.
import { byId, el, show } from "./dom.js";

const FIRST = 1000; // ms
const SLOWEST = 8000;

let timer = 0;

/** Look now, and again until all is well; `recovered()` is called when it is well after it was not. */
export async function watch(recovered, wait = FIRST) {
  clearTimeout(timer);
  const trouble = await lookup();
  const box = byId("health");
  const before = !box.hidden;
  if (!trouble) {
    show(box, false);
    if (before) recovered();
    return;
  }
  if (!before || box.dataset.said !== trouble.words) {
    box.dataset.said = trouble.words;
    box.className = `notice ${trouble.kind}`;
    box.replaceChildren(el("div", {}, el("h2", {}, trouble.title), el("p", {}, trouble.words),
      el("button", { type: "button", class: "quiet", onclick: () => watch(recovered) }, "Look again now")));
    show(box, true);
  }
  timer = setTimeout(() => watch(recovered, Math.min(wait * 2, SLOWEST)), wait);
}

async function lookup() {
  let response;
  try {
    response = await fetch("/health/ready", { cache: "no-store" });
  } catch {
    return {
      kind: "failed",
      title: "The server cannot be reached",
      words: "Check that garden serve is running and that this device is online. The page keeps trying.",
    };
  }
  if (response.ok) return null;
  const body = await response.json().catch(() => ({}));
  return {
    kind: "waiting",
    title: "Not ready yet",
    words: `${body.message ?? "Something is still loading."} The page keeps looking and goes on by itself.`,
  };
}
