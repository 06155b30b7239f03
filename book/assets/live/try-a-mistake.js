// A catalogued mistake in the trained model: what comes next, and which answers go wrong.
"use strict";

live.modelFigure("try-a-mistake", (root, start) => {
  const say = live.announcer(root);
  let { change } = start;
  const SAID = { nothing: "Every step is computed right.", ...start.said };
  const longest = (texts) => texts.toSorted((a, b) => b.length - a.length)[0];
  const said = live.sentence(longest(Object.values(SAID)), { class: "mistake-said" });
  const name = (id) => id.replaceAll("-", " ");

  function changed() {
    live.write(said, SAID[change]);
    const what = name(change)[0].toUpperCase() + name(change).slice(1);
    return { options: modelMistakes[change] ?? {}, what, key: change };
  }
  const compare = modelCompare({ start, say, changed,
    longest: longest(start.choices.change.map(name)) });
  const choice = live.choice({ legend: "Mistake", options: start.choices.change.map((id) => [id, name(id)]),
    value: change, input: (now) => { change = now; compare.show(); } });
  choice.classList.add("mistake-choice");
  root.append(choice, said, compare.element);
  compare.begin();
}, "model-mistakes.js", "model-compare.js");
