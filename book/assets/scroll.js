// Lets the keyboard scroll what is wider than its column: formulas, code, tables and outputs.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const FORMULA = ".katex-display";
  const SCROLLING = `${FORMULA}, pre, .cell_output > .output, .pst-scrollable-table-container`;
  const PAUSE = 300; // milliseconds without a change before everything is looked at
  const main = document.querySelector("main");

  const scrolls = (element) => element.scrollWidth > element.clientWidth
    || element.scrollHeight > element.clientHeight;

  function show(element, isScrolling) {
    const attributes = { tabindex: "0" };
    if (element.matches(FORMULA)) {
      attributes.role = "group";
      attributes["aria-label"] = "Formula, scrolls sideways";
    }
    Object.entries(attributes).forEach(([name, value]) => {
      if (isScrolling) element.setAttribute(name, value);
      else element.removeAttribute(name);
    });
  }

  // All sizes are read before anything is changed, so that the page is laid out once.
  function look(elements) {
    const found = elements.map((element) => [element, scrolls(element)]);
    found.forEach(([element, isScrolling]) => show(element, isScrolling));
  }

  const sizes = new ResizeObserver((entries) => look(entries.map(({ target }) => target)));
  function lookAtAll() {
    const elements = [...main.querySelectorAll(SCROLLING)];
    look(elements);
    elements.forEach((element) => sizes.observe(element));
  }

  let timer;
  function lookSoon() {
    clearTimeout(timer);
    timer = setTimeout(lookAtAll, PAUSE);
  }
  new MutationObserver(lookSoon).observe(main, { childList: true, subtree: true });
  addEventListener("resize", lookSoon);
  main.querySelectorAll(SCROLLING).forEach((element) => sizes.observe(element));
});
