// Empties every element that neither is, contains nor belongs to an element marked with data-look.
// The emptied elements stay, as high as they were, so that others keep their style and their place.
() => {
  const above = new Set();
  for (const look of document.querySelectorAll("[data-look]")) {
    for (let at = look.parentElement; at && !above.has(at); at = at.parentElement) above.add(at);
  }
  const unneeded = [...document.body.querySelectorAll(":not(style)")].filter(
    (element) =>
      above.has(element.parentElement) && !above.has(element) && !element.closest("[data-look]"),
  );
  const heights = unneeded.map((element) => element.getBoundingClientRect().height);
  unneeded.forEach((element, i) => {
    element.replaceChildren();
    element.style.height = `${heights[i]}px`;
  });
}
