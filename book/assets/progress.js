// Chapters done, and where a reader was: a button at a chapter's end, marks in the sidebar, and a
// link on the page of welcome. All of it is made here, so that without it nothing is dead.
"use strict";

const progress = (() => {
  // Share of the window, from its top, at which a section counts as being read.
  const READING_LINE = 0.3;

  const nameOf = (path) => path.split("/").pop().replace(/\.html$/, "");
  const page = nameOf(location.pathname);

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  }

  // The text of a heading, without the sign that links to it, and with formulas as in the menus.
  function textOf(heading) {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll(".headerlink").forEach((part) => part.remove());
    copy.querySelectorAll(".math").forEach((formula) => {
      const tex = formula.querySelector("annotation").textContent;
      formula.replaceWith(tex.replace(/\\sqrt\{(.*?)\}/, "√$1"));
    });
    return copy.textContent.trim();
  }

  function showMarks() {
    const { done } = memory.read();
    document.querySelectorAll("nav.bd-links a").forEach((link) => {
      const isDone = done[nameOf(link.pathname)] === true;
      const mark = link.querySelector(".done-mark");
      if (isDone && !mark) {
        const text = element("span", { class: "done-mark" }, "done");
        link.append(" ", text);
      } else if (!isDone) {
        mark?.remove();
      }
    });
  }

  function showDone(button) {
    const isDone = memory.read().done[page] === true;
    button.setAttribute("aria-pressed", isDone);
  }

  function addDoneButton(article) {
    const button = element("button", { type: "button" }, "This chapter is done");
    button.addEventListener("click", () => {
      memory.change(({ done }) => {
        if (done[page]) delete done[page];
        else done[page] = true;
      });
      show();
    });
    article.append(element("p", { class: "chapter-done" }, button));
  }

  function rememberPlace(article) {
    const line = innerHeight * READING_LINE;
    const headings = [...article.querySelectorAll("h1, h2, h3")];
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < line);
    const [title] = headings;
    const heading = passed.at(-1) ?? title;
    const place = { page, title: textOf(title) };
    if (heading !== title) {
      place.anchor = heading.closest("section").id;
      place.section = textOf(heading);
    }
    memory.change((content) => { content.place = place; });
  }

  // The link in the menu to the first page after a chapter that is not done.
  function nextAfter(chapter, done) {
    const links = [...document.querySelectorAll("nav.bd-links a")];
    const at = links.findIndex((link) => nameOf(link.pathname) === chapter);
    return at < 0 ? undefined : links.slice(at + 1).find((link) => !done[nameOf(link.pathname)]);
  }

  function showPlace(start) {
    start.querySelector(".continue")?.remove();
    const { done, place } = memory.read();
    const target = start.querySelector("a");
    if (typeof place?.page !== "string" || typeof place.title !== "string" || !target) return;
    const next = done[place.page] ? nextAfter(place.page, done) : undefined;
    if (next) {
      const link = element("a", { href: next.href }, next.textContent.trim());
      start.append(element("span", { class: "continue" }, "Continue with: ", link));
      return;
    }
    // Beside the first chapter, where the others are too.
    const address = new URL(`${encodeURIComponent(place.page)}.html`, target.href);
    if (place.anchor) address.hash = place.anchor;
    const where = place.section ? `${place.title}, ${place.section}` : place.title;
    const link = element("a", { href: address.href }, where);
    start.append(element("span", { class: "continue" }, "Continue where you were: ", link));
  }

  function addForgetButton(place) {
    const button = element("button", { type: "button" }, "Forget all of it");
    const told = element("span", { role: "status" });
    button.addEventListener("click", () => {
      memory.forget();
      show();
      told.textContent = "Nothing is remembered now.";
    });
    place.append(" ", button, " ", told);
  }

  function show() {
    showMarks();
    document.querySelectorAll(".chapter-done button").forEach(showDone);
    document.querySelectorAll(".start").forEach(showPlace);
  }

  function begin() {
    if (!memory.isUsable()) return;
    const article = document.querySelector("article.bd-article");
    if (article?.querySelector(".reading-time")) {
      addDoneButton(article);
      addEventListener("pagehide", () => rememberPlace(article));
      document.addEventListener("visibilitychange", () => {
        if (document.hidden) rememberPlace(article);
      });
    }
    document.querySelectorAll(".forget").forEach(addForgetButton);
    show();
    // Another tab may change what is remembered.
    addEventListener("storage", show);
    // A page that comes back from the browser's cache shows what has happened since.
    addEventListener("pageshow", (event) => {
      if (event.persisted) show();
    });
  }

  return { begin };
})();

document.addEventListener("DOMContentLoaded", progress.begin);
