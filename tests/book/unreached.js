// Marks with data-unreached every block without anything that rules about sizes and places look at:
// what is reached by pointer or keyboard, what scrolls, and positioned boxes, which may cover others.
// What matches the selector stays as well.
(selector) => {
  const reached =
    "a[href], area, button, input, select, textarea, summary, label, iframe, " +
    "[tabindex]:not([tabindex='-1']), [contenteditable]";
  // What only screen readers get of a formula is positioned, and covers nothing.
  const isSeen = (element) => !element.closest(".katex-mathml");
  const scrolls = (element, style) =>
    (["auto", "scroll"].includes(style.overflowX) && element.scrollWidth > element.clientWidth) ||
    (["auto", "scroll"].includes(style.overflowY) && element.scrollHeight > element.clientHeight);
  const matters = (element, style) =>
    element.matches(reached) ||
    element.matches(selector) ||
    ["absolute", "fixed", "sticky"].includes(style.position) ||
    scrolls(element, style);
  const kept = new Set();
  const above = new Set();
  const blocks = [];
  for (const element of document.body.querySelectorAll(":not(style, script)")) {
    if (kept.has(element.parentElement)) {
      kept.add(element);
      continue;
    }
    const style = getComputedStyle(element);
    if (style.display.startsWith("inline") && !element.matches(reached)) continue;
    if (isSeen(element) && matters(element, style)) {
      kept.add(element);
      for (let at = element.parentElement; at && !above.has(at); at = at.parentElement) {
        above.add(at);
      }
    } else blocks.push(element);
  }
  for (const element of blocks) {
    if (above.has(element.parentElement) && !above.has(element)) {
      element.dataset.unreached = "";
    }
  }
}
