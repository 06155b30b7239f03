// The forward pass of attn_lib.model, and sampling. The weights are in trained-model.js.
"use strict";

const model = (() => {
  const EPSILON = 1e-5;

  function layerNorm(rows, gain, bias) { // (n, d) -> (n, d)
    return rows.map((row) => {
      const mean = attn.sum(row) / row.length;
      const centred = row.map((x) => x - mean);
      const deviation = Math.sqrt(attn.dot(centred, centred) / row.length + EPSILON);
      return centred.map((x, i) => (x / deviation) * gain[i] + bias[i]);
    });
  }

  // Parameters never change, so the columns of each are taken once.
  const columnsOf = new WeakMap();

  function project(rows, matrix) { // (n, d), (d, m) -> (n, m)
    if (!columnsOf.has(matrix)) columnsOf.set(matrix, attn.columns(matrix));
    const columns = columnsOf.get(matrix);
    return rows.map((row) => columns.map((column) => attn.dot(row, column)));
  }

  const add = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));

  // (n, n_heads · d_k) -> n_heads matrices (n, d_k)
  const split = (rows, nHeads, dK) => Array.from({ length: nHeads }, (_, head) =>
    rows.map((row) => row.slice(head * dK, (head + 1) * dK)));

  // `without`: heads to leave out, counted from 1, as in "layer1.2"; `attend`: what to attend with.
  // `past`: what forward returned for earlier words; its keys and values are the cache.
  function forward({ config, parameters: p }, ids, options = {}) {
    const { past = null, mask = true, positions = true, scale = null } = options;
    const { attend = attn.attention, without = new Set() } = options;
    const nPast = past ? past.layer1.heads[0].k.length : 0;
    if (!ids.length) throw new RangeError("expected at least one word, got none");
    if (nPast + ids.length > config.max_length) {
      throw new RangeError(`expected at most ${config.max_length} words`);
    }
    const tokens = ids.map((id) => p.embedding[id]); // (n, d_model)
    const places = ids.map((_, i) => p.positions[nPast + i]);
    const trace = { tokens, places };
    let stream = positions ? add(tokens, places) : tokens;
    for (let number = 1; number <= config.n_layers; number++) {
      const layer = `layer${number}`;
      const normed = layerNorm(stream, p[`${layer}.gain`], p[`${layer}.bias`]);
      const [q, k, v] = ["q", "k", "v"].map((name) =>
        split(project(normed, p[`${layer}.w_${name}`]), config.n_heads, config.d_k));
      const heads = q.map((query, head) => {
        const earlier = past ? past[layer].heads[head] : { k: [], v: [] };
        const key = [...earlier.k, ...k[head]]; // (n_k, d_k)
        const value = [...earlier.v, ...v[head]];
        const allowed = mask ? attn.causalMask(query.length, key.length, "bottom-right") : null;
        const found = attend(query, key, value, { mask: allowed, scale });
        return { q: query, k: key, v: value, ...found };
      });
      const merged = ids.map((_, i) => heads.flatMap((head, h) =>
        without.has(`${layer}.${h + 1}`) ? head.output[i].map(() => 0) : head.output[i]));
      const added = project(merged, p[`${layer}.w_o`]); // (n, d_model)
      trace[layer] = { stream, normed, heads, merged, added };
      stream = add(stream, added);
    }
    const normed = layerNorm(stream, p["final.gain"], p["final.bias"]);
    const logits = project(normed, p.unembedding); // (n, n_words)
    return { ...trace, final: { stream, normed }, logits };
  }

  function largest(numbers) {
    return numbers.reduce((best, x, i) => (x > numbers[best] ? i : best), 0);
  }

  function choose(logits, temperature, random) { // the id of the next word
    if (temperature === 0) return largest(logits);
    const shares = attn.softmax(logits.map((x) => x / temperature));
    let sum = 0;
    const sums = shares.map((share) => (sum += share));
    const point = random();
    return sums.findIndex((x) => x / sum > point);
  }

  // Yields each new id with the trace that it was chosen from.
  function* generate(trained, ids, nWords, { temperature = 0, seed = 0, ...options } = {}) {
    const random = generator(seed);
    let past = null;
    let unread = ids;
    for (let i = 0; i < nWords; i++) {
      past = forward(trained, unread, { ...options, past });
      const id = choose(past.logits.at(-1), temperature, random);
      yield { id, trace: past };
      unread = [id];
    }
  }

  // The logits after each word; `wordByWord`: with a cache, as when the model writes.
  function logits(trained, ids, { wordByWord = false, ...options } = {}) { // (n, n_words)
    if (!wordByWord) return forward(trained, ids, options).logits;
    let past = null;
    return ids.map((id) => {
      past = forward(trained, [id], { ...options, past });
      return past.logits[0];
    });
  }

  const numberOfVerb = ({ words, kinds }, id) =>
    (kinds.plural_verbs.includes(words[id]) ? "plural" : "singular");

  // The id of the likeliest word, for agreement of the likeliest verb; null if a logit is not finite.
  function answer({ words, kinds }, row, skill) {
    if (!row.every(Number.isFinite)) return null;
    const isVerb = (id) => [...kinds.singular_verbs, ...kinds.plural_verbs].includes(words[id]);
    return largest(skill === "recall" ? row : row.map((logit, id) => (isVerb(id) ? logit : -Infinity)));
  }

  // A drink has to be the likeliest word of all; a verb only has to be of the right number.
  function isRight(trained, row, id, skill) {
    const best = answer(trained, row, skill);
    if (best === null) return false;
    return skill === "recall" ? best === id : numberOfVerb(trained, best) === numberOfVerb(trained, id);
  }

  // In the matrix products of one call of forward, for `n` words after `nPast` in the cache.
  function multiplications(config, n, nPast = 0) {
    const dHeads = config.n_heads * config.d_k;
    const ofLayer = 4 * n * config.d_model * dHeads + 2 * n * (nPast + n) * dHeads;
    return config.n_layers * ofLayer + n * config.d_model * config.n_words;
  }

  // `shapes`: [name, rows, columns] in the order of the numbers, columns 0 for a vector.
  function read({ config, words, kinds, shapes, base64 }) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const numbers = new Float32Array(bytes.buffer);
    const parameters = {};
    let next = 0;
    const take = (n) => [...numbers.subarray(next, (next += n))];
    for (const [name, rows, width] of shapes) {
      parameters[name] = width ? Array.from({ length: rows }, () => take(width)) : take(rows);
    }
    return { config, words, kinds, parameters };
  }

  return {
    forward, logits, generate, numberOfVerb, answer, isRight, multiplications, read,
  };
})();
