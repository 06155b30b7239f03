// A scorecard of the reader's own: type a query, keys and values, and follow or fill in every number.
"use strict";

live.figure("scorecard", (root, start) => {
  const { el, number } = live;
  const MOST_KEYS = 5;
  const EXACT = 0.005; // what a typed result may differ by: two decimals are enough
  const RELATIVE = 0.002;
  const say = live.announcer(root);
  const names = "ABCDE";
  let query, keys, values, chosen, own;

  const queryFields = el("span", { class: "scorecard-query" });
  const place = el("div", { class: "scorecard-steps" });
  const terms = el("div", { class: "scorecard-terms" });
  const verdict = el("p", { class: "scorecard-verdict" });

  function field(label, value, set) {
    return live.numberField({
      label, value, min: -99, max: 99, input: (typed) => { set(typed); show(); },
    }).element;
  }

  const plain = (entry) => number(entry, Number.isInteger(entry) ? 0 : 2);
  const signed = (entry) => (entry < 0 ? `(${plain(entry)})` : plain(entry));

  // What each result is, and where its number goes: filled in by the page or by the reader.
  let results;
  function result(label, compute, digits) {
    const cell = el("td");
    const entry = { label, compute, digits, cell, typed: null, mark: null, field: null };
    if (own) {
      entry.mark = el("span", { class: "scorecard-mark", "aria-hidden": "true" });
      entry.field = el("input", {
        type: "number", step: "any", inputmode: "decimal", class: "live-number",
        "aria-label": label,
        oninput: () => { entry.typed = entry.field.valueAsNumber; check(entry); count(); },
      });
      cell.append(entry.field, entry.mark);
    }
    results.push(entry);
    return cell;
  }

  function check(entry) {
    const empty = entry.typed === null || Number.isNaN(entry.typed);
    const right = entry.compute();
    const off = Math.abs(entry.typed - right);
    entry.right = !empty && off <= Math.max(EXACT, RELATIVE * Math.abs(right));
    entry.mark.textContent = empty ? "" : entry.right ? "✓" : "✗";
    entry.mark.dataset.right = entry.right;
    entry.field.setAttribute("aria-label",
      `${entry.label}${empty ? "" : entry.right ? ", right" : ", not right yet"}`);
  }

  function count() {
    const right = results.filter((entry) => entry.right).length;
    verdict.textContent = `${right} of ${results.length} right.`;
    say(verdict.textContent);
  }

  const trace = () => attn.attention([query], keys, values);

  function build() {
    results = [];
    const head = live.tableHead;
    const row = (i, ...cells) => el("tr", { onpointerenter: () => choose(i) },
      el("th", { scope: "row" }, names[i]), ...cells);
    const cell = (...inside) => el("td", {}, ...inside);
    const rows = (make) => el("tbody", {}, ...keys.map((_, i) => make(i)));
    const step = (title, ...inside) => el("div", {}, el("h4", {}, title), ...inside);
    const vector = (what, get) => [0, 1].map((c) => cell(
      field(`${what}, number ${c + 1}`, get()[c], (typed) => { get()[c] = typed; })));

    queryFields.replaceChildren(...vector("Query", () => query).flatMap((one) => [...one.childNodes]));
    place.replaceChildren(
      step("Compare", el("table", {}, head("", "k", "", "q·k"),
        rows((i) => row(i, ...vector(`Key ${names[i]}`, () => keys[i]),
          result(`q·k of key ${names[i]}`, () => trace().raw[0][i], 2))))),
      step("Scale, normalise", el("table", {}, head("", "÷ √2", "exp", "weight"),
        rows((i) => row(i,
          result(`Scaled score of key ${names[i]}`, () => trace().scaled[0][i], 3),
          result(`Exponential of key ${names[i]}`, () => Math.exp(trace().scaled[0][i]), 3),
          result(`Weight of key ${names[i]}`, () => trace().weights[0][i], 4))))),
      step("Mix", el("table", {}, head("", "v", ""),
        rows((i) => row(i, ...vector(`Value ${names[i]}`, () => values[i]))),
        el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "output"),
          ...[0, 1].map((c) => result(`Output, number ${c + 1}`, () => trace().output[0][c], 4)))))));
    choices.replaceChildren(live.choice({
      legend: "How the numbers of a key come about", value: names[chosen],
      options: keys.map((_, i) => [names[i], names[i]]), input: (name) => choose(names.indexOf(name)),
    }));
    add.disabled = keys.length === MOST_KEYS;
    remove.disabled = keys.length === 2;
    choices.hidden = terms.hidden = own;
    show();
  }

  function choose(i) {
    chosen = i;
    live.check(choices, names[i]);
    if (!own) show();
  }

  function show() {
    const { raw: [raw], scaled: [scaled], weights: [weights], output: [output] } = trace();
    if (own) {
      results.forEach(check);
      count();
      return;
    }
    results.forEach((entry) => { entry.cell.textContent = number(entry.compute(), entry.digits); });
    const i = chosen;
    const products = query.map((entry, c) => `${signed(entry)}·${signed(keys[i][c])}`).join(" + ");
    const total = scaled.reduce((sum, score) => sum + Math.exp(score), 0);
    const lines = [
      ["compare", `${products} = ${plain(raw[i])}`],
      ["scale", `${plain(raw[i])} / √2 = ${number(scaled[i], 3)}`],
      ["normalise", `exp(${number(scaled[i], 3)}) = ${number(Math.exp(scaled[i]), 3)}; `
        + `divided by the sum ${number(total, 3)}: ${number(weights[i], 4)}`],
      ["mix", `${number(weights[i], 4)} · [${values[i].map(plain).join(", ")}] = `
        + `[${values[i].map((entry) => number(weights[i] * entry, 4)).join(", ")}]`],
    ];
    terms.replaceChildren(el("dl", {}, ...lines.flatMap(([name, text]) =>
      [el("dt", {}, name), el("dd", {}, text)])));
    verdict.textContent = `Output [${output.map((entry) => number(entry, 4)).join(", ")}].`;
    say(verdict.textContent);
  }

  const choices = el("div");
  const add = live.button("Add a key", () => {
    keys.push([0, 0]);
    values.push([0, 0]);
    build();
  });
  const remove = live.button("Remove the last key", () => {
    keys.pop();
    values.pop();
    chosen = Math.min(chosen, keys.length - 1);
    build();
  });
  const reset = () => {
    query = [start.first, start.second];
    keys = start.k.map((row) => [...row]);
    values = start.v.map((row) => [...row]);
    chosen = 0;
    build();
  };

  own = false;
  root.append(
    live.toggle("Hide the results: I work them out and type them", false, (checked) => {
      own = checked;
      build();
    }),
    el("p", { class: "scorecard-line" }, el("strong", {}, "Query q"), queryFields), place, verdict, choices, terms,
    el("p", { class: "scorecard-buttons" }, add, remove, live.button("Start again", reset)));
  reset();
});
