// Lets the keyboard scroll a formula that is wider than its column. The theme does so for code
// and tables; a quiz may add a copy of a formula later.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const sizes = new ResizeObserver((entries) => {
    entries.forEach(({ target }) => {
      if (target.scrollWidth > target.clientWidth) {
        target.tabIndex = 0;
        target.setAttribute("role", "group");
        target.setAttribute("aria-label", "Formula, scrolls sideways");
      } else {
        ["tabindex", "role", "aria-label"].forEach((name) => target.removeAttribute(name));
      }
    });
  });
  const watch = () => {
    document.querySelectorAll(".katex-display").forEach((formula) => sizes.observe(formula));
  };
  watch();
  new MutationObserver(watch).observe(document.querySelector("main"), {
    childList: true,
    subtree: true,
  });
});
