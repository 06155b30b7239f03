// A catalogued mistake in the trained model: what comes next, and which answers go wrong.
"use strict";

live.modelFigure("try-a-mistake", (root, start) => {
  const say = live.announcer(root);
  let { change } = start;
  const SAID = { nothing: "Every step is computed right.", ...start.said };
  const longest = (texts) => texts.toSorted((a, b) => b.length - a.length)[0];
  const said = live.sentence(longest(Object.values(SAID)), { class: "mistake-said" });
  const name = (id) => id.replaceAll("-", " ");

  function changeTo(id) {
    return { options: modelMistakes[id] ?? {}, what: name(id)[0].toUpperCase() + name(id).slice(1), key: id };
  }
  const ids = start.choices.change;
  const compare = modelCompare({ start, say, longest: longest(ids.map(name)), likely: ids.map(changeTo),
    changed: () => {
      live.write(said, SAID[change]);
      return changeTo(change);
    } });
  const choice = live.choice({ legend: "Mistake", options: ids.map((id) => [id, name(id)]),
    value: change, input: (now) => { change = now; compare.show(); } });
  choice.classList.add("mistake-choice");
  root.append(choice, said, compare.element);
  compare.begin();
}, "model-mistakes.js", "model-compare.js");
