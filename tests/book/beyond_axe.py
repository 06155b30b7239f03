"""What axe does not look for: names that are seen, focus that is seen, nothing spoken twice."""

from __future__ import annotations

from playwright.sync_api import Page

#: What the keyboard can reach and does not show that it has.
UNSEEN_FOCUS = """() => {
  const shows = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
  };
  const reached = "a[href], button, summary, input, select, textarea, [tabindex='0']";
  return [...document.querySelectorAll(reached)].filter((element) => {
    element.focus({ focusVisible: true, preventScroll: true });
    if (document.activeElement !== element) return false;
    return ![element, ...element.querySelectorAll("*")].some(shows);
  }).map((element) => element.outerHTML.slice(0, 100));
}"""
#: Names that do not contain the words that are seen.
OTHER_NAMES = """() => [...document.querySelectorAll(
    "a[aria-label], button[aria-label], summary[aria-label]")]
  .filter((element) => element.innerText.trim())
  .filter((element) => !element.ariaLabel.toLowerCase()
    .includes(element.innerText.trim().toLowerCase()))
  .map((element) => element.outerHTML.slice(0, 100))"""
#: Figures whose picture and caption say the same, and those that announce a change twice.
SAID_TWICE = """() => [...document.querySelectorAll("figure")].filter((figure) => {
  const image = figure.querySelector("img:not([aria-hidden])");
  const caption = figure.querySelector("figcaption");
  const announcing = figure.querySelectorAll(
    "[aria-live]:not([aria-live=off]), [role=status], output:not([aria-live=off])");
  return announcing.length > 1
    || (image && caption && image.alt.trim() === caption.textContent.trim());
}).map((figure) => figure.outerHTML.slice(0, 100))"""
SMALLEST_DIGITS = """() => Math.min(...[...document.querySelectorAll(
    "figure.museum td, figure.museum th")]
  .map((cell) => parseFloat(getComputedStyle(cell).fontSize)))"""
#: How the grounds of pieces of code that are wider than their place move with the code.
UNSHADED = """() => [...document.querySelectorAll(".highlight pre")]
  .filter((code) => code.scrollWidth > code.clientWidth)
  .map((code) => getComputedStyle(code).backgroundAttachment)"""
#: Tables that are wider than their place and do not fade out where they go on.
UNFADED = """() => [...document.querySelectorAll(".pst-scrollable-table-container")]
  .filter((place) => place.scrollWidth > place.clientWidth)
  .filter((place) => getComputedStyle(place).maskImage === "none")
  .map((place) => place.innerText.slice(0, 60))"""
#: Tables that are wider than their place, those of exhibits included.
WIDE_TABLES = """() => [...document.querySelectorAll(
    ".pst-scrollable-table-container, figure.museum")]
  .filter((place) => place.scrollWidth > place.clientWidth)
  .map((place) => place.innerText.slice(0, 60))"""


def problems(page: Page) -> dict[str, object]:
    """Return by kind what is wrong with a page in a narrow window."""
    found = {
        "focus that is not seen": page.evaluate(UNSEEN_FOCUS),
        "names without the words that are seen": page.evaluate(OTHER_NAMES),
        "said twice": page.evaluate(SAID_TWICE),
        "views for small screens, besides one": page.locator("meta[name=viewport]").count() - 1,
    }
    if page.locator("figure.museum").count():
        found["digits smaller than 12 pixels"] = min(0, page.evaluate(SMALLEST_DIGITS) - 12)
        shades = page.evaluate(UNSHADED)
        found["other shades"] = set(shades) - {"local, local, scroll, scroll, scroll"}
    return {kind: problem for kind, problem in found.items() if problem}
