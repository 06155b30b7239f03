// Returns one element for each look on a page. Texts with the same look have the same properties
// that affect contrast. A positioned box may overlap other elements, so each such box has looks of
// its own. Parts of formulas that only screen readers get are skipped.
() => {
  const backdrops = new Map([[null, ""]]);
  const isNothing = (style) =>
    style.backgroundColor === "rgba(0, 0, 0, 0)" &&
    style.backgroundImage === "none" &&
    style.opacity === "1" &&
    style.filter === "none" &&
    style.mixBlendMode === "normal";
  const backdropOf = (element) => {
    if (!backdrops.has(element)) {
      const style = getComputedStyle(element);
      const layers = [backdropOf(element.parentElement)];
      if (!isNothing(style)) {
        layers.push(style.backgroundColor, style.backgroundImage, style.opacity);
        layers.push(style.filter, style.mixBlendMode);
      }
      if (["absolute", "fixed"].includes(style.position)) layers.push(`box ${backdrops.size}`);
      if (element.matches(":disabled, [aria-disabled=true]")) layers.push("disabled");
      backdrops.set(element, layers.join("; "));
    }
    return backdrops.get(element);
  };
  const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());

  const looks = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const isControl = element.matches("input, select, textarea, button");
    if (!isControl && !hasText(element)) continue;
    if (element.closest("mjx-assistive-mml")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const look = [
      isControl ? looks.size : "text",
      style.color,
      style.fontSize,
      style.fontWeight,
      style.textShadow,
      style.webkitTextFillColor,
      style.webkitTextStroke,
      backdropOf(element),
    ].join(" | ");
    if (!looks.has(look)) looks.set(look, element);
  }
  return [...looks.values()];
}
