// Light, dark or the browser's own colours, remembered in this browser.
import { byId } from "./dom.js";

const THEMES = [["", "Auto"], ["light", "Light"], ["dark", "Dark"]];

/** Wire the button that goes through the colour schemes. */
export function startColours() {
  drawTheme();
  byId("theme").addEventListener("click", nextTheme);
}

function drawTheme() {
  const chosen = document.documentElement.dataset.theme ?? "";
  const [, label] = THEMES.find(([name]) => name === chosen) ?? THEMES[0];
  byId("theme").textContent = label;
  byId("theme").setAttribute("aria-label", `${label} colours`);
}

function nextTheme() {
  const at = THEMES.findIndex(([name]) => name === (document.documentElement.dataset.theme ?? ""));
  const [name] = THEMES[(at + 1) % THEMES.length];
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  try {
    localStorage.setItem("garden.theme", name);
  } catch {
    // no storage: for this visit only
  }
  drawTheme();
}
