// Where each head of the trained model looks from a word, and which word comes next.
"use strict";

live.modelFigure("where-heads-look", (root, start) => {
  const { el, write, number } = live;
  const { LONGEST, headName, weightsOf } = modelView;
  const say = live.announcer(root);
  let { head } = start;
  let words, trace, cells;
  let chosen = start.word - 1;
  let backwards = false;

  const table = modelView.wordTable({ legend: "Word", columns: ["weight"],
    choose: (i) => { chosen = i; show(); } });
  const heads = modelView.headChoice({ heads: start.choices.head, roles: start.roles, value: head,
    input: (now) => { head = now; show(); } });
  const direction = live.choice({ legend: "Show", value: "row",
    options: [["row", "where the word looks"], ["column", "which words look at it"]],
    input: (now) => { backwards = now === "column"; show(); } });
  const next = modelView.nextWords(5);
  const longest = `“${LONGEST}” (word 17)`;
  const sentence = live.sentence(`Layer 2, head 1: of all words, ${longest} gives the most weight to `
    + `${longest}, 0.00; the column sums to 0.00.`);

  function show() {
    const weights = weightsOf(trace, head); // (n, n)
    const seen = backwards ? weights.map((row) => row[chosen]) : weights[chosen];
    seen.forEach((weight, j) => {
      const hidden = backwards ? j < chosen : j > chosen;
      modelView.share(cells[j][0], weight, hidden ? "hidden" : number(weight));
      cells[j][0].classList.toggle("model-hidden", hidden);
    });
    table.show(chosen, seen.map((weight, j) => (backwards ? [j, chosen, weight] : [chosen, j, weight])));
    heads.mark(chosen, words.length, backwards);
    const [[best, part]] = next.show(`After “${words.slice(Math.max(0, chosen - 1), chosen + 1).join(" ")}”`,
      [trace.logits[chosen]]);
    const most = seen.indexOf(Math.max(...seen));
    const named = (i) => `“${words[i]}” (word ${i + 1})`;
    write(sentence, `${headName(head).replace("l", "L")}: ${backwards
      ? `of all words, ${named(most)} gives the most weight to ${named(chosen)}, ${number(seen[most])}; `
        + `the column sums to ${number(attn.sum(seen))}.`
      : `${named(chosen)} looks most at ${named(most)}, with ${number(seen[most])}.`}`);
    say(`${sentence.textContent} After “${words[chosen]}”, the likeliest word is “${best}”, `
      + `${number(part)}.`);
  }

  function read(typed) {
    chosen = words ? typed.length - 1 : chosen; // after the start, the word that was typed last
    words = typed;
    trace = model.forward(trainedModel, modelView.encode(words));
    cells = table.set(words);
    heads.set(trace);
    show();
  }

  const field = modelView.sentenceField({ sentence: start.sentence, examples: start.choices.sentence, say,
    input: read });
  root.append(
    el("p", { class: "live-hint" }, "Point at a word, tap it, or go to the words with the Tab key and use "
      + "the arrow keys."),
    field, heads.element, direction,
    el("div", { class: "live-columns" }, table.element, el("div", {}, sentence, next.element)));
  read(start.sentence.split(" "));
});
