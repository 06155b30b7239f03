// Returns one element for each look on a page. Texts with the same look have the same properties
// that affect contrast. A positioned box may overlap other elements, so each such box has looks of
// its own. Parts of formulas that only screen readers get are skipped. To the look of a link
// belongs what distinguishes it from the text around it; its element is the block with this text.
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

  const blockOf = (element) => {
    let block = element.parentElement;
    while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    return block;
  };
  // A link in a menu needs no distinction. So axe compares how much text is in and beside links.
  const isMostlyLinks = (block) => {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    let excess = 0;
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      excess += data.trim().length * (parentElement.closest("a") ? 1 : -1);
    }
    return excess >= 0;
  };
  const fontOf = (style) =>
    [style.color, style.fontSize, style.fontWeight, style.fontStyle, style.fontFamily].join();
  const linkLook = (link, block) => {
    const style = getComputedStyle(link);
    const own = [fontOf(style), style.textDecoration, style.borderBottom, backdropOf(link)];
    // In a block with line breaks, axe compares the texts of one line.
    const lines = block.querySelector("br, hr") ? looks.size : isMostlyLinks(block);
    return ["link", lines, ...own, fontOf(getComputedStyle(block)), backdropOf(block)].join(" | ");
  };

  const looks = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const isControl = element.matches("input, select, textarea, button");
    if (!isControl && !hasText(element)) continue;
    if (element.closest(".katex-mathml")) continue;
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
  for (const link of document.body.querySelectorAll("a[href]")) {
    if (!link.checkVisibility({ visibilityProperty: true })) continue;
    const block = blockOf(link);
    const look = linkLook(link, block);
    if (!looks.has(look)) looks.set(look, block);
  }
  return [...looks.values()];
}
