// The trained model beside itself with a change: the next word, and answers to held-out questions.
"use strict";

const modelCompare = ({ start, say, changed, longest, likely }) => {
  const { el, write, number } = live;
  const { LONGEST, WORDS, encode } = modelView;
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
  const whenIdle = window.requestIdleCallback ?? setTimeout;
  const next = modelView.nextWords(6, ["right", "now"]);
  const counted = (drinks, verbs) => `Of the held-out questions, ${drinks} on drinks and ${verbs} on verbs `
    + "are answered right.";
  const sentence = live.sentence(`${longest}: the next word is “${LONGEST}”, 0.00. `
    + counted("10 of 10", "10 of 10"));
  const table = el("table", { class: "compare-questions" },
    live.tableHead("text so far", "next is", "model says"),
    el("tbody", {}, ...questions.map(({ row }) => row)));

  // What each question is answered under a change; it does not depend on the reader's sentence.
  const answered = new Map();
  function answers({ options, key }) {
    if (!answered.has(key)) {
      const rows = tests.flatMap(({ ids: all, places }) => {
        const found = model.logits(trainedModel, all, options);
        return places.map((place) => found[place - 1]);
      });
      answered.set(key, questions.map(({ skill, id }, i) => ({
        isRight: model.isRight(trainedModel, rows[i], id, skill),
        answer: model.answer(trainedModel, rows[i], skill),
      })));
    }
    return answered.get(key);
  }

  // While nothing happens: what is asked of each of the likely changes, one at a time.
  function answerAhead() {
    const next = likely.shift();
    if (!next) return;
    answers(next);
    whenIdle(answerAhead);
  }

  // `changed` returns options of model.logits, what is said of them, and a key for them, as do `likely`.
  function show() {
    const { options, what, key } = changed();
    const now = model.logits(trainedModel, ids, options).at(-1);
    next.show(`After “${ids.slice(-2).map((id) => WORDS[id]).join(" ")}”`, [right, now]);
    const found = answers({ options, key });
    questions.forEach(({ says, row }, i) => {
      const { isRight, answer } = found[i];
      write(says, `${isRight ? "✓" : "✗"} ${answer === null ? "NaN" : WORDS[answer]}`);
      row.dataset.right = isRight;
    });
    const share = (wanted) => {
      const asked = found.filter((_, i) => questions[i].skill === wanted);
      return `${asked.filter(({ isRight }) => isRight).length} of ${asked.length}`;
    };
    const best = model.answer(trainedModel, now, "recall");
    const said = best === null ? "every logit is NaN"
      : `the next word is “${WORDS[best]}”, ${number(attn.softmax(now)[best])}`;
    write(sentence, `${what}: ${said}. ${counted(share("recall"), share("agreement"))}`);
    say(sentence.textContent);
  }

  function read(words) {
    ids = encode(words);
    right = model.logits(trainedModel, ids).at(-1);
    show();
  }

  const field = modelView.sentenceField({ sentence: start.sentence, examples: start.examples, say,
    input: read });
  const element = el("div", { class: "compare" }, field, el("div", { class: "live-columns" },
    el("div", {}, next.element, sentence),
    el("div", {}, el("p", { class: "compare-caption" }, "Questions that never came up in training"), table)));
  return { element, show, begin: () => {
    read(start.sentence.split(" "));
    whenIdle(answerAhead);
  } };
};
