// The trained model beside itself with a change: the next word, and answers to held-out questions.
"use strict";

const modelCompare = ({ start, say, changed }) => {
  const { el, number } = live;
  const { WORDS, encode } = modelView;
  let ids, right; // of the sentence: its words, and the right model's logits after the last

  // A question is the words before an answer, and the answer.
  const tests = start.tests.map(([words, skill, answers]) => ({ skill, ids: encode(words),
    places: answers.map(([position]) => position) }));
  const questions = tests.flatMap(({ skill, ids: all, places }) => places.map((place) => {
    const words = all.slice(0, place).map((id) => WORDS[id]);
    const [first, last] = [words[1], words.at(-1)];
    const shown = skill === "agreement" && first !== last ? `${first} … ${last}` : `… ${last}`;
    const expected = skill === "recall" ? WORDS[all[place]] : model.numberOfVerb(trainedModel, all[place]);
    const says = el("td");
    return { skill, id: all[place], says, row: el("tr", {},
      el("th", { scope: "row", title: words.join(" ") }, shown), el("td", {}, expected), says) };
  }));
  const next = modelView.nextWords(6, ["right", "now"]);
  const sentence = el("p", { class: "live-sentence" });
  const table = el("table", { class: "compare-questions" },
    live.tableHead("text so far", "next is", "model says"),
    el("tbody", {}, ...questions.map(({ row }) => row)));

  // `options` are those of model.logits; `what` says what was changed.
  function show({ options, what } = changed()) {
    const now = model.logits(trainedModel, ids, options).at(-1);
    next.show(`After “${ids.slice(-2).map((id) => WORDS[id]).join(" ")}”`, [right, now]);
    const rows = tests.flatMap(({ ids: all, places }) => {
      const read = model.logits(trainedModel, all, options);
      return places.map((place) => read[place - 1]);
    });
    const counts = { recall: 0, agreement: 0 };
    const asked = { recall: 0, agreement: 0 };
    questions.forEach(({ skill, id, says, row }, i) => {
      const isRight = model.isRight(trainedModel, rows[i], id, skill);
      const answer = model.answer(trainedModel, rows[i], skill);
      says.textContent = `${isRight ? "✓" : "✗"} ${answer === null ? "NaN" : WORDS[answer]}`;
      row.dataset.right = isRight;
      counts[skill] += isRight ? 1 : 0;
      asked[skill] += 1;
    });
    const best = model.answer(trainedModel, now, "recall");
    const said = best === null ? "every logit is NaN"
      : `the next word is “${WORDS[best]}”, ${number(attn.softmax(now)[best])}`;
    sentence.textContent = `${what}: ${said}. Of the held-out questions, ${counts.recall} of ${asked.recall} `
      + `on drinks and ${counts.agreement} of ${asked.agreement} on verbs are answered right.`;
    say(sentence.textContent);
  }

  function read(words) {
    ids = encode(words);
    right = model.logits(trainedModel, ids).at(-1);
    show();
  }

  const field = modelView.sentenceField({ sentence: start.sentence, examples: start.examples, say,
    input: read });
  const element = el("div", {}, field, el("div", { class: "live-columns" },
    el("div", {}, next.element, sentence),
    el("div", {}, el("p", { class: "compare-caption" }, "Questions that never came up in training"), table)));
  return { element, show, begin: () => read(start.sentence.split(" ")) };
};
