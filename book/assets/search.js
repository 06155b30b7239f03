// Searches the index of sections that book/_ext/finding/search_index.py writes, and shows what it finds
// below a field, while the reader types.
"use strict";

const search = (() => {
  const SHOWN = 15; // sections at a time
  const AROUND = 90; // characters of text before and after what was found
  const root = new URL("..", document.currentScript.src);

  // Points of a section for each place in which a word, or all words in a row, stand.
  const WORD = { heading: 10, whole: 4, page: 3 };
  const PHRASE = { heading: 60, inHeading: 30, text: 6 };
  const PAGE = 8; // what stands in the title of a page is found there first
  const ENTRY = 0.5; // a term or a function; chapters say more
  const CHAPTER = 1.4;

  const LETTER = "[\\p{L}\\p{N}_]";
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // The plural of a word finds its singular too; any word may go on.
  const stem = (word) => (/[^s]s$/.test(word) && word.length > 3 ? `${escaped(word.slice(0, -1))}s?`
    : escaped(word));
  const atStart = (pattern) => new RegExp(`(?<!${LETTER})${pattern}`, "giu");
  const isWhole = (pattern, text) => new RegExp(`${pattern.source}(?!${LETTER})`, "iu").test(text);

  // Every section once, with what is searched in it.
  const entries = searchIndex.flatMap(({ page, chapter, sections }) =>
    sections.map(([anchor, heading, text, isEntry]) => ({
      page, anchor, heading, text, title: sections[0][1],
      weight: (isEntry ? ENTRY : 1) * (chapter ? CHAPTER : 1),
    })));

  const count = (pattern, text) => [...text.matchAll(pattern)].length;

  function read(query) {
    const words = query.match(new RegExp(`${LETTER}+`, "gu")) ?? [];
    const inARow = words.map(stem).join("[^\\p{L}\\p{N}]{0,3}");
    return {
      words: words.map((word) => atStart(stem(word))),
      phrase: words.length ? atStart(inARow) : null,
      whole: new RegExp(`^(?:the |a |an )?${inARow}$`, "iu"),
    };
  }

  function points({ page, anchor, heading, text, title, weight }, { words, phrase, whole }) {
    let sum = 0;
    let missing = 0;
    for (const word of words) {
      const inHeading = count(word, heading) > 0;
      const inTitle = count(word, title) > 0;
      const inText = count(word, text);
      if (!inHeading && !inTitle && !inText) missing += 1;
      sum += (inHeading ? WORD.heading : 0) + (inTitle ? WORD.page : 0) + Math.log2(1 + inText);
      if (inHeading && isWhole(word, heading)) sum += WORD.whole;
    }
    if (whole.test(heading)) sum += PHRASE.heading;
    else if (count(phrase, heading)) sum += PHRASE.inHeading;
    if (words.length > 1 && count(phrase, text)) {
      sum += PHRASE.text + Math.log2(1 + count(phrase, text));
    }
    if (!anchor && count(phrase, heading)) sum += PAGE;
    return { sum: sum * weight, missing };
  }

  // The sections that have all words, or if there are none those that have most; best ones first.
  function find(query) {
    const asked = read(query);
    if (!asked.words.length) return { asked, found: [], missing: 0 };
    const all = entries
      .map((entry) => ({ entry, ...points(entry, asked) }))
      .filter(({ missing, sum }) => missing < asked.words.length && sum > 0);
    const missing = Math.min(...all.map((one) => one.missing));
    const found = all.filter((one) => one.missing === missing).sort((a, b) => b.sum - a.sum);
    return { asked, found: found.map(({ entry }) => entry), missing: found.length ? missing : 0 };
  }

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  function marked(text, pattern) {
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      parts.push(text.slice(end, match.index), element("mark", "", match[0]));
      end = match.index + match[0].length;
    }
    return [...parts, text.slice(end)];
  }

  // What stands around the first words that were found, the beginning of the section otherwise.
  function summary(text, { words, phrase }) {
    const pattern = [phrase, ...words].find((one) => count(one, text));
    const at = pattern ? text.matchAll(pattern).next().value.index : 0;
    const start = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0;
    const stop = text.length > at + AROUND ? text.lastIndexOf(" ", at + AROUND) : text.length;
    const shown = text.slice(start, Math.max(stop, at));
    const parts = pattern ? marked(shown, pattern) : [shown];
    return [start ? "… " : "", ...parts, stop < text.length ? " …" : ""];
  }

  function item({ page, anchor, heading, text, title }, asked) {
    const address = new URL(`${page}.html`, root);
    if (anchor) address.hash = anchor;
    const link = element("a", "", heading);
    link.href = address.href;
    const where = anchor ? element("span", "search-page-name", ` in ${title}`) : "";
    return element("li", "", link, where, element("p", "", ...summary(text, asked)));
  }

  function statusOf(query, { found, missing }) {
    if (!query.trim()) return "";
    if (!found.length) return `Nothing found for “${query.trim()}”. Try fewer words, or the beginning of one.`;
    const number = found.length === 1 ? "1 section" : `${found.length} sections`;
    const some = missing ? "No section has all of these words. " : "";
    const first = found.length > SHOWN ? ` These are the best ${SHOWN}.` : "";
    return `${some}${number}${missing ? " with some of them" : ""}.${first}`;
  }

  function start(form) {
    const field = form.querySelector("input");
    const status = form.querySelector(".search-status");
    const list = form.querySelector(".search-results");
    const isPage = !form.closest("dialog");

    function show() {
      const query = field.value;
      const result = find(query);
      list.replaceChildren(...result.found.slice(0, SHOWN).map((entry) => item(entry, result.asked)));
      status.textContent = statusOf(query, result);
    }

    function move(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const places = [field, ...list.querySelectorAll("a")];
      const next = places[places.indexOf(document.activeElement) + step];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    }

    if (isPage) field.value ||= new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", show);
    form.addEventListener("keydown", move);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      list.querySelector("a")?.click();
    });
    // On this page a link to one of the results would leave the dialog open.
    list.addEventListener("click", (event) => {
      if (event.target.closest("a")) form.closest("dialog")?.close();
    });
    show();
  }

  return { find, start };
})();
