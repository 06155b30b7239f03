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

  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

  // (n,) -> (n,); all 0 where every score is -Infinity, unless `plain`: then 0 / 0, as by the formula.
  // `round` comes after every operation: Math.fround for float32.
  function softmax(scores, { plain = false, round = (x) => x } = {}) {
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const shift = largest === -Infinity && !plain ? 0 : largest;
    const exponentials = scores.map((score) => round(Math.exp(round(score - shift))));
    const total = exponentials.reduce((a, b) => round(a + b), 0);
    return exponentials.map((e) => round(e / (total === 0 && !plain ? 1 : total)));
  }

  // Right and wrong ways to apply a mask to scores. Ids are those of attn_lib's catalogue of mistakes.
  const MASKING = {
    right: { put: -Infinity },
    "empty-rows-become-nan": { put: -Infinity, plain: true },
    "zero-for-minus-infinity": { put: 0 },
    "large-negative-fill": { put: -1e9 },
    "large-negative-added": { add: -1e9 },
    "mask-after-softmax": { after: true },
  };

  // One row, (n,) and (n,) -> what softmax is given, and the weights. A hidden score is replaced by
  // `put`; or `add` is added to it; or its weight is set to 0 `after` the softmax.
  function maskRow(scores, allowed, { put, add = null, after = false, plain, round = (x) => x }) {
    const hide = (score) => (add === null ? round(put) : round(score + round(add)));
    const given = scores.map(round).map((score, j) => (allowed[j] || after ? score : hide(score)));
    const weights = softmax(given, { plain, round });
    return { given, weights: after ? weights.map((w, j) => (allowed[j] ? w : 0)) : weights };
  }

  const jacobian = (weights) => // (n,) -> (n, n)
    weights.map((w, i) => weights.map((other, j) => w * ((i === j ? 1 : 0) - other)));

  const jacobianNorm = (weights) => // Frobenius norm
    Math.sqrt(jacobian(weights).flat().reduce((sum, entry) => sum + entry * entry, 0));

  function entropy(weights) { // in bits
    return weights.reduce((sum, w) => sum - (w > 0 ? w * Math.log2(w) : 0), 0);
  }

  // Normal entries of queries and keys; see Entries of attn_lib.experiments.
  const ASSUMED = { mean: 0, variance: 1, correlation: 0, agreement: 0 };

  function scoreMoments(dK, { mean, variance, correlation, agreement } = ASSUMED) { // [mean, variance]
    const pairs = dK * (dK - 1);
    const squares = variance ** 2 * (1 + agreement ** 2) * (dK + pairs * correlation ** 2);
    const shifts = 2 * mean ** 2 * variance * (1 + agreement) * (dK + pairs * correlation);
    return [dK * (mean ** 2 + agreement * variance), squares + shifts];
  }

  // The score of a pair whose entries `draw` returns: independent, with mean 0 and variance 1.
  function drawScore(draw, dK) {
    let score = 0;
    for (let c = 0; c < dK; c++) score += draw() * draw();
    return score;
  }

  // The same with entries that are not as assumed; `draw` returns standard normal numbers.
  function drawRelatedScore(draw, dK, { mean, variance, correlation, agreement }) {
    const [shared, own] = [Math.sqrt(correlation), Math.sqrt(1 - correlation)];
    const apart = Math.sqrt(1 - agreement ** 2);
    const sd = Math.sqrt(variance);
    const [sharedQ, sharedOther] = [shared * draw(), shared * draw()];
    let score = 0;
    for (let c = 0; c < dK; c++) {
      const q = sharedQ + own * draw();
      const other = sharedOther + own * draw();
      score += (mean + sd * q) * (mean + sd * (agreement * q + apart * other));
    }
    return score;
  }

  // Of a sample of at least two: [mean, its standard error], [variance, its standard error].
  function estimates(sample) {
    const n = sample.length;
    let [mean, squares, fourth] = [0, 0, 0];
    for (let i = 0; i < n; i++) mean += sample[i] / n;
    for (let i = 0; i < n; i++) squares += (sample[i] - mean) ** 2;
    const variance = squares / (n - 1);
    for (let i = 0; i < n; i++) {
      fourth += (((sample[i] - mean) ** 2 * n) / (n - 1) - variance) ** 2;
    }
    return [[mean, Math.sqrt(variance / n)], [variance, Math.sqrt(fourth / (n - 1) / n)]];
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
    const weights = trace.masked.map((row) => softmax(row)); // (n_q, n_k)
    return { ...trace, weights, output: weights.map((row) => mix(row, v)) }; // (n_q, d_v)
  }

  // The right way to stream and three wrong ones, with the ids of attn_lib's catalogue of mistakes.
  const STREAMING = {
    right: {},
    "running-sum-not-rescaled": { total: true },
    "running-output-not-rescaled": { mixture: true },
    "nothing-rescaled": { total: true, mixture: true },
  };

  // One step per block of keys: what a row keeps is (largest, total, mixture), never its scores.
  // `kept`: what a larger score leaves as it was, though it has to be rescaled; see STREAMING.
  function* streamRow(scores, v, block = 1, kept = {}) { // (n_k,), (n_k, d_v)
    let [largest, total] = [-Infinity, 0];
    let mixture = v.length ? v[0].map(() => 0) : [];
    for (let first = 0; first < scores.length; first += block) {
      const part = scores.slice(first, first + block);
      const before = largest;
      largest = part.reduce((a, b) => Math.max(a, b), largest);
      const rescale = before === -Infinity ? 0 : Math.exp(before - largest);
      const shift = largest === -Infinity ? 0 : largest;
      const exponentials = part.map((score) => Math.exp(score - shift));
      total = exponentials.reduce((a, b) => a + b, total * (kept.total ? 1 : rescale));
      const added = mix(exponentials, v.slice(first, first + block));
      mixture = mixture.map((entry, c) => entry * (kept.mixture ? 1 : rescale) + added[c]);
      yield { first, part, largest, rescale, exponentials, total, mixture };
    }
  }

  // The output of the keys read so far, from one step of streamRow.
  const streamOutput = ({ total, mixture }) => mixture.map((entry) => (total === 0 ? 0 : entry / total));

  // Operations of one layer's parts: attn_lib.complexity.layer_flops.
  function layerFlops(n, dModel, heads = 1, nCached = 0) {
    const product = (rows, d, width) => 2 * rows * d * width;
    const [nK, dHead] = [nCached + n, dModel / heads];
    return {
      projections: 4 * product(n, dModel, dModel),
      feedForward: 2 * product(n, dModel, 4 * dModel),
      attention: heads * (product(n, dHead, nK) + product(n, nK, dHead)), // scores and mix
      softmax: heads * 5 * n * nK,
    };
  }

  const weightsBytes = (heads, nQ, nK, bytes) => heads * nQ * nK * bytes; // of one layer
  const cacheBytes = (n, width, bytes) => 2 * n * width * bytes; // `width` of all key/value heads

  // The smallest n from which on `steeper` costs at least as much as `flatter`.
  function crossover(steeper, flatter) {
    let high = 1;
    while (steeper(high) < flatter(high)) high *= 2;
    let low = high / 2;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (steeper(middle) < flatter(middle)) low = middle;
      else high = middle;
    }
    return high;
  }

  return {
    dot, columns, sum, softmax, jacobian, jacobianNorm, entropy,
    ASSUMED, scoreMoments, drawScore, drawRelatedScore, estimates,
    MASKING, maskRow, windowMask, causalMask, paddingMask, combineMasks,
    scoreRows, mix, attention, STREAMING, streamRow, streamOutput,
    layerFlops, weightsBytes, cacheBytes, crossover,
  };
})();
