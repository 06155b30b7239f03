// Parts of the trained model switched off, one or several: what comes next, which answers go wrong.
"use strict";

live.modelFigure("switch-off", (root, start) => {
  const { el } = live;
  const { HEADS, headName } = modelView;
  const OPTIONS = { positions: { positions: false }, scale: { scale: 1 }, mask: { mask: false } };
  const say = live.announcer(root);
  const off = new Set(start.change === "nothing" ? [] : [start.change]);

  const name = (part) => start.said[part] ?? part;
  const PARTS = [...HEADS.map(headName), ...Object.keys(OPTIONS)];
  const names = PARTS.map(name);
  const wording = (missing) => (missing.length === 0 ? "With all parts"
    : missing.length > 2 ? `With ${missing.length} of ${names.length} parts off`
      : `Without ${live.listed(missing)}`);

  function without(parts) {
    const missing = HEADS.filter((head) => parts.includes(headName(head)));
    const heads = missing.map(([layer, head]) => `layer${layer}.${head}`);
    const others = Object.keys(OPTIONS).filter((part) => parts.includes(part));
    return {
      options: Object.assign({ without: new Set(heads) }, ...others.map((part) => OPTIONS[part])),
      what: wording(parts.map(name)),
      key: parts.toSorted().join(),
    };
  }
  const compare = modelCompare({ start, say, changed: () => without([...off]),
    longest: wording(names.toSorted((a, b) => b.length - a.length).slice(0, 2)),
    likely: [[], ...PARTS.flatMap((part, i) => [[part], ...PARTS.slice(i + 1).map((other) => [part, other])])]
      .map(without) });
  const boxes = new Map();
  const toggle = (part) => {
    const label = live.toggle(name(part), !off.has(part), (on) => {
      if (on) off.delete(part);
      else off.add(part);
      compare.show();
    });
    boxes.set(part, label.querySelector("input"));
    return label;
  };
  const group = (legend, parts) => el("fieldset", { class: "live-choice" }, el("legend", {}, legend),
    ...parts.map(toggle));
  const layers = [1, 2].map((layer) => group(`Layer ${layer}`,
    HEADS.filter(([one]) => one === layer).map(headName)));
  const all = live.button("Everything on", () => {
    off.clear();
    for (const box of boxes.values()) box.checked = true;
    compare.show();
  });
  root.append(el("p", { class: "live-hint" }, "Uncheck what is to be switched off."),
    el("div", { class: "switches" }, ...layers, group("Other parts", Object.keys(OPTIONS)), all),
    compare.element);
  compare.begin();
}, "model-compare.js");
