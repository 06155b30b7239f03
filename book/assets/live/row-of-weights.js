// The weights of one head as a table with a row for each query: read a row, a column, and their sums.
"use strict";

live.modelFigure("row-of-weights", (root, start) => {
  const { el, write, number } = live;
  const { HEADS, LONGEST, headName, weightsOf } = modelView;
  const MAX_WORDS = 6; // more columns of numbers do not fit beside each other
  const say = live.announcer(root);
  let { head } = start;
  let chosen = start.row - 1;
  let byColumn = false;
  let words, trace, cells, sums;

  const table = modelView.wordTable({ legend: "Word", columns: [],
    choose: (i) => { chosen = i; show(); } });
  table.element.classList.add("row-table");
  const heads = modelView.headChoice({ heads: HEADS, roles: start.roles, value: head,
    input: (now) => { head = now; show(); } });
  const direction = live.choice({ legend: "Read", value: "row",
    options: [["row", "the word’s row: where it looks"], ["column", "its column: who looks at it"]],
    input: (now) => { byColumn = now === "column"; show(); } });
  const sentence = live.sentence(`Column 6, “${LONGEST}”: “${LONGEST}” in row 6 gives it the most, 0.00. `
    + "The column sums to 0.00.");

  function show() {
    const weights = weightsOf(trace, head); // (n, n)
    const columns = attn.columns(weights);
    const read = byColumn ? columns[chosen] : weights[chosen];
    weights.forEach((row, i) => row.forEach((weight, j) => {
      const cell = cells[i][j];
      write(cell, number(weight));
      cell.classList.toggle("row-read", (byColumn ? j : i) === chosen);
      cell.classList.toggle("model-hidden", j > i);
      cell.style.setProperty("--share", `${100 * weight}%`);
    }));
    columns.forEach((column, j) => {
      write(sums[j], number(attn.sum(column)));
      sums[j].classList.toggle("row-read", byColumn && j === chosen);
    });
    table.show(chosen, read.map((weight, j) => (byColumn ? [j, chosen, weight] : [chosen, j, weight])));
    heads.mark(chosen, words.length, byColumn);
    const most = read.indexOf(Math.max(...read));
    const name = (i) => `“${words[i]}”`;
    sentence.textContent = byColumn
      ? `Column ${chosen + 1}, ${name(chosen)}: ${name(most)} in row ${most + 1} gives it the most, `
        + `${number(read[most])}. The column sums to ${number(attn.sum(read))}.`
      : `Row ${chosen + 1}, ${name(chosen)}, gives the most to column ${most + 1}, ${name(most)}: `
        + `${number(read[most])}. The row sums to ${number(attn.sum(read))}.`;
    say(`${headName(head)}. ${sentence.textContent}`);
  }

  function read(typed) {
    words = typed;
    chosen = Math.min(chosen, words.length - 1);
    trace = model.forward(trainedModel, modelView.encode(words));
    cells = table.set(words, words);
    sums = words.map(() => el("td"));
    table.foot.replaceChildren(el("tr", {}, el("td", { class: "model-drawn" }),
      el("th", { scope: "row" }, "sum"), ...sums));
    heads.set(trace);
    show();
  }
  const field = modelView.sentenceField({ sentence: start.sentence, examples: start.examples,
    limit: MAX_WORDS, say, input: read });
  root.append(
    el("p", { class: "live-hint" }, "Point at a word, tap it, or go to the words with the Tab key and use "
      + "the arrow keys."),
    field, heads.element, direction, el("div", { class: "live-scroll" }, table.element), sentence);
  read(start.sentence.split(" "));
});
