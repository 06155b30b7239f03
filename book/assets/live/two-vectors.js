// A query and a key in the plane: drag both, and see the dot product as a shadow and as a sum.
"use strict";

live.figure("two-vectors", (root, start) => {
  const { el, svg, change, number } = live;
  const LIMIT = 4;
  const UNIT = 42; // pixels of the drawing for a length of 1
  const say = live.announcer(root);
  const radians = (degrees) => (degrees * Math.PI) / 180;
  let vectors;

  const rounded = (point) => point.map((entry) =>
    Math.round(10 * Math.max(-LIMIT, Math.min(LIMIT, entry))) / 10);
  const arrows = ["query", "key"].map((name, i) => live.arrow({
    label: `Tip of the ${name}`, letter: name[0], colour: `var(--live-${name})`, unit: UNIT,
    at: () => vectors[i],
    text: () => `${number(vectors[i][0], 1)} right, ${number(vectors[i][1], 1)} up`,
    move: (point) => { vectors[i] = rounded(point); show(); },
  }));
  const shadow = svg("line", { "stroke-width": 9, style: "stroke: var(--live-key)", opacity: 0.35 });
  const drop = svg("line", { "stroke-dasharray": "3 4", style: "stroke: var(--live-line)" });
  const plane = live.plane({ limit: LIMIT, unit: UNIT, arrows, below: [drop, shadow] });

  const facts = ["query", "key", "multiply, add", "q·k", "length of q", "shadow of k", "length of k",
    "angle", "cosine"];
  const cells = facts.map(() => el("td"));
  const table = el("table", {}, el("tbody", {}, ...facts.map((name, i) =>
    el("tr", {}, el("th", { scope: "row" }, name), cells[i]))));
  const sentence = live.sentence(
    "A vector of length 0 has no direction; its dot product with every vector is 0.");

  function show() {
    const [q, k] = vectors;
    const [dot, qLength, kLength] = [attn.dot(q, k), Math.hypot(...q), Math.hypot(...k)];
    const along = qLength ? dot / qLength : 0; // signed length of the shadow
    const cosine = qLength && kLength ? dot / (qLength * kLength) : NaN;
    const angle = (Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI;
    plane.show();
    const foot = q.map((entry) => (qLength ? (entry / qLength) * along : 0));
    const [footX, footY] = [foot[0] * UNIT, -foot[1] * UNIT];
    change(shadow, { x1: 0, y1: 0, x2: footX, y2: footY });
    change(drop, { x1: k[0] * UNIT, y1: -k[1] * UNIT, x2: footX, y2: footY });
    const shown = (vector) => `[${vector.map((entry) => number(entry, 1)).join(", ")}]`;
    const signed = (entry) => (entry < 0 ? `(${number(entry, 1)})` : number(entry, 1));
    const entries = [shown(q), shown(k), q.map((entry, c) => `${signed(entry)}·${signed(k[c])}`).join(" + "),
      number(dot), number(qLength), number(along), number(kLength),
      Number.isNaN(cosine) ? "none" : `${number(angle, 0)}°`,
      Number.isNaN(cosine) ? "none" : number(cosine)];
    entries.forEach((entry, i) => { cells[i].textContent = entry; });
    const sign = Math.abs(dot) < 0.005 ? "0" : number(dot);
    sentence.textContent = Number.isNaN(cosine)
      ? "A vector of length 0 has no direction; its dot product with every vector is 0."
      : `q·k = ${sign}: the query’s length ${number(qLength)} times the shadow ${number(along)}.`;
    say(sentence.textContent);
  }

  function reset() {
    const direction = Math.atan2(start.query[1], start.query[0]) + radians(start.angle);
    vectors = [[...start.query],
      [start.length * Math.cos(direction), start.length * Math.sin(direction)]];
    show();
  }

  root.append(
    el("p", { class: "live-hint" }, "Drag the tips, or go to one with the Tab key and use the arrow keys."),
    el("div", { class: "live-columns" }, plane.element,
      el("div", {}, sentence, table, live.button("Start again", reset))));
  reset();
});
