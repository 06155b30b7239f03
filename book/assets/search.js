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

  // What readers also call it, and what the course does.
  const OTHER_NAMES = [
    [/\bkv\b/giu, "key/value"],
    [/\brope\b/giu, "rotary"],
    [/\bgqa\b/giu, "grouped-query"],
    [/\bmulti ?head/giu, "multi-head"],
    [/\blog ?sum ?exp\b/giu, "log-sum-exp"],
    [/\bback-?prop(agation)?\b/giu, "backward pass"],
    [/\bvanishing gradients?\b/giu, "gradients vanish"],
    [/\bposition(al)? (en|em)[a-z]+/giu, "positions"],
    [/\bsqrt\s*\(?\s*d_?k\b/giu, "√d_k"],
    [/\bd(k|v|model)\b/giu, "d_$1"],
    [/\^(\\top|t)\b/giu, "ᵀ"],
  ];
  // A word that is nowhere is taken for one with so few other letters, if it has so many itself.
  const SLIPS = [[8, 2], [4, 1]];

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

  const wordsOf = (text) => text.match(new RegExp(`${LETTER}+`, "gu")) ?? [];

  // How often each word stands in the course; made when it is first asked for.
  let known;
  function knownWords() {
    if (!known) {
      known = new Map();
      for (const { heading, text } of entries) {
        for (const word of wordsOf(`${heading} ${text}`.toLowerCase())) {
          known.set(word, (known.get(word) ?? 0) + 1);
        }
      }
    }
    return known;
  }

  // How many letters are other ones, missing, too many, or swapped with their neighbours.
  function slipsBetween(one, other) {
    const rows = [[...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i += 1) {
      rows[i] = [i];
      for (let j = 1; j <= other.length; j += 1) {
        const isOther = one[i - 1] === other[j - 1] ? 0 : 1;
        const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
        rows[i][j] = Math.min(
          rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + isOther,
          isSwapped ? rows[i - 2][j - 2] + 1 : Infinity,
        );
      }
    }
    return rows.at(-1).at(-1);
  }

  // The word itself if it stands or begins somewhere, else the nearest one that does.
  function corrected(typed) {
    const word = typed.toLowerCase();
    const [, most] = SLIPS.find(([length]) => word.length >= length) ?? [];
    const begins = new RegExp(`^${stem(word)}`, "u");
    if (!most || [...knownWords().keys()].some((one) => begins.test(one))) return typed;
    const near = [...knownWords()]
      .filter(([one]) => one[0] === word[0] && one.length >= SLIPS.at(-1)[0])
      .map(([one, often]) => [slipsBetween(word, one), -often, one])
      .filter(([slips]) => slips <= most)
      .sort(([a, b], [c, d]) => a - c || b - d);
    return near.length ? near[0][2] : typed;
  }

  function read(query) {
    const named = OTHER_NAMES.reduce((text, [other, ours]) => text.replace(other, ours), query);
    const typed = wordsOf(named);
    const words = typed.map(corrected);
    const slips = typed.flatMap((word, i) => (word === words[i] ? [] : [[word, words[i]]]));
    const inARow = words.map(stem).join("[^\\p{L}\\p{N}]{0,3}");
    return {
      slips,
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

  function statusOf(query, { asked, found, missing }) {
    if (!query.trim()) return "";
    if (!found.length) return `Nothing found for “${query.trim()}”. Try fewer words, or the beginning of one.`;
    const number = found.length === 1 ? "1 section" : `${found.length} sections`;
    const some = missing ? "No section has all of these words. " : "";
    const first = found.length > SHOWN ? ` These are the best ${SHOWN}.` : "";
    const quoted = (which) => asked.slips.map((slip) => `“${slip[which]}”`);
    const read = asked.slips.length
      ? `Nothing has ${quoted(0).join(" or ")}. For ${quoted(1).join(" and ")}: ` : "";
    return `${read}${some}${number}${missing ? " with some of them" : ""}.${first}`;
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
