// Random pairs of a query and a key: their scores pile up beside the normal curve of the theory.
// If the start says what mean the entries have, they can be made to break each assumption.
"use strict";

live.figure("score-spread", async (root, start) => {
  await live.load("generator.js");
  const { el, svg, change, write, number, grouped } = live;
  const MAX_PAIRS = 100000;
  const MAX_REDRAWN = 10000; // after a change of the width or of the entries
  const BUDGET = 7; // milliseconds of drawing in a frame, so that all of it takes less than 16
  const FRAMES = 40; // in which a sample fills at the fastest
  const BINS = 81; // an odd number, so that 0 is in the middle of one
  const [WIDE, TALL] = [300, 100]; // of the chart, which is stretched
  const breaking = "mean" in start;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const say = live.announcer(root);

  const DIVISORS = { 1: () => 1, root: Math.sqrt, width: (dK) => dK };
  const divisorText = { 1: () => "score", root: (dK) => `score ÷ √${dK}`, width: (dK) => `score ÷ ${dK}` };
  const REACH = { 1: 100, root: 5, width: 5 }; // the axis at its narrowest
  // Entries of mean 0 and variance 1, from a generator.
  const KINDS = {
    normal: (random) => random.normal,
    uniform: (random) => () => Math.sqrt(12) * (random.uniform() - 0.5),
    sign: (random) => () => (random.uniform() < 0.5 ? -1 : 1),
    lopsided: (random) => () => -Math.log(1 - random.uniform()) - 1,
  };

  const scores = new Float64Array(MAX_PAIRS); // raw
  const entries = { ...attn.ASSUMED };
  let [dK, divisor, kind, seed] = [start.d_k, breaking ? "root" : "1", "normal", start.seed];
  let [count, target, perFrame, next, running] = [0, 0, 0, null, false];

  function clear() {
    const draw = KINDS[kind](randomState(seed));
    next = breaking ? () => attn.drawRelatedScore(draw, dK, entries) : () => attn.drawScore(draw, dK);
    [count, target] = [0, 0];
  }

  function drawMore(pairs) {
    target = Math.min(MAX_PAIRS, Math.max(target, count) + pairs);
    perFrame = Math.ceil((target - count) / FRAMES);
    if (running) return;
    running = true;
    requestAnimationFrame(frame);
  }

  function frame() {
    const until = performance.now() + BUDGET;
    const last = still.matches ? target : Math.min(target, count + perFrame);
    const betweenLooks = Math.ceil(256 / dK); // at the clock
    while (count < last && performance.now() < until) {
      for (let i = 0; i < betweenLooks && count < last; i++) scores[count++] = next();
    }
    running = count < target;
    if (!running || !still.matches) show();
    if (running) requestAnimationFrame(frame);
  }

  function restart() { // the same numbers for other entries, as many as there were
    const pairs = Math.min(Math.max(count, target), MAX_REDRAWN);
    clear();
    show();
    if (pairs) drawMore(pairs);
  }

  const bars = svg("path", { class: "spread-bars" });
  const assumed = svg("path", { class: "spread-curve spread-assumed" });
  const curve = svg("path", { class: "spread-curve" });
  const chart = svg("svg", { class: "spread-chart", viewBox: `0 0 ${WIDE} ${TALL}`,
    preserveAspectRatio: "none", "aria-hidden": "true" }, bars, assumed, curve);
  const ticks = [-1, -0.5, 0, 0.5, 1].map((part) => ({ part, element: el("span") }));
  ticks.forEach(({ part, element }) => element.style.setProperty("--place", `${50 + 50 * part}%`));
  const axis = el("div", { class: "spread-axis", "aria-hidden": "true" },
    ...ticks.map((tick) => tick.element));
  const axisName = live.sentence(breaking
    ? "score ÷ √1024 (line: theory; dashes: as assumed, mean 0, sd 0.0313)" : "score ÷ √1024 (line: normal curve of the theory)", { class: "spread-name" });

  const HEADS = ["measured", "theory"];
  const rows = ["pairs", "mean", "variance", "sd"].map((name) => {
    const cells = HEADS.map(() => el("td"));
    return { cells, element: el("tr", {}, el("th", { scope: "row" }, name), ...cells) };
  });
  const table = el("table", { class: "spread-table" },
    live.tableHead("", ...HEADS),
    el("tbody", {}, ...rows.map((row) => row.element)));
  const verdict = live.sentence("The measured variance is 00.0 standard errors below theory. "
    + "100 000 pairs are the most.");

  const exact = (value) => (Math.abs(value) < 1e5 && value !== 0
    ? String(Number(value.toPrecision(4))).replace("-", "−") : number(value, 0));

  // Scores of signs are every second whole number: each bin gets the same number of them.
  function bins(reach, by) {
    const width = (2 * reach) / BINS;
    if (breaking || kind !== "sign") return { first: -reach, width, n: BINS };
    const step = 2 / by;
    const whole = Math.max(1, Math.round(width / step)) * step;
    const before = Math.ceil(reach / whole) + 1;
    const middle = (dK % 2 ? 1 : 0) / by - step / 2;
    return { first: middle - before * whole, width: whole, n: 2 * before + 1 };
  }

  function heights({ first, width, n }, by) {
    const found = new Uint32Array(n);
    for (let i = 0; i < count; i++) {
      const bin = Math.floor((scores[i] / by - first) / width);
      if (bin >= 0 && bin < n) found[bin]++;
    }
    return found;
  }

  // The normal curve, as a list of [score, height], of area 1.
  function bell(mean, variance) {
    const sd = Math.sqrt(variance);
    return Array.from({ length: 81 }, (_, i) => {
      const z = (i - 40) / 8;
      return [mean + z * sd, Math.exp((-z * z) / 2) / (sd * Math.sqrt(2 * Math.PI))];
    });
  }

  function drawChart(by, [mean, variance], asAssumed) {
    const sd = Math.sqrt(variance);
    let reach = REACH[divisor];
    while (Math.abs(mean) + 3 * sd > reach) reach *= 2;
    const layout = bins(reach, by);
    const found = heights(layout, by);
    const area = Math.max(count, 1) * layout.width; // of all bars, in pairs times scores
    const theory = bell(mean, variance);
    const usual = bell(...asAssumed);
    const top = (points) => Math.max(...points.map((point) => point[1]));
    // A much narrower curve as assumed leaves through the top, so that the bars stay in sight.
    const tallest = Math.max(top(theory), breaking ? Math.min(top(usual), 1.7 * top(theory)) : 0);
    const peak = Math.max(...found, area * tallest) * 1.05;
    const x = (score) => (((score + reach) / (2 * reach)) * WIDE).toFixed(2);
    const y = (height) => (TALL * (1 - height / peak)).toFixed(2);
    let path = `M${x(layout.first)} ${TALL}`;
    found.forEach((height, i) => {
      path += `V${y(height)}H${x(layout.first + (i + 1) * layout.width)}`;
    });
    change(bars, { d: `${path}V${TALL}Z` });
    const line = (points) =>
      `M${points.map(([score, height]) => `${x(score)} ${y(area * height)}`).join("L")}`;
    change(curve, { d: line(theory) });
    change(assumed, { d: breaking ? line(usual) : "" });
    for (const { part, element } of ticks) element.textContent = exact(part * reach);
    const [usualMean, usualSd] = [asAssumed[0], Math.sqrt(asAssumed[1])].map(exact);
    axisName.textContent = `${divisorText[divisor](dK)} (line: ${breaking
      ? `theory; dashes: as assumed, mean ${usualMean}, sd ${usualSd}` : "normal curve of the theory"})`;
  }

  function show() {
    const by = DIVISORS[divisor](dK);
    const scaled = ([mean, variance]) => [mean / by, variance / by ** 2];
    const theory = scaled(attn.scoreMoments(dK, entries));
    drawChart(by, theory, scaled(attn.scoreMoments(dK)));
    const column = ([mean, variance]) => [mean, variance, Math.sqrt(variance)].map(exact);
    column(theory).forEach((text, i) => { rows[i + 1].cells[1].textContent = text; });
    rows[0].cells[0].textContent = grouped(count);
    const sample = scores.subarray(0, count);
    const texts = ["–", "–", "–"];
    let said = count === 1 ? `The score of the pair is ${number(sample[0] / by)}.`
      : "No pair is drawn yet.";
    if (count > 1) {
      const [mean, variance] = attn.estimates(sample.map((score) => score / by));
      const sd = Math.sqrt(variance[0]);
      texts[0] = live.measured(...mean);
      texts[1] = live.measured(...variance);
      texts[2] = live.measured(sd, variance[1] / (2 * sd));
      const off = (variance[0] - theory[1]) / variance[1];
      said = variance[1] > 0
        ? `The measured variance is ${number(Math.abs(off), 1)} standard errors `
          + `${off < 0 ? "below" : "above"} theory.`
        : "All scores have the same distance from their mean.";
    }
    texts.forEach((text, i) => { rows[i + 1].cells[0].textContent = text; });
    if (count === MAX_PAIRS) said += ` ${grouped(MAX_PAIRS)} pairs are the most.`;
    verdict.textContent = said;
    say(`${grouped(count)} pairs, ${divisorText[divisor](dK)}. Variance ${texts[1]}, `
      + `in theory ${exact(theory[1])}; mean ${texts[0]}, in theory ${exact(theory[0])}. ${said}`);
  }

  const width = live.slider({
    label: "Width d_k", min: 0, max: 10, step: 1, value: Math.log2(dK),
    text: (power) => String(2 ** power), input: (power) => { dK = 2 ** power; restart(); },
  });
  const divisors = live.choice({
    legend: "Divide the score by", value: divisor,
    options: [["1", "1"], ["root", "√d_k"], ["width", "d_k"]],
    input: (option) => { divisor = option; show(); },
  });
  const kinds = () => live.choice({
    legend: "Entries, all of mean 0 and variance 1", value: kind,
    options: [["normal", "normal"], ["uniform", "uniform"], ["sign", "+1 or −1"],
      ["lopsided", "lopsided (exponential)"]],
    input: (option) => { kind = option; restart(); },
  });

  const BROKEN = [
    ["mean", "Mean", -1, 1, 0.05],
    ["variance", "Variance", 0.25, 4, 0.25],
    ["correlation", "Correlation in a vector", 0, 1, 0.05],
    ["agreement", "Correlation of query and key", -1, 1, 0.05],
  ];
  function sliders() {
    const made = BROKEN.map(([name, label, min, max, step]) => {
      entries[name] = start[name];
      return [name, live.slider({ label, min, max, step, value: start[name], text: (x) => number(x),
        input: (x) => { entries[name] = x; restart(); } })];
    });
    const mend = live.button("All as assumed", () => {
      Object.assign(entries, attn.ASSUMED);
      made.forEach(([name, slider]) => slider.set(entries[name]));
      restart();
    });
    return el("fieldset", { class: "live-choice" }, el("legend", {}, "Entries, normally distributed"),
      ...made.map(([, slider]) => slider.element), mend);
  }

  const buttons = el("div", { class: "spread-buttons" },
    ...[["Draw 1 pair", 1], ["100 pairs", 100], [`${grouped(10000)} pairs`, 10000]].map(
      ([label, pairs]) => live.button(label, () => drawMore(pairs))),
    live.button("New sample", () => { seed += 1; clear(); show(); }));

  root.append(el("p", { class: "live-hint" }, "Draw pairs of a query and a key, and see where their "
    + "scores fall."), chart, axis, axisName, buttons,
  el("div", { class: "live-columns" },
    el("div", { class: "spread-controls" }, width.element, divisors, breaking ? sliders() : kinds()),
    el("div", {}, table, verdict)));
  clear();
  show();
});
