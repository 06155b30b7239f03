// Numbered entries split into heads and merged again, each by a line of code that the reader chooses.
"use strict";

live.figure("head-split", (root, start) => {
  const { el, change, write } = live;
  const say = live.announcer(root);
  let [n, H, d] = [start.n, start.n_heads, start.d];
  let [split, merge, followed] = [0, 0, 0];

  const reshape = ({ data }, ...shape) => ({ shape, data });

  function transpose({ shape, data }, ...axes) {
    const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
    const to = axes.map((axis) => shape[axis]);
    const picked = data.map((_, flat) => {
      let [rest, from] = [flat, 0];
      for (let axis = to.length - 1; axis >= 0; axis--) {
        from += (rest % to[axis]) * strides[axes[axis]];
        rest = Math.floor(rest / to[axis]);
      }
      return data[from];
    });
    return { shape: to, data: picked };
  }

  const addHeads = ({ shape: [heads, rows, width], data }) => ({
    shape: [rows, width],
    data: Array.from({ length: rows * width }, (_, i) =>
      Array.from({ length: heads }, (_, h) => data[h * rows * width + i]).reduce((a, b) => a + b)),
  });

  // The right line comes first. Where heads stay behind positions, what a line calls n and H changes.
  const SPLITS = [
    ["x.reshape(n, H, d).swapaxes(0, 1)", (x) => transpose(reshape(x, n, H, d), 1, 0, 2)],
    ["x.reshape(H, n, d)", (x) => reshape(x, H, n, d)],
    ["x.reshape(n, d, H).transpose(2, 0, 1)", (x) => transpose(reshape(x, n, d, H), 2, 0, 1)],
    ["x.reshape(n, H, d)", (x) => reshape(x, n, H, d)],
  ];
  const MERGES = [
    ["heads.swapaxes(0, 1).reshape(n, H * d)", (x) => reshape(transpose(x, 1, 0, 2), n, H * d)],
    ["heads.reshape(n, H * d)", (x) => reshape(x, n, H * d)],
    ["heads.transpose(1, 2, 0).reshape(n, H * d)", (x) => reshape(transpose(x, 1, 2, 0), n, H * d)],
    ["heads.sum(axis=0)", addHeads],
  ];

  const ownerOf = (entry) => Math.floor((entry % (H * d)) / d);

  // A matrix, which has its size before it is first filled and gets its cells.
  function grid(rows, columns) {
    return { rows, columns, cells: [],
      element: el("div", { class: "head-split-grid", style: `--rows: ${rows}; --columns: ${columns}` }) };
  }

  function fill({ rows, columns, cells, element }, numbers, misplaced) {
    if (!cells.length) {
      cells.push(...Array.from({ length: rows * columns }, () => el("span", { class: "head-split-cell" })));
      element.append(...cells);
    }
    cells.forEach((cell, i) => {
      const entry = numbers[i];
      const known = entry < n * H * d && entry === Math.floor(entry);
      write(cell, String(entry));
      change(cell, { "data-entry": entry, "data-head": known ? ownerOf(entry) : 0,
        "data-followed": entry === followed, "data-misplaced": misplaced(entry, i) });
    });
  }

  // `count` matrices with their names.
  function headGrids(count, rows) {
    const grids = Array.from({ length: count }, () => grid(rows, d));
    return { grids, count, element: el("div", { class: "head-split-heads" }, ...grids.map(({ element }, h) =>
      el("div", {}, el("p", {}, `heads[${h}]`), element))) };
  }

  const shapeText = (shape) => `(${shape.join(", ")})`;
  const [before, between, after] = [0, 1, 2].map(() => el("div", { class: "head-split-array" }));
  const [beforeName, betweenName, afterName] = [0, 1, 2].map(() => el("p"));
  const splitVerdict = live.sentence("00 of 00 entries are with a head that is not theirs. "
    + "The shape should be (0, 0, 0).", { class: "head-split-verdict" });
  const mergeVerdict = live.sentence("The result is 00 wide and should be 00: the heads are added up.",
    { class: "head-split-verdict" });
  let x, whole, merges; // grids; of results there is one for each shape
  let layouts, layout; // grids of heads for each shape, and those that are shown

  // Shapes that lines give take the same place, so that no line moves what is below.
  function build() {
    x = { shape: [n, H * d], data: Array.from({ length: n * H * d }, (_, i) => i) };
    whole = grid(n, H * d);
    before.replaceChildren(beforeName, whole.element);
    layouts = n === H ? [headGrids(H, n)] : [headGrids(H, n), headGrids(n, H)];
    between.replaceChildren(betweenName,
      el("div", { class: "head-split-places" }, ...layouts.map(({ element }) => element)));
    merges = [grid(n, H * d), grid(n, d), ...(n === H ? [] : [grid(H, d)])];
    after.replaceChildren(afterName,
      el("div", { class: "head-split-places" }, ...merges.map(({ element }) => element)));
    fill(whole, x.data, () => false);
    write(beforeName, `x, shape ${shapeText(x.shape)}: a row for each position`);
  }

  function show(all, chosen) {
    for (const one of all) one.element.classList.toggle("head-split-away", one !== chosen);
  }

  function draw() {
    const heads = SPLITS[split][1](x);
    const merged = MERGES[merge][1](heads);
    const [count, rows, width] = heads.shape;
    const pieces = Array.from({ length: count }, (_, h) =>
      heads.data.slice(h * rows * width, (h + 1) * rows * width));
    layout = layouts.find((one) => one.count === count);
    layout.grids.forEach((piece, h) => fill(piece, pieces[h], (entry) => ownerOf(entry) !== h));
    show(layouts, layout);
    write(betweenName, `heads, shape ${shapeText(heads.shape)}`);
    const isWhole = merged.shape[1] === H * d;
    const result = merges.find(({ rows: tall, columns }) =>
      tall === merged.shape[0] && columns === merged.shape[1]);
    fill(result, merged.data, (entry, i) => entry !== i || !isWhole);
    show(merges, result);
    write(afterName, `merged, shape ${shapeText(merged.shape)}`);

    const stray = pieces.flatMap((piece, h) => piece.filter((entry) => ownerOf(entry) !== h)).length;
    write(splitVerdict, stray === 0 && count === H && rows === n
      ? "Each head has its own columns of every position."
      : `${stray} of ${n * H * d} entries are with a head that is not theirs.`
        + (count === H && rows === n ? "" : ` The shape should be ${shapeText([H, n, d])}.`));
    const kept = merged.data.filter((entry, i) => entry === i).length;
    write(mergeVerdict, !isWhole
      ? `The result is ${merged.shape[1]} wide and should be ${H * d}: the heads are added up.`
      : kept === x.data.length ? "Every entry is where it was in x."
        : `${kept} of ${x.data.length} entries are where they were in x.`);
    say(`${splitVerdict.textContent} ${mergeVerdict.textContent}`);
  }

  function follow(entry) {
    followed = entry;
    follower.set(entry);
    for (const cell of root.querySelectorAll(".head-split-cell")) {
      change(cell, { "data-followed": Number(cell.dataset.entry) === entry });
    }
    const head = layout.grids.findIndex(({ cells }) =>
      cells.some((cell) => cell.dataset.entry === `${entry}`));
    say(`Entry ${entry} is in heads[${head}].`);
  }

  const code = (lines, chosen, legend, set) => live.choice({
    legend, value: String(chosen),
    options: lines.map(([line], i) => [String(i), el("code", {}, line)]),
    input: (i) => { set(Number(i)); draw(); },
  });
  const follower = live.slider({ label: "Follow entry", min: 0, max: n * H * d - 1, step: 1, value: followed,
    text: String, input: follow });
  function sized() {
    followed = Math.min(followed, n * H * d - 1);
    follower.set(followed, n * H * d - 1);
    build();
    draw();
  }
  const sizes = (legend, value, set) => live.choice({
    legend, value: String(value), options: [2, 3, 4].map((size) => [String(size), String(size)]),
    input: (size) => { set(Number(size)); sized(); },
  });

  // A finger or the mouse on a cell follows its entry.
  root.addEventListener("pointerover", ({ target }) => {
    const entry = Number(target.dataset.entry ?? NaN);
    if (entry < n * H * d && entry !== followed) follow(entry);
  });
  root.append(
    el("p", { class: "live-hint" }, "Choose a line of code for each step, and follow an entry: point at it "
      + "or tap it, or use the slider."),
    el("div", { class: "head-split-sizes" },
      sizes("Positions n", n, (size) => { n = size; }),
      sizes("Heads H", H, (size) => { H = size; }),
      sizes("Head width d", d, (size) => { d = size; })),
    follower.element, before,
    code(SPLITS, split, "heads =", (i) => { split = i; }), between, splitVerdict,
    code(MERGES, merge, "merged =", (i) => { merge = i; }), after, mergeVerdict);
  sized();
});
