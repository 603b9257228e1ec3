/* Nothing on this site needs this file: it lets a visitor choose the theme, which follows the system otherwise, and makes
   the next board come sooner. */
(function () {
  "use strict";
  const key = "theme";
  const root = document.documentElement;

  function stored() {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage can be forbidden; the choice then lasts for this page
    }
  }

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function choose(theme) {
    root.dataset.theme = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      return;
    }
  }

  if (stored() === "dark" || stored() === "light") {
    root.dataset.theme = stored();
  }

  /* htmx tells every element that it removes, of which a board has thousands and none listens. */
  document.addEventListener("htmx:beforeSwap", function (event) {
    if (event.detail.shouldSwap) {
      event.detail.target.querySelectorAll("table").forEach(function (table) {
        table.replaceChildren();
      });
    }
  });

  document.addEventListener("DOMContentLoaded", function () {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) {
      return;
    }
    button.hidden = false;
    button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", function () {
      choose(isDark() ? "light" : "dark");
      button.setAttribute("aria-pressed", String(isDark()));
    });
  });
})();
