// Attention of one query read block by block: running maximum, sum and output, beside all at once.
"use strict";

live.figure("streaming-softmax", (root, start) => {
  const { el, change, write, number } = live;
  const keys = start.scores.map((_, i) => i);
  const SIZES = [1, 2, 3, 4, 8];
  const WAYS = [
    ["right", "sum and output"],
    ["running-sum-not-rescaled", "the output alone"],
    ["running-output-not-rescaled", "the sum alone"],
    ["nothing-rescaled", "neither"],
  ];
  const say = live.announcer(root);
  const state = {};

  const fields = ["score", "value"].map((name) => keys.map((i) => live.numberField({
    label: `${name === "score" ? "Score" : "Value"} of key ${i + 1}`, value: 0, min: -999, max: 999,
    input: (typed) => { state[`${name}s`][i] = typed; show(); },
  })));
  const terms = keys.map(() => el("td", { class: "stream-term" }));
  const keyRows = keys.map((i) => el("tr", {}, el("th", { scope: "row" }, `${i + 1}`),
    ...fields.map((column) => el("td", {}, column[i].element)), terms[i]));
  const keyTable = el("table", { class: "stream-keys" },
    live.tableHead("key", "score", "value", "exp(score − m)"),
    el("tbody", {}, ...keyRows));

  const stepRows = keys.map((i) => {
    const cells = Array.from({ length: 4 }, () => el("td"));
    return { cells, row: el("tr", {}, el("th", { scope: "row" }, `${i + 1}`), ...cells) };
  });
  const dense = el("td");
  const difference = el("td");
  const stepTable = el("table", { class: "stream-steps" },
    live.tableHead("block", "m", "factor", "ℓ", "o"),
    el("tbody", {}, ...stepRows.map(({ row }) => row)),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row", colspan: 4 }, "all keys at once"), dense),
      el("tr", {}, el("th", { scope: "row", colspan: 4 }, "difference"), difference)));
  const sentence = live.sentence("Block 8 of 8 brings a larger score, 00.00. Nothing is, though all should "
    + "be, multiplied by exp(0.00 − 00.00) = 0.000. All keys are read, and the output is wrong by 00.00.");

  function told(step, before, n) {
    const block = `Block ${n} of ${Math.ceil(keys.length / state.size)}`;
    if (!before) return `${block}: the first, with nothing before it to rescale.`;
    if (step.rescale === 1) {
      return `${block}: no score is larger than ${number(before.largest)}, so what was kept stays.`;
    }
    const subtracted = step.largest < 0 ? `(${number(step.largest)})` : number(step.largest);
    const rescaled = { right: "What was kept is", "running-sum-not-rescaled": "The output is",
      "running-output-not-rescaled": "The sum is", "nothing-rescaled": "Nothing is, though all should be," };
    return `${block} brings a larger score, ${number(step.largest)}. ${rescaled[state.way]} multiplied by `
      + `exp(${number(before.largest)} − ${subtracted}) = ${number(step.rescale, 3)}.`;
  }

  function show() {
    const values = state.values.map((value) => [value]);
    const steps = [...attn.streamRow(state.scores, values, state.size, attn.STREAMING[state.way])];
    state.seen = Math.min(state.seen, steps.length);
    const now = steps[state.seen - 1];
    keys.forEach((i) => {
      const block = Math.floor(i / state.size);
      const read = block < state.seen;
      const term = read ? Math.exp(state.scores[i] - now.largest) : 0;
      write(terms[i], read ? number(term, 3) : "not read");
      terms[i].style.setProperty("--share", `${100 * term}%`);
      const { classList } = keyRows[i];
      classList.toggle("stream-now", block === state.seen - 1);
      classList.toggle("stream-unread", !read);
      classList.toggle("stream-first", i % state.size === 0);
      classList.toggle("stream-largest", read && state.scores[i] === now.largest);
      fields[0][i].show(state.scores[i]);
      fields[1][i].show(state.values[i]);
    });
    stepRows.forEach(({ row, cells }, n) => {
      row.classList.toggle("stream-none", n >= steps.length);
      row.classList.toggle("stream-now", n === state.seen - 1);
      const step = steps[n];
      const shown = n < state.seen ? [number(step.largest), n === 0 ? "0" : number(step.rescale, 3),
        number(step.total, 3), number(attn.streamOutput(step)[0])] : ["", "", "", ""];
      cells.forEach((cell, c) => write(cell, shown[c]));
    });
    const whole = attn.mix(attn.softmax(state.scores), values)[0];
    dense.textContent = number(whole);
    const output = state.seen === 0 ? 0 : attn.streamOutput(now)[0];
    const off = output - whole;
    difference.textContent = state.seen === 0 ? "" : number(off);
    const result = state.seen < steps.length ? `The output so far is ${number(output)}.`
      : Math.abs(off) < 0.005 ? "All keys are read: the output is that of all keys at once."
        : `All keys are read, and the output is wrong by ${number(Math.abs(off))}.`;
    write(sentence, state.seen === 0 ? "Nothing is read yet. What will the first block give?"
      : `${told(now, steps[state.seen - 2], state.seen)} ${result}`);
    change(back, { "aria-disabled": state.seen === 0 });
    change(next, { "aria-disabled": state.seen === steps.length });
    say(sentence.textContent);
  }

  const go = (by) => { state.seen = Math.max(0, state.seen + by); show(); };
  const back = live.button("Back", () => go(-1));
  const next = live.button("Next block", () => go(1));
  const size = live.choice({ legend: "Keys in a block", value: start.block_size,
    options: SIZES.filter((n) => n <= keys.length).map((n) => [n, `${n}`]),
    input: (n) => { Object.assign(state, { size: n, seen: 1 }); show(); } });
  const way = live.choice({ legend: "A larger score rescales", value: "right", options: WAYS,
    input: (id) => { state.way = id; show(); } });

  function reset() {
    Object.assign(state, { scores: [...start.scores], values: [...start.values], size: start.block_size,
      seen: start.blocks_seen, way: "right" });
    live.check(way, state.way);
    live.check(size, state.size);
    show();
  }

  root.append(
    el("p", { class: "live-hint" }, "Type scores and values of your own, and read them block by block. "
      + "Kept are the largest score m, the sum ℓ and the output o."),
    size, way,
    el("div", { class: "stream-buttons" }, next, back, live.button("Start again", reset)), sentence,
    el("div", { class: "live-columns stream-columns" }, keyTable, stepTable));
  reset();
});
