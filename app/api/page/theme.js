// Runs before the first paint, so that a chosen colour scheme never flashes. Classic script: modules come later.
(() => {
  try {
    const chosen = localStorage.getItem("garden.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // no storage: as the system has it
  }
})();
