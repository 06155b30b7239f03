// What figures of the trained model share: a sentence that can be typed, rows of words with arcs
// between them, a choice of heads, and the words that may come next.
"use strict";

const modelView = (() => {
  const { el, svg, change, write, number } = live;
  const { words: WORDS, kinds: KINDS, config: CONFIG } = trainedModel;
  const ROW = 26; // pixels, as in live.css
  const ARCS = 44; // width of the arcs in pixels
  const VISIBLE = 0.02; // weights below this are not drawn
  const SPEAKABLE = WORDS.filter((word) => !word.startsWith("<"));

  const HEADS = Array.from({ length: CONFIG.n_layers * CONFIG.n_heads }, (_, i) =>
    [Math.floor(i / CONFIG.n_heads) + 1, (i % CONFIG.n_heads) + 1]);

  const encode = (words) => words.map((word) => WORDS.indexOf(word));
  const headName = ([layer, head]) => `layer ${layer}, head ${head}`;
  const weightsOf = (trace, [layer, head]) => trace[`layer${layer}`].heads[head - 1].weights;

  function kindsInWords() {
    const kinds = Object.entries(KINDS).map(([kind, words]) =>
      `${kind.replace("_", " ")} (${words.join(", ")})`);
    return `${kinds.join("; ")}; “the” and “.”`;
  }

  // What keeps words from being read by the model, or "".
  function problemOf(words, limit, unfinished) {
    if (!words.length) return `Type at least one word. There are ${kindsInWords()}.`;
    const unknown = words.findIndex((word) => !SPEAKABLE.includes(word));
    if (unknown !== -1) {
      const word = words[unknown];
      const begun = SPEAKABLE.filter((one) => one.startsWith(word));
      return unfinished && unknown === words.length - 1 && begun.length
        ? `“${word}” can become ${begun.join(", ")}.`
        : `“${word}” is not a word of this language. There are ${kindsInWords()}.`;
    }
    return words.length <= limit ? ""
      : `At most ${limit} words can be read here, not ${words.length}. Remove some.`;
  }

  // A field for a sentence, and buttons that write into it. `input` gets words that can be read.
  function sentenceField({ sentence, examples, limit = CONFIG.max_length, label = "Sentence", say, input }) {
    const [id, hint] = [live.newId("sentence"), live.newId("problem")];
    const problem = el("p", { class: "model-problem", id: hint });
    const field = el("input", { type: "text", id, class: "model-sentence", autocomplete: "off",
      autocapitalize: "none", spellcheck: "false", "aria-describedby": hint });
    let known = sentence; // what the figure shows
    const read = () => field.value.toLowerCase().replaceAll(".", " . ").split(/\s+/).filter(Boolean);

    function check(unfinished) {
      const words = read();
      const found = problemOf(words, limit, unfinished && !field.value.endsWith(" "));
      problem.textContent = found;
      field.toggleAttribute("aria-invalid", found !== "");
      if (found) say(found);
      else if (words.join(" ") !== known) {
        known = words.join(" ");
        input(words);
      }
    }
    function write(text) {
      field.value = text;
      check(false);
    }
    const wordButton = (word) => live.button(word, () => write([...read(), word].join(" ")));
    const groups = [...Object.entries(KINDS), ["others", ["the", "."]]].map(([kind, words]) =>
      el("p", {}, `${kind.replace("_", " ")}: `, ...words.map(wordButton)));
    field.addEventListener("input", () => check(true));
    field.addEventListener("blur", () => check(false));
    field.value = sentence;
    return el("div", { class: "model-field" },
      el("label", { for: id }, label), el("div", {}, field, problem),
      el("p", { class: "model-examples" }, "For example: ",
        ...examples.map((text) => live.button(`${text.split(" ", 3).join(" ")} …`, () => write(text)))),
      el("details", {}, el("summary", {}, `All ${SPEAKABLE.length} words`),
        live.button("Remove the last word", () => write(read().slice(0, -1).join(" "))), ...groups));
  }

  // One arc from row `from` to row `to` of the words, or a loop.
  function arc(from, to, weight) {
    const [y1, y2] = [from, to].map((i) => (i + 0.5) * ROW);
    const x = ARCS - (from === to ? 20 : Math.min(ARCS - 4, 12 + 5 * Math.abs(from - to)) * 1.25);
    const path = from === to ? `M${ARCS} ${y1 - 4}C${x} ${y1 - 12} ${x} ${y1 + 12} ${ARCS} ${y1 + 4}`
      : `M${ARCS} ${y1}C${x} ${y1} ${x} ${y2} ${ARCS - 3} ${y2}`;
    return svg("g", { opacity: 0.3 + 0.7 * weight },
      svg("path", { d: path, class: "model-arc", "stroke-width": 1 + 5 * weight }),
      svg("circle", { cx: ARCS - 3, cy: from === to ? y1 + 4 : y2, r: 2 + 2 * weight, class: "model-end" }));
  }

  // A table with a row for each word: hovering, tapping or the arrow keys choose one.
  // `columns` are the heads of further columns, `choose` gets the index of a word.
  function wordTable({ legend, columns, choose }) {
    const head = el("tr", {}, el("td", { class: "model-drawn" }), el("th", { scope: "col" }, "word"));
    const body = el("tbody");
    const foot = el("tfoot");
    const element = el("div", { role: "radiogroup", "aria-label": legend },
      el("table", { class: "model-words" }, el("thead", {}, head), body, foot));
    const drawing = svg("svg", { class: "model-arcs" });
    const drawn = el("td", { class: "model-drawn", "aria-hidden": "true" }, drawing);
    const name = live.newId("word");
    const heads = [];
    const rows = []; // heads and rows are kept for the next sentence
    let shown = 0; // rows

    // Browsers also report a pointer at rest when something moves under it.
    function point(event, i) {
      const { radio } = rows[i];
      if (event.pointerType !== "mouse" || !(event.movementX || event.movementY) || radio.checked) return;
      radio.checked = true;
      choose(i);
    }

    function makeRow(i) {
      const radio = el("input", { type: "radio", name, value: i, onchange: () => choose(i) });
      const word = el("span");
      const label = el("label", { onpointermove: (event) => point(event, i) }, radio, word);
      const row = el("tr", {}, i === 0 ? drawn : null, el("th", { scope: "row" }, label));
      return { radio, word, cells: [], row };
    }

    // Makes `elements` as many as wanted, the last children of `parent`.
    function resize(elements, wanted, parent, make) {
      while (elements.length < wanted) {
        elements.push(make());
        parent.append(elements.at(-1));
      }
      for (const element of elements.splice(wanted)) element.remove();
    }

    // Returns the cells of each row.
    function set(words, titles = columns) {
      change(drawing, { viewBox: `0 0 ${ARCS} ${ROW * words.length}` });
      change(drawn, { rowspan: words.length });
      resize(heads, titles.length, head, () => el("th", { scope: "col" }));
      titles.forEach((title, j) => write(heads[j], title));
      words.forEach((word, i) => {
        rows[i] ??= makeRow(i);
        write(rows[i].word, word);
        change(rows[i].radio, { "aria-label": `word ${i + 1}, ${word}` });
        resize(rows[i].cells, titles.length, rows[i].row, () => el("td"));
      });
      const used = rows.slice(0, words.length);
      if (shown !== words.length) body.replaceChildren(...used.map(({ row }) => row));
      shown = words.length;
      return used.map(({ cells }) => cells);
    }
    // `arcs` are [from, to, weight].
    function show(chosen, arcs) {
      rows[chosen].radio.checked = true;
      drawing.replaceChildren(...arcs.filter(([, , weight]) => weight >= VISIBLE).map((one) => arc(...one)));
    }
    return { element, foot, set, show };
  }

  // Radio buttons for heads, each with a small picture of its weights.
  function headChoice({ heads, roles, value, input }) {
    const COLOUR = [40, 130, 210]; // as opaque as the weight
    const name = live.newId("head");
    const canvases = heads.map(() => el("canvas"));
    const marks = heads.map(() => el("i", { class: "model-mark" }));
    const pictures = heads.map((_, h) =>
      el("span", { class: "model-thumbnail", "aria-hidden": "true" }, canvases[h], marks[h]));
    const element = el("fieldset", { class: "live-choice model-heads" }, el("legend", {}, "Head"),
      ...heads.map((head, i) => el("label", {},
        el("input", { type: "radio", name, value: i, checked: String(head) === String(value),
          onchange: () => input(head) }),
        pictures[i],
        el("span", {}, ...(roles[headName(head)] ? [el("strong", {}, roles[headName(head)]), el("br")] : []),
          headName(head)))));
    // One pixel for each weight; the browser enlarges them.
    function set(trace) {
      heads.forEach((head, h) => {
        const weights = weightsOf(trace, head);
        const pixels = new ImageData(weights.length, weights.length);
        weights.flat().forEach((weight, i) => pixels.data.set([...COLOUR, 255 * weight], 4 * i));
        canvases[h].width = canvases[h].height = weights.length;
        canvases[h].getContext("2d").putImageData(pixels, 0, 0);
      });
    }
    // Frames a row of each picture, or a column.
    function mark(i, n, column = false) {
      const [before, after] = [(100 * i) / n, 100 - (100 * (i + 1)) / n];
      const inset = column ? `0 ${after}% 0 ${before}%` : `${before}% 0 ${after}%`;
      for (const one of marks) one.style.inset = inset;
    }
    return { element, set, mark };
  }

  function share(cell, weight, text = number(weight)) {
    write(cell, text);
    const percent = `${100 * weight}%`;
    if (cell.style.getPropertyValue("--share") === percent) return;
    cell.classList.add("model-share");
    cell.style.setProperty("--share", percent);
  }

  // A table of the likeliest next words; `columns` name the models that are compared.
  function nextWords(rows, columns = ["share"]) {
    const caption = el("caption");
    const cells = Array.from({ length: rows }, () => [el("th", { scope: "row" }),
      ...columns.map(() => el("td"))]);
    const element = el("table", { class: "model-next" }, caption,
      live.tableHead("next word", ...columns),
      el("tbody", {}, ...cells.map((row) => el("tr", {}, ...row))));
    // `logits` has a row for each column; the words are those with the largest shares in any.
    function show(title, logits, marked = -1) {
      write(caption, title);
      const shares = logits.map((row) => attn.softmax(row));
      const largest = WORDS.map((_, id) => Math.max(...shares.map((s) => s[id] || 0)));
      const best = WORDS.map((_, id) => id).sort((a, b) => largest[b] - largest[a]).slice(0, rows);
      cells.forEach(([word, ...ofModels], i) => {
        write(word, WORDS[best[i]] + (best[i] === marked ? " ←" : ""));
        ofModels.forEach((cell, m) => share(cell, shares[m][best[i]] || 0, number(shares[m][best[i]])));
      });
      return best.map((id) => [WORDS[id], ...shares.map((s) => s[id])]);
    }
    return { element, show };
  }

  // The longest word that a sentence can have, to make room for it.
  const LONGEST = SPEAKABLE.reduce((a, b) => (b.length > a.length ? b : a));

  return {
    LONGEST, WORDS, KINDS, CONFIG, HEADS, encode, headName, weightsOf, sentenceField, wordTable, headChoice,
    share, nextWords,
  };
})();
