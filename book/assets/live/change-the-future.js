// Change one input and see which outputs move; find out five hidden masks that way.
"use strict";

live.figure("change-the-future", (root, start) => {
  const { el, change, write, number } = live;
  const N_HIDDEN = 5;
  const MOVED = 1e-6;
  const LOCKED = "The mask above is known. Choose a hidden one to answer.";
  const KNOWN = "This mask is known. Choose a hidden mask, and then say which it is.";
  const KINDS = ["key and value", "value alone", "key alone"];
  const attentions = start.attentions.map(
    ([name, mask, way]) => ({ name, mask, way: attn.MASKING[way] }));
  const [q, k, v] = start.inputs;
  const positions = q.map((_, i) => i);
  const say = live.announcer(root);
  let state;

  // The hidden ones of each round, in an order that does not follow that of the answers.
  const hidden = (n) => (3 * (n + N_HIDDEN * state.round) + 1) % attentions.length;
  const current = () => (state.which === 0 ? 0 : hidden(state.which - 1));

  function output({ mask, way }, keys, values) {
    return attn.attention(q, keys, values).scaled.map(
      (row, i) => attn.mix(attn.maskRow(row, mask[i], way).weights, values));
  }

  // How far each output moves when position j is changed.
  function moves(attention, j) {
    const [keys, values] = [[...k], [...v]];
    if (state.kind !== KINDS[1]) keys[j] = start.changed[0][j];
    if (state.kind !== KINDS[2]) values[j] = start.changed[1][j];
    const [before, after] = [output(attention, k, v), output(attention, keys, values)];
    return before.map((row, i) => Math.hypot(...row.map((x, c) => after[i][c] - x)));
  }

  const outputs = (numbers, verb) => (numbers.length === 1 ? `output ${numbers[0]} ${verb}s`
    : `outputs ${live.listed(numbers)} ${verb}`);

  function poke(j) {
    const evidence = state.seen[state.which];
    evidence[state.kind][j] = moves(attentions[current()], j);
    const moved = evidence[state.kind][j].map((distance) => distance > MOVED);
    const [move, stay] = [true, false].map((wanted) =>
      positions.filter((i) => moved[i] === wanted).map((i) => i + 1));
    const groups = [[move, "move"], [stay, "stay"]].filter(([numbers]) => numbers.length);
    const heard = groups.map(([numbers, verb]) => outputs(numbers, verb)).join(", ");
    state.said = `Position ${j + 1}, ${state.kind}: ${heard}.`;
    state.last = j;
    show();
  }

  function check() {
    if (state.which === 0) {
      state.said = KNOWN;
    } else if (state.guess === null) {
      state.said = "Choose an answer first.";
    } else if (state.guess === current()) {
      state.found.add(state.which);
      state.said = `Right, hidden mask ${state.which} is: ${attentions[current()].name}. `
        + `Found: ${state.found.size} of ${N_HIDDEN}.`;
    } else {
      state.said = `No. ${objection()}`;
    }
    show();
  }

  // Something seen that the guess would not do.
  function objection() {
    const seen = state.seen[state.which][state.kind];
    for (const j of positions.filter((column) => seen[column])) {
      const expected = moves(attentions[state.guess], j);
      const i = positions.find((row) => (expected[row] > MOVED) !== (seen[j][row] > MOVED));
      if (i !== undefined) {
        return `With that mask, changing position ${j + 1} would ${expected[i] > MOVED ? "" : "not "}`
          + `move output ${i + 1}; here it ${expected[i] > MOVED ? "stays" : "moves"}.`;
      }
    }
    return "But all that you have seen here fits: change more positions, or the value alone.";
  }

  const pokes = positions.map((j) => live.button(`${j + 1}`, () => poke(j),
    { "aria-label": `Change position ${j + 1}`, class: "live-button future-poke" }));
  const cells = positions.map(() => positions.map(() => el("td")));
  const table = el("table", { class: "mask-table" },
    el("caption", {}, "How far each output moves"),
    live.tableHead("change", ...pokes),
    el("tbody", {}, ...positions.map((i) => el("tr", {},
      el("th", { scope: "row" }, `output ${i + 1}`), ...cells[i]))));
  const longest = (texts) => texts.toSorted((a, b) => b.length - a.length)[0];
  const sentence = live.sentence(longest([
    `Right, hidden mask 5 is: ${longest(attentions.map(({ name }) => name))}. Found: 5 of 5.`,
    "No. With that mask, changing position 6 would not move output 6; here it moves.",
    "No. But all that you have seen here fits: change more positions, or the value alone."]));
  const checkButton = live.button("Check", check);

  const which = live.choice({
    legend: "Attention", value: 0,
    options: positions.slice(0, N_HIDDEN + 1).map(
      (n) => [n, n === 0 ? attentions[0].name : `hidden mask ${n}`]),
    input: (value) => turn({ which: value, guess: null }),
  });
  const kind = live.choice({
    legend: "What is changed", value: KINDS[0], options: KINDS.map((name) => [name, name]),
    input: (value) => turn({ kind: value }),
  });
  const answers = live.choice({
    legend: "Which mask is it?", value: null, options: attentions.map(({ name }, n) => [n, name]),
    input: (value) => { state.guess = value; show(); },
  });
  const locked = el("p", { class: "live-hint live-reserve", "data-longest": LOCKED });
  answers.querySelector("legend").after(locked);

  function turn(changes) {
    Object.assign(state, changes, { said: "", last: null });
    show();
  }

  function show() {
    const seen = state.seen[state.which][state.kind];
    positions.forEach((i) => positions.forEach((j) => {
      const distance = seen[j]?.[i];
      const cell = cells[i][j];
      write(cell, distance === undefined ? "?" : number(distance));
      cell.classList.toggle("future-moved", distance > MOVED);
      cell.classList.toggle("future-last", j === state.last);
      // Any move is visible; from 2 on a cell is full.
      const share = distance > MOVED ? 25 + 75 * Math.min(1, distance / 2) : 0;
      cell.style.setProperty("--share", `${share}%`);
    }));
    const known = state.which === 0;
    answers.disabled = known;
    write(locked, known ? LOCKED : "Answer when only one fits what you saw.");
    change(checkButton, { "aria-disabled": known || state.guess === null });
    live.check(answers, state.guess);
    which.querySelectorAll("label").forEach((label, n) => {
      label.classList.toggle("future-found", state.found.has(n));
    });
    sentence.textContent = state.said || (known ? "This mask is known. Change a position."
      : `Change positions of hidden mask ${state.which} until you know it.`);
    if (state.said) say(state.said);
  }

  function begin(round) {
    const empty = () => Object.fromEntries(KINDS.map((name) => [name, {}]));
    state = { round, which: 0, kind: KINDS[0], guess: null, said: "", last: null, found: new Set(),
      seen: Array.from({ length: N_HIDDEN + 1 }, empty) };
    for (const element of [which, kind]) element.querySelector("input").checked = true;
    show();
  }

  root.append(
    el("p", { class: "live-hint" }, "The six buttons in the table change one position each. "
      + "Five masks are hidden: which outputs move tells you what they are."),
    which, kind, table, sentence, answers, el("div", { class: "future-buttons" }, checkButton,
      live.button("Other hidden masks", () => begin(state.round + 1))));
  begin(0);
});
