// What a model's layers cost: operations by part, where they cross, memory of weights and cache.
"use strict";

live.figure("layer-costs", (root, start) => {
  const { el, svg, change, write, number, grouped } = live;
  const OWN = "sizes of your own";
  const [SHORTEST, LONGEST] = [4, 20]; // powers of 2
  const WIDTHS = [64, 128, 256, 512, 768, 1024, 2048, 4096, 8192, 12288, 16384];
  const HEADS = [1, 2, 4, 8, 12, 16, 32, 64, 96, 128];
  const BYTES = [[4, "4 bytes (float32)"], [2, "2 bytes (float16)"], [1, "1 byte (int8)"]];
  const models = start.models.map(([name, layers, dModel, heads, kvHeads, context]) =>
    ({ name, layers, dModel, heads, kvHeads, context }));
  const PARTS = [
    ["feedForward", "feed-forward", "var(--live-line)", "7 4"],
    ["projections", "projections", "var(--live-query)", ""],
    ["attention", "scores and mix", "var(--live-key)", ""],
    ["softmax", "softmax", "var(--live-output)", "2 3"],
  ];
  const say = live.announcer(root);
  const state = {};

  const layer = (n) => (state.step ? attn.layerFlops(1, state.dModel, state.heads, n - 1)
    : attn.layerFlops(n, state.dModel, state.heads));
  const short = (value) => `${Number(value < 1000 ? value.toPrecision(3) : value.toFixed(0))}`;
  const raised = (power) => [...`${power}`].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");

  function scientific(value) {
    if (value < 1e6) return grouped(value);
    const [digits, power] = value.toExponential(2).split("e+");
    return `${digits}\u202f·\u202f10${raised(power)}`;
  }

  function bytesText(bytes) {
    const power = Math.min(5, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
    return `${short(bytes / 2 ** (10 * power))} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][power]}`;
  }

  // The chart: both axes logarithmic, n to the right, operations of all layers upwards.
  const [left, right, top, bottom] = [42, 310, 10, 210];
  const x = (n) => left + ((right - left) * (Math.log2(n) - SHORTEST)) / (LONGEST - SHORTEST);
  let span = [0, 1]; // powers of 10
  const y = (count) => bottom - ((bottom - top) * (Math.log10(count) - span[0])) / (span[1] - span[0]);
  const lines = PARTS.map(([, , colour, dash]) => svg("path", { class: "cost-line", stroke: colour,
    "stroke-dasharray": dash }));
  const yMarks = [0, 1, 2].map(() => svg("text", { x: left - 4, "text-anchor": "end" }));
  const now = svg("line", { class: "cost-now", y1: top, y2: bottom });
  const nowDots = PARTS.map(([, , colour]) => svg("circle", { r: 4, fill: colour }));
  const crossings = [["projections", -1], ["projections and feed-forward", 1]].map(([name, side]) => ({
    name, side, dot: svg("circle", { r: 6, class: "cost-crossing" }),
    line: svg("line", { class: "cost-now", y2: bottom, "stroke-dasharray": "2 3" }),
    text: svg("text", { y: bottom - 5, "text-anchor": side < 0 ? "end" : "start" }),
  }));
  const chart = svg("svg", { viewBox: "0 0 330 252", class: "cost-chart", role: "img",
    "aria-label": "Operations against the number of tokens, on logarithmic axes; numbers in the table." },
  svg("path", { class: "cost-axes", d: `M${left} ${top}V${bottom}H${right}` }),
  ...[["16", 4], ["256", 8], ["4K", 12], ["64K", 16], ["1M", 20]].map(([text, power]) =>
    svg("text", { x: x(2 ** power), y: bottom + 18, "text-anchor": "middle" }, text)),
  svg("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle" }, "tokens n"),
  ...yMarks, now, ...lines, ...nowDots, ...crossings.flatMap(({ line, dot, text }) => [line, dot, text]));

  const swatch = (stroke, dash) =>
    svg("svg", { viewBox: "0 0 24 8", class: "cost-swatch", "aria-hidden": "true" },
      svg("path", { d: "M0 4H24", class: "cost-line", stroke, "stroke-dasharray": dash }));
  const rows = PARTS.map(([key, name, colour, dash]) => ({
    key, count: el("td"), share: el("td", { class: "cost-share" }),
    head: el("th", { scope: "row" }, swatch(colour, dash), name),
  }));
  const totalCell = el("td");
  const operations = el("table", {}, live.tableHead("operations", "all layers", "share"),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, row.head, row.count, row.share))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "sum"), totalCell, el("td", {}, "100 %"))));
  const stores = ["weights, one layer", "weights, all layers", "cache, all layers"].map(
    (name) => ({ name, cell: el("td") }));
  const memory = el("table", {}, live.tableHead("memory", "size"), el("tbody", {},
    ...stores.map(({ name, cell }) => el("tr", {}, el("th", { scope: "row" }, name), cell))));
  const sentence = live.sentence("At n = 1 048 576, scores and mix are 00.0 % of the operations. They "
    + "overtake the projections at n = 16 384, and projections and feed-forward part together at n = 49 152.",
  { class: "cost-sentence" });

  const divisors = () => HEADS.filter((heads) => state.dModel % heads === 0);
  const sharing = () => HEADS.filter((heads) => state.heads % heads === 0);
  const nearest = (list, wanted) => list.filter((value) => value <= wanted).at(-1) ?? list[0];

  // A slider over a list that depends on the other sizes.
  function listSlider(label, list, key, text) {
    const made = live.slider({ label, min: 0, max: Math.max(1, list().length - 1), step: 1, value: 0,
      text: (at) => (list().length ? text(list()[Math.min(at, list().length - 1)]) : ""),
      input: (at) => { state[key] = list()[at]; own(); } });
    return { element: made.element, show: () => made.set(list().indexOf(state[key]), list().length - 1) };
  }

  function own() {
    state.model = OWN;
    state.heads = nearest(divisors(), state.heads);
    state.kvHeads = nearest(sharing(), state.kvHeads);
    show();
  }

  function choose(name, length) {
    state.model = name;
    const found = models.find((model) => model.name === name) ?? state;
    const { layers, dModel, heads, kvHeads, context } = found;
    Object.assign(state, { model: name, layers, dModel, heads, kvHeads });
    if (length ?? context) state.power = Math.log2(length ?? context);
    show();
  }

  state.dModel = WIDTHS[0];
  state.heads = 1;
  const modelChoice = live.choice({ legend: "Model", value: start.model,
    options: [...models.map(({ name }) => [name, name]), [OWN, OWN]], input: (name) => choose(name) });
  const tokens = live.slider({ label: "Tokens n", min: SHORTEST, max: LONGEST, step: 1, value: SHORTEST,
    text: (power) => grouped(2 ** power), input: (power) => { state.power = power; show(); } });
  const layers = live.slider({ label: "Layers", min: 1, max: 128, step: 1, value: 1, text: (n) => `${n}`,
    input: (n) => { state.layers = n; own(); } });
  const sliders = [
    listSlider("Width d", () => WIDTHS, "dModel", (width) => `${width}`),
    listSlider("Heads", divisors, "heads", (heads) => `${heads}`),
    listSlider("Key/value heads", sharing, "kvHeads", (heads) => `${heads}`),
  ];
  const stepChoice = live.choice({ legend: "Work", value: 0,
    options: [[0, "read n tokens at once"], [1, "write token n, the others in the cache"]],
    input: (step) => { state.step = Number(step); show(); } });
  const bytesChoice = live.choice({ legend: "Bytes of a number", value: 2, options: BYTES,
    input: (bytes) => { state.bytes = Number(bytes); show(); } });

  function draw(n) {
    const powers = Array.from({ length: LONGEST - SHORTEST + 1 }, (_, i) => 2 ** (SHORTEST + i));
    const counts = powers.map((length) => layer(length));
    const all = counts.flatMap((parts) => PARTS.map(([key]) => parts[key]));
    span = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
    PARTS.forEach(([key], p) => {
      change(lines[p], { d: `M${powers.map((length, i) => `${x(length)} ${y(counts[i][key])}`).join("L")}` });
      change(nowDots[p], { cx: x(n), cy: y(layer(n)[key]) });
    });
    change(now, { x1: x(n), x2: x(n) });
    yMarks.forEach((mark, i) => {
      const power = Math.round(span[0] + (i * (span[1] - span[0])) / 2);
      change(mark, { y: y(10 ** power) + 5 });
      mark.textContent = `10${raised(power)}`;
    });
    return crossings.map(({ name, dot, line, text }) => {
      const rest = (parts) => parts.projections + (name === "projections" ? 0 : parts.feedForward);
      const at = attn.crossover((length) => layer(length).attention, (length) => rest(layer(length)));
      change(dot, { cx: x(at), cy: y(layer(at).attention) });
      change(line, { x1: x(at), x2: x(at), y1: y(layer(at).attention) });
      change(text, { x: x(at) + (text.getAttribute("text-anchor") === "end" ? -4 : 4) });
      text.textContent = grouped(at);
      return at;
    });
  }

  function show() {
    const n = 2 ** state.power;
    const parts = layer(n);
    const total = PARTS.reduce((sum, [key]) => sum + parts[key], 0);
    rows.forEach(({ key, count, share }) => {
      const percent = (100 * parts[key]) / total;
      write(count, scientific(state.layers * parts[key]));
      write(share, `${number(percent, percent < 10 ? 2 : 1)} %`);
      share.style.setProperty("--share", `${percent}%`);
    });
    write(totalCell, scientific(state.layers * total));
    const weights = attn.weightsBytes(state.heads, state.step ? 1 : n, n, state.bytes);
    const cache = attn.cacheBytes(n, (state.kvHeads * state.dModel) / state.heads, state.bytes);
    [weights, state.layers * weights, state.layers * cache].forEach((size, i) => {
      stores[i].cell.textContent = bytesText(size);
    });
    const [first, second] = draw(n);
    const share = (100 * parts.attention) / total;
    sentence.textContent = `At n = ${grouped(n)}, scores and mix are ${number(share, 1)} % of the operations. `
      + `They overtake the projections at n = ${grouped(first)}, `
      + `and projections and feed-forward part together at n = ${grouped(second)}.`;
    live.check(modelChoice, state.model);
    tokens.set(state.power);
    layers.set(state.layers);
    sliders.forEach((slider) => slider.show());
    say(`${sentence.textContent} Weights of one layer: ${stores[0].cell.textContent}. `
      + `Cache: ${stores[2].cell.textContent}.`);
  }

  function reset() {
    Object.assign(state, { step: 0, bytes: 2 });
    live.check(stepChoice, state.step);
    live.check(bytesChoice, state.bytes);
    choose(start.model, start.n);
  }

  root.append(modelChoice,
    el("div", { class: "cost-sliders" }, tokens.element, layers.element,
      ...sliders.map(({ element }) => element)),
    stepChoice,
    el("div", { class: "live-columns" }, el("div", {}, chart, sentence),
      el("div", {}, operations, bytesChoice, memory)),
    live.button("Start again", reset));
  reset();
});
