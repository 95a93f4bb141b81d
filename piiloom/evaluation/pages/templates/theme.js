"use strict";
(() => {
  // Without scripts no control is shown.
  document.documentElement.classList.add("with-script");

  const theme = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("piiloom-theme"); } catch { /* a file may have no storage */ }
  function showTheme() {
    const isDark = chosen === null ? dark.matches : chosen === "dark";
    if (chosen !== null) document.documentElement.dataset.theme = chosen;
    theme.setAttribute("aria-pressed", String(isDark));
  }
  theme.addEventListener("click", () => {
    chosen = theme.getAttribute("aria-pressed") === "true" ? "light" : "dark";
    try { localStorage.setItem("piiloom-theme", chosen); } catch { /* it holds for this visit */ }
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  theme.hidden = false;
  showTheme();
})();
