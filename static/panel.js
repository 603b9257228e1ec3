/* In the search panel: follows the theme of the page that frames it. Only the site, named in data-framers, is listened to. */
(function () {
  "use strict";
  const framers = document.querySelector("script[data-framers]").dataset.framers.split(" ");

  addEventListener("message", function (event) {
    const theme = event.data?.theme;
    if (event.source !== parent || !framers.includes(event.origin) || !["dark", "light"].includes(theme)) {
      return;
    }
    document.body.classList.toggle("dark", theme === "dark");
  });
  if (parent !== window) {
    parent.postMessage({ wants: "theme" }, "*"); // whoever it is; what it answers is checked
  }
})();
