// Every array from the ids of a sentence to the logits, as a map that can be read cell by cell.
"use strict";

live.modelFigure("array-by-array", (root, start) => {
  const { el, svg, change, number } = live;
  const { WORDS } = modelView;
  const [ROW, LEFT, TOP, BELOW] = [24, 76, 22, 66]; // pixels of the drawing
  const READABLE = 12; // pixels between two words side by side
  const names = start.choices.name;
  const COLOURS = { below: [150, 90, 200], above: [235, 120, 30], weight: [40, 130, 210] };
  const say = live.announcer(root);
  let at = names.indexOf(start.name);
  let words, trace;
  let [row, column] = [0, 0]; // of the cell that is read

  // The panels of an array: a matrix for each head, or one.
  function panelsOf(name) {
    const [layer, part] = name.includes(".") ? name.split(".") : [null, name];
    if (layer === null) return [trace[part]];
    const ofHeads = { q: "q", k: "k", v: "v", scores: "masked", weights: "weights", mixed: "output" }[part];
    return ofHeads ? trace[layer].heads.map((head) => head[ofHeads]) : [trace[layer][part]];
  }
  const meaning = (name) => start.meanings[name] ?? start.meanings[name.split(".").at(-1)];
  const byKey = (name) => /scores|weights/.test(name);

  const canvas = el("canvas");
  const pen = canvas.getContext("2d");
  const picture = svg("image", { x: LEFT, y: TOP, class: "array-map", preserveAspectRatio: "none" });
  const labels = svg("g", { "aria-hidden": "true" });
  const drawing = svg("svg", { class: "array-drawing" }, labels, picture);
  const title = el("p", { class: "array-title" });
  const said = Object.values(start.meanings).toSorted((a, b) => b.length - a.length)[0];
  const sentence = live.sentence(
    `layer1.weights: ${said}. The ring is at head 1, “lemonade”, “lemonade”: 0.00.`);
  let panels, width, gap; // of all panels: columns of one, and columns between two
  let room = 640; // pixels across

  const total = () => panels.length * width + (panels.length - 1) * gap;
  const unit = () => (room - LEFT) / total();
  const placeOf = ([i, c]) => {
    const across = c + Math.floor(c / width) * gap;
    return [LEFT + (across + 0.5) * unit(), TOP + (i + 0.5) * ROW];
  };
  function cellOf([x, y]) {
    const across = Math.floor((x - LEFT) / unit());
    const panel = Math.min(Math.floor(across / (width + gap)), panels.length - 1);
    const entry = Math.min(across - panel * (width + gap), width - 1);
    return [Math.floor((y - TOP) / ROW), panel * width + entry];
  }
  const within = (value, most) => Math.max(0, Math.min(most, Math.round(value)));
  const value = () => panels[Math.floor(column / width)][row][column % width];

  function cellWords() {
    const [panel, entry] = [Math.floor(column / width), column % width];
    const ofHead = panels.length > 1 ? `head ${panel + 1}, ` : "";
    const where = byKey(names[at]) ? `“${words[entry]}”` : names[at] === "logits" ? `“${WORDS[entry]}”`
      : `entry ${entry + 1} of ${width}`;
    return `${ofHead}“${words[row]}”, ${where}: ${number(value())}`;
  }

  const cell = live.handle({
    label: "Cell", at: () => [column, -row], step: 1, colour: "var(--live-output)", text: cellWords,
    toPoint: (place) => { const [i, c] = cellOf(place); return [c, -i]; },
    move: ([x, y]) => {
      [row, column] = [within(-y, words.length - 1), within(x, panels.length * width - 1)];
      read();
    },
  });
  drawing.append(cell.element);

  // One pixel for each number; the browser enlarges them.
  function paint() {
    canvas.width = total();
    canvas.height = words.length;
    const pixels = pen.createImageData(canvas.width, canvas.height);
    const reach = Math.max(...panels.flat(2).filter(Number.isFinite).map(Math.abs)) || 1;
    const isWeight = names[at].endsWith("weights");
    panels.forEach((panel, p) => panel.forEach((numbers, i) => numbers.forEach((entry, c) => {
      const hidden = entry === -Infinity;
      const colour = hidden ? [128, 128, 128] : COLOURS[isWeight ? "weight" : entry < 0 ? "below" : "above"];
      const strength = hidden ? 0.35 : Math.abs(entry) / (isWeight ? 1 : reach);
      pixels.data.set([...colour, 255 * strength], 4 * (i * canvas.width + p * (width + gap) + c));
    })));
    pen.putImageData(pixels, 0, 0);
    change(picture, { href: canvas.toDataURL() });
  }

  function label() {
    const height = TOP + ROW * words.length;
    const text = (x, y, content, attributes = {}) => svg("text", { x, y, ...attributes }, content);
    change(drawing, { viewBox: `0 0 ${room} ${height + BELOW}` });
    change(picture, { width: room - LEFT, height: ROW * words.length });
    const ends = (p) => [p * width, p * width + width - 1];
    const first = names[at] === "logits" ? 0 : 1;
    labels.replaceChildren(
      ...words.map((word, i) => text(LEFT - 8, TOP + (i + 0.5) * ROW + 5, word, { "text-anchor": "end" })),
      ...panels.flatMap((_, p) => {
        const [left] = placeOf([0, p * width]);
        const middle = text((left + placeOf([0, p * width + width - 1])[0]) / 2, height + 16,
          names[at] === "logits" ? "id" : "entry", { "text-anchor": "middle" });
        const heading = panels.length > 1 ? [text(left - unit() / 2, TOP - 7, `head ${p + 1}`)] : [];
        const under = byKey(names[at])
          ? words.slice(0, unit() < READABLE ? 0 : width).map((word, j) => {
            const [x] = placeOf([0, p * width + j]);
            return text(0, 0, word, { transform: `translate(${x + 4} ${height + 8}) rotate(-90)`,
              "text-anchor": "end" });
          })
          : ends(p).map((c, e) => text(placeOf([0, c])[0], height + 16, c - p * width + first,
            { "text-anchor": e ? "end" : "start" })).concat(middle);
        return [...heading, ...under];
      }));
    cell.show(placeOf([row, column]));
  }

  function read() {
    cell.show(placeOf([row, column]));
    sentence.textContent = `${names[at]}: ${meaning(names[at])}. The ring is at ${cellWords()}.`;
    say(sentence.textContent);
  }

  function show() {
    panels = panelsOf(names[at]);
    width = panels[0][0].length;
    gap = panels.length > 1 ? Math.max(1, Math.round(width / 16)) : 0;
    row = Math.min(row, words.length - 1);
    column = Math.min(column, panels.length * width - 1);
    const shape = [...(panels.length > 1 ? [panels.length] : []), words.length, width];
    title.replaceChildren(el("strong", {}, names[at]), ` (${shape.join(", ")})`);
    step.set(at);
    back.disabled = at === 0;
    next.disabled = at === names.length - 1;
    paint();
    label();
    read();
  }

  function go(to) {
    at = to;
    show();
  }
  const step = live.slider({ label: "Array", min: 0, max: names.length - 1, step: 1, value: at,
    text: (i) => names[i], input: go });
  const back = live.button("Back", () => go(at - 1));
  const next = live.button("Next", () => go(at + 1));
  drawing.addEventListener("click", (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(drawing.getScreenCTM().inverse());
    const [i, c] = cellOf([x, y]);
    if (x < LEFT || i < 0 || i >= words.length) return;
    [row, column] = [i, within(c, panels.length * width - 1)];
    read();
  });

  function readSentence(typed) {
    words = typed;
    row = words.length - 1;
    trace = model.forward(trainedModel, modelView.encode(words));
    show();
  }
  const field = modelView.sentenceField({ sentence: start.words.join(" "), say, input: readSentence,
    examples: [start.words.join(" ")] });
  root.append(
    el("p", { class: "live-hint" }, "Go from array to array. Tap a cell to read it, or move the ring by "
      + "dragging or with the arrow keys."),
    field, el("div", { class: "array-steps" }, back, next, step.element), title, drawing,
    el("p", { class: "array-key" }, ...["below 0", "above 0", "weight", "hidden by the mask"].map((meaning) =>
      el("span", {}, el("i", { class: `array-${meaning.split(" ", 1)}` }), meaning))),
    sentence);
  readSentence(start.words);
  // Letters keep their size, so the drawing has as many pixels across as there is room.
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === room || !contentRect.width) return;
    room = contentRect.width;
    label();
  }).observe(drawing);
});
