/* Charts are whole without this file. It shows what a mark stands for while the pointer is on it, lets the legend hide
   and show the lines of a chart, and copies commands. */
(function () {
  "use strict";

  const OFFSET = 12;

  /* The browser's own tooltips wait and cannot be styled, so the words of each mark move to one of ours. */
  function tooltips(figure, tip) {
    figure.querySelectorAll("svg circle > title, svg rect > title, svg polygon > title, svg polyline > title").forEach(function (title) {
      const mark = title.parentElement;
      const words = title.textContent;
      title.remove();
      mark.addEventListener("pointermove", function (event) {
        tip.textContent = words;
        tip.hidden = false;
        const room = document.documentElement.clientWidth - tip.offsetWidth - OFFSET;
        tip.style.left = Math.max(OFFSET, Math.min(event.clientX + OFFSET, room)) + "px";
        tip.style.top = event.clientY + OFFSET + "px";
      });
      mark.addEventListener("pointerleave", function () {
        tip.hidden = true;
      });
    });
  }

  function toggles(figure) {
    const entries = figure.querySelectorAll("[data-legend]");
    if (entries.length < 2) {
      return;
    }
    entries.forEach(function (entry) {
      const series = figure.querySelectorAll('[data-series="' + CSS.escape(entry.dataset.legend) + '"]');
      const button = document.createElement("button");
      button.type = "button";
      button.className = "toggle";
      button.setAttribute("aria-pressed", "true");
      button.append(...entry.childNodes);
      entry.append(button);
      button.addEventListener("click", function () {
        const isShown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(isShown));
        series.forEach(function (line) {
          line.classList.toggle("off", !isShown);
        });
      });
    });
  }

  function copying(block) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button quiet copy";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(block.textContent).then(
        function () {
          button.textContent = "Copied";
        },
        function () {
          button.textContent = "Select and copy by hand";
        },
      );
    });
    block.after(button);
  }

  document.addEventListener("DOMContentLoaded", function () {
    const figures = document.querySelectorAll("figure.chart");
    if (figures.length) {
      const tip = document.createElement("div");
      tip.className = "tip";
      tip.hidden = true;
      tip.setAttribute("aria-hidden", "true");
      document.body.append(tip);
      figures.forEach(function (figure) {
        tooltips(figure, tip);
        toggles(figure);
      });
    }
    if (navigator.clipboard) {
      document.querySelectorAll("[data-copy]").forEach(copying);
    }
  });
})();
