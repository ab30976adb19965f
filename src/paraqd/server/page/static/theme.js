// Set the chosen colours before the page is drawn, so that it does not flash.
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("paraqd.theme");
  } catch {
    // Storage is blocked: follow the system.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
