/* Opens the search panel in the page's theme, and tells it when a visitor chooses another. The panel itself needs scripts. */
(function () {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const frame = document.querySelector("[data-panel]");
  if (!frame) {
    return;
  }
  const address = new URL(frame.dataset.panel, location.href);

  function theme() {
    return root.dataset.theme || (system.matches ? "dark" : "light");
  }

  function name() {
    address.searchParams.set("__theme", theme());
    document.querySelector("[data-panel-link]").href = address;
  }

  function tell() {
    name();
    frame.contentWindow.postMessage({ theme: theme() }, address.origin);
  }

  name();
  frame.src = address;
  frame.hidden = false;
  addEventListener("message", function (event) {
    if (event.origin === address.origin && event.source === frame.contentWindow && event.data?.wants === "theme") {
      tell();
    }
  });
  new MutationObserver(tell).observe(root, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", tell);
})();
