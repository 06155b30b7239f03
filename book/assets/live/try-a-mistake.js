// A catalogued mistake in the trained model: what comes next, and which answers go wrong.
"use strict";

live.modelFigure("try-a-mistake", (root, start) => {
  const say = live.announcer(root);
  let { change } = start;
  const said = live.el("p", { class: "mistake-said" });
  const name = (id) => id.replaceAll("-", " ");

  function changed() {
    said.textContent = start.said[change] ?? "Every step is computed right.";
    const what = name(change)[0].toUpperCase() + name(change).slice(1);
    return { options: modelMistakes[change] ?? {}, what };
  }
  const compare = modelCompare({ start, say, changed });
  const choice = live.choice({ legend: "Mistake", options: start.choices.change.map((id) => [id, name(id)]),
    value: change, input: (now) => { change = now; compare.show(); } });
  choice.classList.add("mistake-choice");
  root.append(choice, said, compare.element);
  compare.begin();
}, "model-mistakes.js", "model-compare.js");
