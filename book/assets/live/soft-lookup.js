// One query among keys in the plane: drag them, edit the values, follow the numbers to the output.
"use strict";

live.figure("soft-lookup", (root, start) => {
  const { el, svg, change, write, number } = live;
  const LIMIT = 3; // the plane shows entries from −LIMIT to LIMIT
  const UNIT = 50; // pixels of the drawing for a length of 1
  const point = (degrees) => [Math.cos, Math.sin].map(
    (part) => start.length * part((degrees * Math.PI) / 180));
  const names = start.values.map((_, i) => String.fromCharCode(65 + i));
  const say = live.announcer(root);
  let query, keys, values;

  const within = (point) => point.map((entry) =>
    Math.round(20 * Math.max(-LIMIT, Math.min(LIMIT, entry))) / 20);

  const arrowOf = (name, letter, colour, at, put) => live.arrow({
    label: `Tip of ${name}`, letter, colour, unit: UNIT, at,
    text: () => `${number(at()[0])} right, ${number(at()[1])} up`,
    move: (point) => { put(within(point)); show(); },
  });
  const arrows = [ // the last is on top
    ...names.map((name, i) =>
      arrowOf(`key ${name}`, name, "var(--live-key)", () => keys[i], (point) => { keys[i] = point; })),
    arrowOf("the query", "q", "var(--live-query)", () => query, (point) => { query = point; }),
  ];
  const plane = live.plane({ limit: LIMIT, unit: UNIT, arrows });

  const [left, right, width] = [24, 316, 340];
  const dots = names.map((name) => svg("g", {},
    svg("circle", { r: 6, style: "fill: var(--live-value)" }),
    svg("text", { y: -12, "text-anchor": "middle" }, name)));
  const outputMark = svg("path", { d: "M0 4l8 14h-16z", style: "fill: var(--live-output)" });
  const outputText = svg("text", { y: 36, "text-anchor": "middle" });
  const span = svg("line", { "stroke-width": 5, style: "stroke: var(--live-value)", opacity: 0.35 });
  const line = svg("svg", { viewBox: `0 0 ${width} 74`, "aria-hidden": "true" },
    svg("g", { transform: "translate(0 30)" }, span, ...dots, svg("g", {}, outputMark, outputText)));

  const fields = names.map((_, i) => live.numberField({
    label: `Value of key ${names[i]}`, value: start.values[i], min: -999, max: 999,
    input: (typed) => { values[i] = typed; show(); },
  }));
  const cells = names.map(() => Array.from({ length: 4 }, () => el("td")));
  const shares = cells.map((row) => row[3]);
  shares.forEach((cell) => cell.classList.add("lookup-share"));
  const outputCell = el("td");
  const table = el("table", {},
    live.tableHead("key", "q·k", "÷ √2", "exp", "weight", "value"),
    el("tbody", {}, ...names.map((name, i) => el("tr", {}, el("th", { scope: "row" }, name),
      ...cells[i], el("td", {}, fields[i].element)))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row", colspan: 5 }, "output: weights · values"),
      outputCell)));
  const sentence = live.sentence(`Keys ${live.listed(names)} get the largest weight, 0.333. `
    + "The output is −333.33, between the values −999 and −999.");

  function show() {
    const trace = attn.attention([query], keys, values.map((value) => [value]));
    const [raw, scaled, weights, [output]] =
      [trace.raw[0], trace.scaled[0], trace.weights[0], trace.output[0]];
    plane.show();
    names.forEach((_, i) => {
      [raw[i], scaled[i], Math.exp(scaled[i]), weights[i]].forEach((entry, column) => {
        write(cells[i][column], number(entry, column === 3 ? 3 : 2));
      });
      shares[i].style.setProperty("--share", `${100 * weights[i]}%`);
      fields[i].show(values[i]);
    });
    outputCell.textContent = number(output);

    const [low, high] = [Math.min(...values), Math.max(...values)];
    const place = (value) => (high === low ? (left + right) / 2
      : left + ((right - left) * (value - low)) / (high - low));
    values.forEach((value, i) => change(dots[i], { transform: `translate(${place(value)} 0)` }));
    change(span, { x1: place(low), x2: place(high), y1: 0, y2: 0 });
    change(outputMark.parentNode, { transform: `translate(${place(output)} 0)` });
    outputText.textContent = number(output);
    const largest = Math.max(...weights);
    const best = names.filter((_, i) => largest - weights[i] < 5e-4);
    const who = best.length === 1 ? `Key ${best[0]} gets` : `Keys ${live.listed(best)} get`;
    sentence.textContent = `${who} the largest weight, ${number(largest, 3)}. The output is ${number(output)}, `
      + `between the values ${number(low, 0)} and ${number(high, 0)}.`;
    say(sentence.textContent);
  }

  function reset() {
    query = point(start.query_angle);
    keys = start.key_angles.map(point);
    values = [...start.values];
    show();
  }

  root.append(
    el("p", { class: "live-hint" }, "Drag the tip of an arrow, or go to it with the Tab key and use the "
      + "arrow keys. The values can be typed."),
    el("div", { class: "live-columns" }, plane.element,
      el("div", {}, line, table, sentence, live.button("Start again", reset))));
  reset();
});
