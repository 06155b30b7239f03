// Lets the keyboard scroll what is wider than its column: formulas, code, tables and outputs.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const FORMULA = ".katex-display";
  const SCROLLING = `${FORMULA}, pre, .cell_output > .output, .pst-scrollable-table-container`;
  const PAUSE = 300; // milliseconds without a change before what changed is looked at
  const main = document.querySelector("main");

  function look(element) {
    const scrolls = element.scrollWidth > element.clientWidth
      || element.scrollHeight > element.clientHeight;
    const attributes = { tabindex: "0" };
    if (element.matches(FORMULA)) {
      attributes.role = "group";
      attributes["aria-label"] = "Formula, scrolls sideways";
    }
    Object.entries(attributes).forEach(([name, value]) => {
      if (scrolls) element.setAttribute(name, value);
      else element.removeAttribute(name);
    });
  }

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => look(target)));
  function lookAtAll() {
    main.querySelectorAll(SCROLLING).forEach((element) => {
      look(element);
      sizes.observe(element);
    });
  }

  let timer;
  new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(lookAtAll, PAUSE);
  }).observe(main, { childList: true, subtree: true });
  main.querySelectorAll(SCROLLING).forEach((element) => sizes.observe(element));
});
