// A row of scores to drag and a temperature: weights, entropy, and the Jacobian if the start asks for it.
"use strict";

live.figure("softmax-scores", (root, start) => {
  const { el, svg, change, write, number } = live;
  const [FEWEST, MOST] = [2, 6];
  const STEP = 0.5; // of a score
  const WIDTH = 260;
  const [TOP, ZERO, TALL] = [14, 84, 70]; // of the scores: upper margin, the line of 0, longest bar
  const [FLOOR, WEIGHT] = [92, 72]; // of the weights: their line of 0, the bar of weight 1
  const { reach } = start;
  const names = Array.from({ length: MOST }, (_, i) => String.fromCharCode(65 + i));
  const say = live.announcer(root);
  let scores, temperature, moved;

  const toY = (score) => ZERO - (score / reach) * TALL;
  const toPoint = ([x, y]) => [x, ((ZERO - y) / TALL) * reach];
  const within = (score) =>
    Math.max(-reach, Math.min(reach, Math.round(score / STEP) * STEP));
  const centre = (i) => (WIDTH * (i + 0.5)) / scores.length;
  const weight = (share) => (share > 0.9995 && share < 1 ? ">0.999" : number(share, 3));
  const small = (x) => (x > 0 && x < 0.001 ? "<0.001" : number(x, 3));

  function put(i, score) {
    scores[i] = score;
    moved = i;
    show();
  }

  const keys = names.map((name, i) => {
    const field = live.numberField({ label: `Score of key ${name}`, value: 0, min: -reach, max: reach,
      input: (typed) => put(i, typed) });
    const handle = live.handle({
      label: `Score of key ${name}`, colour: "var(--live-query)", step: STEP, ends: [-reach, reach],
      at: () => [0, scores[i]], toPoint, text: () => number(scores[i], 1),
      move: ([, score]) => put(i, within(score)),
    });
    return {
      name, field, handle,
      bar: svg("rect", { width: 20, class: "scores-bar" }),
      share: svg("rect", { width: 28, class: "scores-weight" }),
      shown: svg("text", { "text-anchor": "middle" }),
      typed: el("div", {}, el("span", { "aria-hidden": "true" }, name), field.element),
    };
  });

  const rule = (y) => svg("line", { x1: 0, x2: WIDTH, y1: y, y2: y, class: "scores-rule" });
  const scoreChart = svg("svg", { viewBox: `0 0 ${WIDTH} ${ZERO + TALL + TOP}` });
  const weightChart = svg("svg", { viewBox: `0 0 ${WIDTH} ${FLOOR + 4}`, "aria-hidden": "true" });
  const typed = el("div", { class: "scores-typed" });

  const cells = names.map(() => names.map(() => el("td")));
  const heads = names.map((name) => el("th", { scope: "col" }, name));
  const matrix = el("table", { class: "scores-jacobian" });

  const readout = (label) => {
    const value = el("td");
    return { value, row: el("tr", {}, el("th", { scope: "row" }, label), value) };
  };
  const [largest, bits, size] = ["largest weight", "entropy, in bits", "norm of the Jacobian"].map(readout);

  const slider = live.slider({
    label: "Temperature", min: -3, max: 4, step: 0.25, value: Math.log2(start.temperature),
    text: (power) => number(2 ** power),
    input: (power) => { temperature = 2 ** power; show(); },
  });

  function setNumber(n) {
    if (n < FEWEST || n > MOST) return;
    scores = Array.from({ length: n }, (_, i) => scores[i] ?? 0);
    moved = Math.min(moved, n - 1);
    layOut();
    show();
  }
  const more = live.button("Add a key", () => setNumber(scores.length + 1));
  const fewer = live.button("Remove a key", () => setNumber(scores.length - 1));

  // A challenge's `met` gets the state and returns why it is met, or nothing.
  const same = (a, b) => a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) < 5e-4);
  const ranked = (weights) => weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
  const toTemperatureOne = (lead, t) => `${number(lead, 1)} ÷ ${number(t)} = ${number(lead / t)}`;
  const begun = attn.softmax(start.scores.map((score) => score / start.temperature));

  const aboutWeights = [
    ["Make it saturate: one weight above 0.99.", ({ weights }) => {
      const [first, second] = ranked(weights);
      if (weights[first] <= 0.99) return null;
      const lead = scores[first] - scores[second];
      const times = number(weights[first] / weights[second], 0);
      return `Key ${names[first]} is ahead by ${toTemperatureOne(lead, temperature)}, and the exponential `
        + `makes that ${times} times the weight of key ${names[second]}.`;
    }],
    ["Leave the scores of the start, and make no weight more than twice another.", ({ weights }) => {
      const [low, high] = [Math.min(...weights), Math.max(...weights)];
      if (!same(scores, start.scores) || high > 2 * low) return null;
      const lead = Math.max(...scores) - Math.min(...scores);
      return `The largest lead is now ${toTemperatureOne(lead, temperature)}, and the exponential of that is `
        + `${number(high / low)}. No order changed: a temperature moves all weights towards each other.`;
    }],
    ["Move every score, and keep the weights of the start.", ({ weights }) => {
      const shift = scores[0] - start.scores[0];
      if (!same(weights, begun) || temperature !== start.temperature || !shift) return null;
      return `All scores moved by ${number(shift, 1)}. Softmax sees only their differences.`;
    }],
    ["Set the temperature to 2, and get the weights of the start back.", ({ weights }) => {
      if (temperature !== 2 || !same(weights, begun)) return null;
      const gap = scores[0] - scores[1];
      return `A lead of ${toTemperatureOne(gap, 2)} counts as much as ${number(gap / 2)} at temperature 1: `
        + "twice the gaps at twice the temperature.";
    }],
  ];

  const aboutJacobian = [
    ["Make it saturate: the norm below 0.01.", ({ weights, norm }) => {
      if (norm >= 0.01) return null;
      const [first] = ranked(weights);
      return `Key ${names[first]} has the weight ${weight(weights[first])}. Every entry is a product with a `
        + `factor near 0: its own 1 − w is ${small(1 - weights[first])}, and so is every other weight.`;
    }],
    ["Make the norm as large as it gets.", ({ weights, norm }) => {
      if (norm < 0.495) return null;
      const [a, b] = ranked(weights);
      const both = number(weights[a] + weights[b], 3);
      return `Keys ${names[a]} and ${names[b]} share ${both} of the weight, about half each. `
        + "Two keys in balance give 2 · ½ · ½ = ½, and no row of weights gives more.";
    }],
    ["Keep the norm above 0.4, and make one key deaf: no entry of its row above 0.001.",
      ({ weights, matrix: rows, norm }) => {
        const deaf = rows.findIndex((row) => row.every((entry) => Math.abs(entry) < 0.001));
        if (norm <= 0.4 || deaf < 0) return null;
        return `Key ${names[deaf]} has the weight ${small(weights[deaf])}, and its row is that times `
          + "something below 1. So a softmax can be lively as a whole, and deaf where a key has lost.";
      }],
  ];
  const challenges = (start.jacobian ? aboutJacobian : aboutWeights).map(([title, test]) => {
    const mark = el("span", { class: "scores-mark" });
    return { test, mark, item: el("li", {}, mark, title), why: null };
  });
  const WHY = "When a challenge is met, this says why.";
  const reason = live.sentence(start.jacobian
    ? "Done. Key A has the weight >0.999. Every entry is a product with a factor near 0: its own 1 − w is "
      + "<0.001, and so is every other weight."
    : "Done. The largest lead is now 00.0 ÷ 00.00 = 0.00, and the exponential of that is 0.00. No order "
      + "changed: a temperature moves all weights towards each other.", { class: "scores-reason" });

  function layOut() {
    const used = keys.slice(0, scores.length);
    scoreChart.replaceChildren(...[reach, -reach].map((end) => svg("text", { x: 0,
      y: toY(end) + (end > 0 ? -3 : 13), "aria-hidden": "true" }, number(end, 0))),
    rule(ZERO), ...used.map((key) => key.bar), ...used.map((key) => key.handle.element));
    weightChart.replaceChildren(rule(FLOOR), ...used.flatMap((key) => [key.share, key.shown]));
    typed.replaceChildren(...used.map((key) => key.typed));
    typed.style.setProperty("--keys", scores.length);
    matrix.replaceChildren(el("caption", {},
      "Jacobian: how each weight (row) answers to each score ÷ temperature (column)"),
    el("thead", {}, el("tr", {}, el("td"), ...heads.slice(0, scores.length))),
    el("tbody", {}, ...used.map((key, i) => el("tr", {}, el("th", { scope: "row" }, key.name),
      ...cells[i].slice(0, scores.length)))));
    used.forEach((key, i) => {
      change(key.bar, { x: centre(i) - 10 });
      change(key.share, { x: centre(i) - 14 });
      change(key.shown, { x: centre(i) });
    });
    more.setAttribute("aria-disabled", scores.length === MOST);
    fewer.setAttribute("aria-disabled", scores.length === FEWEST);
  }

  function showJacobian(rows) {
    rows.forEach((row, i) => row.forEach((entry, j) => {
      const cell = cells[i][j];
      write(cell, number(entry));
      cell.style.setProperty("--tint", `${Math.min(100, 400 * Math.abs(entry))}%`);
      cell.classList.toggle("scores-negative", entry < 0);
      cell.classList.toggle("scores-moved", j === moved);
    }));
  }

  function show() {
    const weights = attn.softmax(scores.map((score) => score / temperature));
    const rows = attn.jacobian(weights);
    const state = { weights, matrix: rows, norm: attn.jacobianNorm(weights) };
    const entropy = attn.entropy(weights);
    weights.forEach((share, i) => {
      const key = keys[i];
      const y = toY(Math.max(-reach, Math.min(reach, scores[i])));
      change(key.bar, { y: Math.min(y, ZERO), height: Math.abs(y - ZERO) });
      key.handle.show([centre(i), y]);
      key.field.show(scores[i]);
      change(key.share, { y: FLOOR - WEIGHT * share, height: WEIGHT * share });
      change(key.shown, { y: FLOOR - WEIGHT * share - 5 });
      key.shown.textContent = weight(share);
    });
    if (start.jacobian) showJacobian(rows);
    const most = Math.max(...weights);
    largest.value.textContent = weight(most);
    bits.value.textContent = `${number(entropy)} of ${number(Math.log2(scores.length))}`;
    size.value.textContent = number(state.norm, 3);

    const best = names.slice(0, scores.length).filter((_, i) => most - weights[i] < 5e-4);
    const sentence = `${best.length > 1 ? `Keys ${live.listed(best)} have` : `Key ${best[0]} has`} the largest `
      + `weight, ${weight(most)}. The entropy is ${number(entropy)} bits`
      + (start.jacobian ? `, the norm of the Jacobian ${number(state.norm, 3)}.` : ".");
    const open = challenges.filter((challenge) => !challenge.why);
    open.forEach((challenge) => { challenge.why = challenge.test(state); });
    const news = open.map((challenge) => challenge.why).filter(Boolean).join(" ");
    if (news) reason.textContent = `Done. ${news}`;
    showChallenges();
    say(news ? `${reason.textContent} ${sentence}` : sentence);
  }

  function showChallenges() {
    for (const { mark, why } of challenges) {
      mark.textContent = why ? "✓" : "○";
      change(mark, { role: "img", "aria-label": why ? "Done:" : "Open:" });
    }
  }

  function reset() {
    [scores, temperature, moved] = [[...start.scores], start.temperature, 0];
    challenges.forEach((challenge) => { challenge.why = null; });
    slider.set(Math.log2(temperature));
    reason.textContent = WHY;
    layOut();
    show();
  }

  root.append(
    el("p", { class: "live-hint" }, "Drag the tip of a bar, use the arrow keys on it, or type a score."),
    el("div", { class: "live-columns" },
      el("div", { class: "scores-charts" }, scoreChart, typed, weightChart, slider.element),
      el("div", {},
        ...(start.jacobian ? [matrix] : []),
        el("table", {}, el("tbody", {}, largest.row, bits.row, ...(start.jacobian ? [size.row] : []))),
        el("p", { class: "scores-title" }, "Challenges"),
        el("ul", { class: "scores-challenges" }, ...challenges.map((challenge) => challenge.item)), reason,
        el("div", { class: "scores-buttons" }, more, fewer, live.button("Start again", reset)))));
  reset();
});
