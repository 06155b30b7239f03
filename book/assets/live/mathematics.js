// The mathematics of attn_lib once more, for figures that compute in the page.
// A matrix is an array of rows. tests/book/live/test_parity.py compares every function with attn_lib.
"use strict";

const attn = (() => {
  function dot(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
    return sum;
  }

  const columns = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));

  function multiply(a, b) { // (n, d), (d, m) -> (n, m)
    if (a.length === 0 || b.length === 0) return a.map(() => []);
    const bColumns = columns(b);
    return a.map((row) => bColumns.map((column) => dot(row, column)));
  }

  function softmax(scores) { // (n,) -> (n,); all 0 where every score is -Infinity
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const shift = largest === -Infinity ? 0 : largest;
    const exponentials = scores.map((score) => Math.exp(score - shift));
    const total = exponentials.reduce((a, b) => a + b, 0);
    return exponentials.map((e) => e / (total === 0 ? 1 : total));
  }

  const jacobian = (weights) => // (n,) -> (n, n)
    weights.map((w, i) => weights.map((other, j) => w * ((i === j ? 1 : 0) - other)));

  function softmaxBackward(weights, gradWeights) { // (n,), (n,) -> (n,)
    const mean = dot(weights, gradWeights);
    return weights.map((w, i) => w * (gradWeights[i] - mean));
  }

  function entropy(weights) { // in bits
    return weights.reduce((sum, w) => sum - (w > 0 ? w * Math.log2(w) : 0), 0);
  }

  // `left` and `right`: keys before and after the query's own position, Infinity for no limit.
  // `offset`: position of the first query among the keys.
  function windowMask(nQ, nK, { left = Infinity, right = 0, offset = 0 } = {}) {
    return Array.from({ length: nQ }, (_, i) =>
      Array.from({ length: nK }, (_, j) => i + offset - left <= j && j - right <= i + offset));
  }

  const causalMask = (nQ, nK, alignment = "top-left") =>
    windowMask(nQ, nK, { offset: alignment === "bottom-right" ? nK - nQ : 0 });

  const paddingMask = (length, nQ, nK) =>
    Array.from({ length: nQ }, () => Array.from({ length: nK }, (_, j) => j < length));

  const combineMasks = (...masks) =>
    masks.reduce((a, b) => a.map((row, i) => row.map((allowed, j) => allowed && b[i][j])));

  function masked(score, entry) {
    if (typeof entry === "number") return entry === -Infinity ? -Infinity : score + entry;
    return entry ? score : -Infinity;
  }

  const defaultScale = (dK) => (dK ? 1 / Math.sqrt(dK) : 1);

  function scoreRows(q, k, { mask = null, scale = null, softcap = null }) {
    const raw = q.map((query) => k.map((key) => dot(query, key))); // (n_q, n_k)
    const factor = scale ?? defaultScale(q.length ? q[0].length : 0);
    const scaled = raw.map((row) => row.map((score) => score * factor));
    const cap = (score) => (softcap === null ? score : softcap * Math.tanh(score / softcap));
    const hidden = scaled.map((row, i) =>
      row.map((score, j) => (mask ? masked(cap(score), mask[i][j]) : cap(score))));
    return { raw, scaled, masked: hidden };
  }

  function mix(weights, v) { // (n_k,), (n_k, d_v) -> (d_v,); a value of weight 0 does not count
    const output = v.length ? v[0].map(() => 0) : [];
    weights.forEach((w, j) => {
      if (w !== 0) v[j].forEach((entry, c) => { output[c] += w * entry; });
    });
    return output;
  }

  // Mask entries: true where attention is allowed, or numbers to add to the scaled scores.
  function attention(q, k, v, options = {}) { // (n_q, d_k), (n_k, d_k), (n_k, d_v)
    const trace = scoreRows(q, k, options);
    const weights = trace.masked.map(softmax); // (n_q, n_k)
    return { ...trace, weights, output: weights.map((row) => mix(row, v)) }; // (n_q, d_v)
  }

  // One step per block of keys: what a row keeps is (largest, total, mixture), never its scores.
  function* streamRow(scores, v, block = 1) { // (n_k,), (n_k, d_v)
    let [largest, total] = [-Infinity, 0];
    let mixture = v.length ? v[0].map(() => 0) : [];
    for (let first = 0; first < scores.length; first += block) {
      const part = scores.slice(first, first + block);
      const before = largest;
      largest = part.reduce((a, b) => Math.max(a, b), largest);
      const rescale = before === -Infinity ? 0 : Math.exp(before - largest);
      const shift = largest === -Infinity ? 0 : largest;
      const exponentials = part.map((score) => Math.exp(score - shift));
      total = exponentials.reduce((a, b) => a + b, total * rescale);
      const added = mix(exponentials, v.slice(first, first + block));
      mixture = mixture.map((entry, c) => entry * rescale + added[c]);
      yield { first, part, largest, rescale, exponentials, total, mixture };
    }
  }

  function streamingAttention(q, k, v, { block = 1, ...options } = {}) {
    return scoreRows(q, k, options).masked.map((row) => {
      const { total, mixture } = [...streamRow(row, v, block)].at(-1)
        ?? { total: 0, mixture: mix([], v) };
      return mixture.map((entry) => (total === 0 ? 0 : entry / total));
    });
  }

  return {
    dot, columns, multiply, softmax, jacobian, softmaxBackward, entropy, windowMask, causalMask,
    paddingMask, combineMasks, defaultScale, attention, streamRow, streamingAttention,
  };
})();
