// Numbered entries split into heads and merged again, each by a line of code that the reader chooses.
"use strict";

live.figure("head-split", (root, start) => {
  const { el } = live;
  const say = live.announcer(root);
  const COLOURS = ["query", "key", "value", "output"].map((role) => `var(--live-${role})`);
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

  function grid(numbers, columns, misplaced) {
    const cells = numbers.map((entry, i) => {
      const known = entry < n * H * d && entry === Math.floor(entry);
      return el("span", {
        class: "head-split-cell", style: `--live-colour: ${COLOURS[known ? ownerOf(entry) : 0]}`,
        "data-entry": entry, "data-followed": String(entry === followed),
        "data-misplaced": String(misplaced(entry, i)),
        onpointerenter: () => { if (entry < n * H * d) follow(entry); },
      }, String(entry));
    });
    return el("div", { class: "head-split-grid", style: `--columns: ${columns}` }, ...cells);
  }

  const shapeText = (shape) => `(${shape.join(", ")})`;
  const [before, between, after] = [0, 1, 2].map(() => el("div", { class: "head-split-array" }));
  const splitVerdict = el("p", { class: "head-split-verdict" });
  const mergeVerdict = el("p", { class: "head-split-verdict" });

  function draw() {
    const x = { shape: [n, H * d], data: Array.from({ length: n * H * d }, (_, i) => i) };
    const heads = SPLITS[split][1](x);
    const merged = MERGES[merge][1](heads);
    const [count, rows, width] = heads.shape;
    before.replaceChildren(el("p", {}, `x, shape ${shapeText(x.shape)}: a row for each position`),
      grid(x.data, H * d, () => false));
    const pieces = Array.from({ length: count }, (_, h) =>
      heads.data.slice(h * rows * width, (h + 1) * rows * width));
    between.replaceChildren(el("p", {}, `heads, shape ${shapeText(heads.shape)}`),
      el("div", { class: "head-split-heads" }, ...pieces.map((piece, h) => el("div", {},
        el("p", {}, `heads[${h}]`), grid(piece, width, (entry) => ownerOf(entry) !== h)))));
    after.replaceChildren(el("p", {}, `merged, shape ${shapeText(merged.shape)}`),
      grid(merged.data, merged.shape[1], (entry, i) => entry !== i || merged.shape[1] !== H * d));

    const stray = pieces.flatMap((piece, h) => piece.filter((entry) => ownerOf(entry) !== h)).length;
    splitVerdict.textContent = stray === 0 && count === H && rows === n
      ? "Each head has its own columns of every position."
      : `${stray} of ${n * H * d} entries are with a head that is not theirs.`
        + (count === H && rows === n ? "" : ` The shape should be ${shapeText([H, n, d])}.`);
    const kept = merged.data.filter((entry, i) => entry === i).length;
    mergeVerdict.textContent = merged.shape[1] !== H * d
      ? `The result is ${merged.shape[1]} wide and should be ${H * d}: the heads are added up.`
      : kept === x.data.length ? "Every entry is where it was in x."
        : `${kept} of ${x.data.length} entries are where they were in x.`;
    say(`${splitVerdict.textContent} ${mergeVerdict.textContent}`);
  }

  function follow(entry) {
    followed = entry;
    follower.set(entry);
    for (const cell of root.querySelectorAll(".head-split-cell")) {
      cell.dataset.followed = Number(cell.dataset.entry) === entry;
    }
  }

  const code = (lines, chosen, legend, set) => live.choice({
    legend, value: String(chosen),
    options: lines.map(([line], i) => [String(i), el("code", {}, line)]),
    input: (i) => { set(Number(i)); draw(); },
  });
  const followerPlace = el("div");
  let follower;
  function sized() {
    followed = Math.min(followed, n * H * d - 1);
    follower = live.slider({
      label: "Follow entry", min: 0, max: n * H * d - 1, step: 1, value: followed, text: String,
      input: follow,
    });
    followerPlace.replaceChildren(follower.element);
    draw();
  }
  const sizes = (legend, value, set) => live.choice({
    legend, value: String(value), options: [2, 3, 4].map((size) => [String(size), String(size)]),
    input: (size) => { set(Number(size)); sized(); },
  });

  root.append(
    el("div", { class: "head-split-sizes" },
      sizes("Positions n", n, (size) => { n = size; }),
      sizes("Heads H", H, (size) => { H = size; }),
      sizes("Width of a head d", d, (size) => { d = size; })),
    followerPlace, before,
    code(SPLITS, split, "heads =", (i) => { split = i; }), between, splitVerdict,
    code(MERGES, merge, "merged =", (i) => { merge = i; }), after, mergeVerdict);
  sized();
});
