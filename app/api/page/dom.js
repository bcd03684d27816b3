// Elements from plain values. Text goes in as text and nothing else does, whatever a document holds.

const MARGIN = 12; // pixels kept between an element and the edge it was scrolled to

/** The element with that id. */
export const byId = (id) => document.getElementById(id);

/**
 * Make an element. `attributes`: names starting with "on" are listeners, true is an empty attribute, null and false
 * leave it out. `children` are nodes or strings; strings become text nodes.
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== false && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** A line drawing of 24 by 24 units, hidden from screen readers. */
export function drawing(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** A count and its noun, in the plural but for one. */
export const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Show or hide. */
export function show(element, visible = true) {
  element.hidden = !visible;
}

/** Say something to screen readers, politely and once. */
export function say(words) {
  const region = byId("said");
  region.textContent = "";
  requestAnimationFrame(() => { region.textContent = words; });
}

/** Scroll to an element, gently unless the reader asked for stillness. */
export function bringIntoView(element) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
}

/** Scroll a panel to an element inside it, and nothing else: what the pointer rests on must not move away under it. */
export function scrollWithin(panel, element) {
  const frame = panel.getBoundingClientRect();
  const box = element.getBoundingClientRect();
  const [top, bottom] = [Math.max(frame.top, 0) + MARGIN, Math.min(frame.bottom, innerHeight) - MARGIN];
  if (box.top < top) panel.scrollTop += box.top - top;
  else if (box.bottom > bottom) panel.scrollTop += Math.min(box.bottom - bottom, box.top - top);
}

/** The address, if it is one a reader may follow: never `javascript:` or `data:`. */
export function safeUrl(url) {
  try {
    return ["http:", "https:"].includes(new URL(url).protocol) ? url : null;
  } catch {
    return null;
  }
}
