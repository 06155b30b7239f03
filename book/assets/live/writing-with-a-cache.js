// The trained model writes word by word: what it reads from the cache, and what it adds to it.
"use strict";

live.modelFigure("writing-with-a-cache", (root, start) => {
  const { el, change, write, number, grouped } = live;
  const { WORDS, CONFIG, HEADS } = modelView;
  const MAX_SEED = 9999;
  const say = live.announcer(root);
  let prompt = start.prompt.split(" ");
  let written = start.step;
  let temperature = 0;
  let seed = 0;
  let useCache = true;
  let source, steps; // a generator, and what it has yielded

  const rows = Array.from({ length: CONFIG.max_length }, () => el("tr", {},
    el("th", { scope: "row" }), ...HEADS.map(() => el("td"))));
  const table = el("table", { class: "cache-table" },
    el("thead", {},
      el("tr", {}, el("th", { scope: "col" }, "word"), ...HEADS.map(([layer, head]) =>
        el("th", { scope: "col", "aria-label": `layer ${layer}, head ${head}` }, `${layer}.${head}`)))),
    el("tbody", {}, ...rows));
  const next = modelView.nextWords(5);
  const { LONGEST } = modelView;
  const text = el("span");
  const line = live.sentence(Array(CONFIG.max_length + 1).fill("lemon").join(" "), { class: "cache-text" });
  line.append(text);
  const sentence = live.sentence(`“${LONGEST}” is read. Each head computes 1 query, 1 key and 1 value, and `
    + "reads 16 keys and 16 values from the cache. All matrix products take 00 000 multiplications. "
    + `“${LONGEST}” is the likeliest next word.`);

  const room = () => CONFIG.max_length - prompt.length; // words that can still be written and read
  const of = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

  function work({ n, fresh, id, last, cost }) {
    const computed = useCache ? fresh : n;
    const reads = useCache && n > fresh
      ? `, and reads ${of(n - fresh, "key")} and ${of(n - fresh, "value")} from the cache` : "";
    return `${fresh === 1 ? `“${last}” is read` : "The prompt is read"}. Each head computes `
      + `${of(computed, "query", "queries")}, ${of(computed, "key")} and ${of(computed, "value")}`
      + `${reads}. All matrix products take ${grouped(cost)} multiplications. “${WORDS[id]}” is `
      + `${temperature ? "drawn" : "the likeliest next word"}.`;
  }

  // The model writes anew, with each step kept as far as it has been asked for.
  function restart() {
    source = model.generate(trainedModel, modelView.encode(prompt), room() + 1, { temperature, seed });
    steps = [];
    show();
  }

  function show() {
    written = Math.min(written, room());
    while (steps.length <= written) steps.push(source.next().value);
    const { trace, id } = steps[written];
    const words = [...prompt, ...steps.slice(0, written).map((step) => WORDS[step.id])];
    const n = words.length;
    const fresh = written ? 1 : n; // words whose keys are not in the cache
    rows.forEach((row, i) => {
      const [word, ...weights] = row.children;
      const isNew = i < n && (i >= n - fresh || !useCache);
      row.classList.toggle("cache-new", isNew);
      change(row, { "aria-hidden": i >= n }); // room for words that are still to be written
      write(word, `${isNew ? "+ " : ""}${words[i] ?? ""}`);
      HEADS.forEach((head, h) => {
        const weight = i < n ? modelView.weightsOf(trace, head).at(-1)[i] : 0;
        modelView.share(weights[h], weight, i < n ? number(weight) : "");
      });
    });
    next.show(`After “${words.slice(-2).join(" ")}”`
      + (temperature ? `, at temperature ${number(temperature, 1)}` : ""),
      [trace.logits.at(-1).map((logit) => logit / (temperature || 1))], id);
    text.replaceChildren(prompt.join(" "), " ", el("strong", {}, words.slice(prompt.length).join(" ")),
      ` → ${WORDS[id]}`);
    const cost = model.multiplications(CONFIG, ...(useCache ? [fresh, n - fresh] : [n]));
    sentence.textContent = work({ n, fresh, id, last: words.at(-1), cost });
    more.disabled = written >= room();
    back.disabled = written === 0;
    say(sentence.textContent);
  }

  const back = live.button("Back", () => { written -= 1; show(); });
  const more = live.button("Read this word, choose the next", () => { written += 1; show(); });
  const degrees = live.slider({ label: "Temperature", min: 0, max: 3, step: 0.1, value: temperature,
    text: (t) => number(t, 1), input: (t) => { temperature = t; restart(); } });
  const seedField = live.numberField({ label: "Seed of the draws", value: seed, min: 0, max: MAX_SEED,
    step: 1, input: (typed) => { seed = typed; restart(); } });
  const field = modelView.sentenceField({ label: "Prompt", sentence: start.prompt, examples: start.examples,
    limit: CONFIG.max_length - 1, say, input: (typed) => { prompt = typed; written = 0; restart(); } });
  root.append(
    field,
    el("div", { class: "cache-options" }, degrees.element,
      el("label", {}, "Seed of the draws ", seedField.element),
      live.toggle("Keep keys and values in a cache", true, (on) => { useCache = on; show(); })),
    el("p", { class: "cache-options" }, back, more),
    line,
    el("div", { class: "live-columns cache-columns" },
      el("div", {}, el("p", { class: "cache-caption" }, "Weights of the newest word, by layer and head"),
        el("p", { class: "live-hint" }, "+ has a key and value computed now; the others "
        + "are in the cache. Empty lines are room for more."),
        table),
      el("div", {}, next.element, sentence)));
  restart();
});
