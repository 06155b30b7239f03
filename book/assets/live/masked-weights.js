// Cells of a mask to click or paint; how it is applied; weights, row sums and what goes wrong.
"use strict";

live.figure("masked-weights", (root, start) => {
  const { el, change, write, number } = live;
  const [nRows, nK] = [start.scores.length, start.scores[0].length];
  const [rows, columns] = [nRows, nK].map((n) => Array.from({ length: n }, (_, i) => i));
  const WEIGHT = 5e-4; // smaller weights are shown as 0
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const KINDS = ["none", "padding", "causal", "causal and padding", "window"];
  const WAYS = [
    ["right", "−∞, and 0 for an empty row: attn_lib"],
    ["empty-rows-become-nan", "−∞, plain softmax"],
    ["zero-for-minus-infinity", "0"],
    ["large-negative-fill", "−1e9"],
    ["own", "a number of yours"],
    ["large-negative-added", "−1e9 added"],
    ["mask-after-softmax", "weight set to 0 after the softmax"],
  ];
  const has = (name) => name in start;
  const say = live.announcer(root);
  let state, mask;

  const offset = () => (state.alignment === "bottom-right" ? nK - state.n_q : 0);
  const shown = (i) => i < state.n_q;
  const nameOf = (i, j) => `Query ${i + 1} may attend to key ${j + 1}`;
  const isFuture = (i, j) => j > i + offset();
  const { sum } = attn;

  function presetMask() {
    const causal = attn.causalMask(state.n_q, nK, state.alignment);
    const padding = attn.paddingMask(state.length, state.n_q, nK);
    return {
      none: () => attn.paddingMask(nK, state.n_q, nK),
      padding: () => padding,
      causal: () => causal,
      "causal and padding": () => attn.combineMasks(causal, padding),
      window: () => attn.windowMask(state.n_q, nK, { left: state.width - 1, offset: offset() }),
    }[state.kind]();
  }

  function set(changes, keepsMask = false) {
    Object.assign(state, changes);
    if (!keepsMask) {
      mask = presetMask();
      markKind(state.kind);
    }
    show();
  }

  // Cells: a click, a stroke of the mouse, a sideways stroke of a finger, or the keyboard.
  let [focused, stroke, painted] = [[0, 0], null, false];
  const cells = rows.map((i) => columns.map((j) => {
    const button = el("button", {
      type: "button", class: "mask-cell", tabindex: i + j === 0 ? 0 : -1,
      onclick: () => { if (!painted) paint(i, j, !mask[i][j]); },
      onpointerdown: () => { stroke = { i, j, to: !mask[i][j] }; painted = false; },
      onfocus: () => { focused = [i, j]; rove(); },
      onkeydown: (event) => {
        const step = STEPS[event.key];
        if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const to = [[i, state.n_q], [j, nK]].map(
          ([at, n], axis) => Math.max(0, Math.min(n - 1, at + step[axis])));
        if (event.shiftKey) paint(...to, mask[i][j]);
        cells[to[0]][to[1]].button.focus();
      },
    });
    return { button, weight: el("td"), place: el("td", {}, button) };
  }));

  function rove() {
    cells.forEach((row, i) => row.forEach(({ button }, j) => {
      button.tabIndex = i === focused[0] && j === focused[1] ? 0 : -1;
    }));
  }

  // A painted mask is none of the kinds; with none chosen, each can be chosen again.
  function markKind(kind) {
    live.check(kindChoice.element, kind);
  }

  function paint(i, j, allowed) {
    mask[i][j] = allowed;
    markKind(null);
    show();
  }

  function stretch(event) {
    if (!stroke || !event.buttons) { stroke = null; return; }
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const i = cells.findIndex((row) => row.some(({ button }) => button === under));
    if (i < 0 || !shown(i)) return;
    const j = cells[i].findIndex(({ button }) => button === under);
    if (i === stroke.i && j === stroke.j && !painted) return;
    painted = true;
    mask[stroke.i][stroke.j] = stroke.to;
    paint(i, j, stroke.to);
  }

  const sums = rows.map(() => el("td", { class: "mask-sum" }));
  const heads = (last) => live.tableHead("", ...columns.map((j) => `k${j + 1}`), ...last);
  const query = (i) => el("th", { scope: "row" }, `q${i + 1}`);
  const given = el("table", { class: "mask-table", onpointermove: stretch },
    el("caption", {}, "Scores for the softmax"), heads([]),
    el("tbody", {}, ...rows.map((i) => el("tr", {}, query(i), ...cells[i].map(({ place }) => place)))));
  const found = el("table", { class: "mask-table" }, el("caption", {}, "Weights"), heads(["sum"]),
    el("tbody", {}, ...rows.map((i) => el("tr", {}, query(i),
      ...cells[i].map(({ weight }) => weight), sums[i]))));
  // A click follows where the stroke ends in the cell where it began.
  const lift = () => { stroke = null; setTimeout(() => { painted = false; }); };
  addEventListener("pointerup", lift);
  addEventListener("pointercancel", lift);

  // The longest text of each, but of the last what is usual: it can name every row.
  const verdicts = ["Leaks: query 6 gives its future 0.000.", "Hidden keys get 0.000 of row 6.",
    "Hidden scores change the weights.", "Rows 1, 2: sums of 0.000 to 0.000. Row 3: all zeros.",
  ].map((longest) => {
    const mark = el("span", { class: "mask-mark", "aria-hidden": "true" });
    const text = el("span", { class: "live-reserve", "data-longest": longest });
    return { mark, text, element: el("li", {}, mark, text) };
  });

  const scoreText = (score) => (Math.abs(score) >= 1e5 && Number.isFinite(score)
    ? `${score.toExponential(0).replace("e+", "e").replace("-", "−")}` : number(score, 1));
  // What a large number leaves of a score: −1e9 + 2 in float64, −1e9 + 0 in float32.
  function givenText(score, way) {
    if (!way.add || score > way.add / 2) return scoreText(score);
    const rest = score - way.add;
    return `${scoreText(way.add)}\n${rest < 0 ? "−" : "+"}\u00a0${number(Math.abs(rest), 1)}`;
  }

  function compute(rowsOfScores) {
    const way = state.way === "own" ? { put: state.own } : attn.MASKING[state.way];
    const round = state.dtype === "float32" ? Math.fround : (x) => x;
    return rowsOfScores.map((row, i) => attn.maskRow(row, mask[i], { ...way, round }));
  }

  function judge(trace, scores) {
    const named = (list) => `${list.length === 1 ? "Row" : "Rows"} ${list.map((i) => i + 1).join(", ")}`;
    const range = (values) => (values.length === 1 ? number(values[0], 3)
      : `${number(Math.min(...values), 3)} to ${number(Math.max(...values), 3)}`);
    const worst = (part) => trace.reduce((best, { weights }, i) => {
      const share = sum(weights.filter((w, j) => part(i, j) && !Number.isNaN(w)));
      return share > best.share ? { share, i } : best;
    }, { share: 0, i: 0 });
    const future = worst(isFuture);
    const hidden = worst((i, j) => !mask[i][j]);
    const others = scores.map((row, i) => row.map((s, j) => (mask[i][j] ? s : s + 1 + j)));
    const moved = compute(others);
    const matters = trace.some(({ weights }, i) =>
      weights.some((w, j) => Math.abs(w - moved[i].weights[j]) > 1e-6));
    const totals = trace.map(({ weights }) => sum(weights));
    const [nan, empty, off] = [[], [], []];
    totals.forEach((total, i) => {
      if (Number.isNaN(total)) nan.push(i);
      else if (total === 0) empty.push(i);
      else if (Math.abs(total - 1) > WEIGHT) off.push(i);
    });
    const rowsRight = nan.length + off.length === 0;
    const rowText = [
      nan.length ? `${named(nan)}: NaN.` : "",
      off.length ? `${named(off)}: sums of ${range(off.map((i) => totals[i]))}.` : "",
      empty.length ? `${named(empty)}: all zeros.` : "",
      nan.length + off.length + empty.length === 0 ? "Every row sums to 1." : "",
    ].filter(Boolean).join(" ");
    return [
      future.share < WEIGHT ? [true, "No query gives weight to its future."]
        : [false, `Leaks: query ${future.i + 1} gives its future ${number(future.share, 3)}.`],
      nan.length ? [false, "Hidden keys get NaN."]
        : hidden.share < WEIGHT ? [true, "Hidden keys get no weight."]
          : [false, `Hidden keys get ${number(hidden.share, 3)} of row ${hidden.i + 1}.`],
      matters ? [false, "Hidden scores change the weights."]
        : [true, "Hidden scores change nothing."],
      [rowsRight, rowText],
    ];
  }

  function show() {
    const scores = start.scores.slice(0, state.n_q).map((row) => row.map((s) => s + state.shift));
    const trace = compute(scores);
    const way = attn.MASKING[state.way] ?? {};
    for (const row of [...given.tBodies[0].rows, ...found.tBodies[0].rows]) {
      const away = !shown(row.sectionRowIndex);
      row.classList.toggle("mask-away", away);
      row.inert = away;
    }
    rows.forEach((i) => columns.forEach((j) => {
      const { button, weight } = cells[i][j];
      if (!shown(i)) return;
      const [allowed, w] = [mask[i][j], trace[i].weights[j]];
      const given = givenText(trace[i].given[j], allowed ? {} : way);
      change(button, { "aria-pressed": allowed, "aria-label": `${nameOf(i, j)}: ${given}` });
      write(button, given);
      button.classList.toggle("mask-own", nRows > 1 && j === i + offset());
      write(weight, number(w));
      weight.style.setProperty("--share", `${100 * (Number.isNaN(w) ? 0 : w)}%`);
      weight.classList.toggle("mask-hidden", !allowed);
      weight.classList.toggle("mask-leak", !allowed && !(w < WEIGHT));
    }));
    trace.forEach(({ weights }, i) => { write(sums[i], number(sum(weights))); });
    const judged = judge(trace, scores);
    judged.forEach(([good, text], n) => {
      write(verdicts[n].mark, good ? "✓" : "✗");
      verdicts[n].element.classList.toggle("mask-wrong", !good);
      write(verdicts[n].text, text);
    });
    say(judged.slice(nRows > 1 ? 0 : 1).map(([, text]) => text).join(" "));
  }

  const [controls, applied] = [[], []];
  const add = (name, control) => { if (has(name)) controls.push(control); };
  const slide = (name, label, min, max, text) => {
    const made = live.slider({ label, min, max, step: 1, value: start[name], text,
      input: (value) => set({ [name]: value }) });
    return { element: made.element, reset: () => made.set(start[name]) };
  };
  const choose = (name, legend, options, keepsMask) => {
    const element = live.choice({ legend, options, value: start[name],
      input: (value) => set({ [name]: value }, keepsMask) });
    return { element, reset: () => live.check(element, start[name]) };
  };
  const kinds = KINDS.filter((kind) => (has("length") || !kind.includes("padding"))
    && (has("width") || kind !== "window"));
  const kindChoice = choose("kind", "Mask", kinds.map((kind) => [kind, kind]));
  add("kind", kindChoice);
  add("n_q", slide("n_q", "Queries", 1, nRows, (n) => `${n}`));
  add("alignment", choose("alignment", "At the same position",
    [["top-left", "first query and first key"], ["bottom-right", "last query and last key"]]));
  add("length", slide("length", nRows > 1 ? "Real keys" : "Visible keys", 0, nK, (n) => `${n} of ${nK}`));
  add("width", slide("width", "Window", 1, nK, (n) => `${n} wide`));
  if (has("way")) {
    const own = live.numberField({ label: "Your number for a hidden score", value: -5, min: -9999, max: 9999,
      input: (typed) => {
        live.check(way.element, "own");
        set({ own: typed, way: "own" }, true);
      } });
    const shift = live.numberField({ label: "Added to all scores", value: 0, min: -999, max: 999,
      input: (typed) => set({ shift: typed }, true) });
    const way = choose("way", "In place of a hidden score", WAYS, true);
    const types = ["float64", "float32"].map((type) => [type, type]);
    const beside = (text, field) =>
      el("span", {}, el("span", { "aria-hidden": "true" }, text), field.element);
    applied.push(way, choose("dtype", "Computed in", types, true), {
      element: el("div", { class: "mask-numbers" }, beside("Your number", own),
        beside("Added to all", shift)),
      reset: () => { own.show(-5); shift.show(0); },
    });
  }

  function reset() {
    state = { kind: "padding", n_q: nRows, length: nK, width: nK, alignment: "top-left", way: "right",
      dtype: "float64", own: -5, shift: 0, ...start };
    for (const control of [...controls, ...applied]) control.reset();
    set({});
  }

  const group = (list) => el("div", { class: "mask-controls" }, ...list.map(({ element }) => element));
  root.append(
    el("p", { class: "live-hint" }, "Click or paint scores to hide and show them. "
      + "With the keyboard: arrow keys and Space; Shift and an arrow key paint."),
    group(controls), el("div", { class: "live-columns mask-grids" }, given, found),
    el("ul", { class: "mask-verdicts" }, ...verdicts.slice(nRows > 1 ? 0 : 1).map(({ element }) => element)),
    ...(applied.length ? [group(applied)] : []),
    live.button("Start again", reset));
  reset();
});
