// Mistakes of attn_lib.course.mistakes, each as something to attend with in place of attn.attention.
"use strict";

const modelMistakes = (() => {
  const { softmax, dot, mix } = attn;
  const output = (weights, v) => ({ weights, output: weights.map((row) => mix(row, v)) });
  const largest = (numbers) => numbers.indexOf(Math.max(...numbers));

  function normalised(numbers) {
    const total = attn.sum(numbers);
    return numbers.map((x) => x / total);
  }

  // Attention without a mask gets, for each word, the words up to it. `weightsOf` takes a row of
  // raw scores and the width of a key.
  const ofRow = (weightsOf) => (q, k, v) => output(q.map((query, i) => weightsOf(
    k.slice(0, k.length - q.length + i + 1).map((key) => dot(query, key)), query.length)), v);

  // `weightsOf` takes all scaled scores of a head and the mask.
  const ofScores = (weightsOf) => (q, k, v, { mask }) =>
    output(weightsOf(attn.scoreRows(q, k, {}).scaled, mask), v);

  // `weightsOf` takes a row of scaled scores and of the mask.
  const ofMaskedRow = (weightsOf) => ofScores((scores, mask) =>
    scores.map((row, i) => weightsOf(row, mask[i])));

  const withMask = (makeMask) => (q, k, v) => attn.attention(q, k, v, { mask: makeMask(q.length, k.length) });

  const hide = (row, mask) => row.map((score, j) => (mask[j] ? score : -Infinity));

  return {
    "no-scale": { attend: ofRow(softmax) },
    "divide-by-d_k": { attend: ofRow((row, dK) => softmax(row.map((x) => x / dK))) },
    "scale-by-number-of-keys": { attend: ofRow((row) => softmax(row.map((x) => x / Math.sqrt(row.length)))) },
    "hard-attention": { attend: ofRow((row) => row.map((_, j) => (j === largest(row) ? 1 : 0))) },
    "equal-weights": { attend: ofRow((row) => row.map(() => 1 / row.length)) },
    "no-softmax": { attend: ofRow((row, dK) => row.map((x) => x / Math.sqrt(dK))) },
    "softmax-over-queries": { attend: ofScores((scores, mask) => {
      const hidden = scores.map((row, i) => hide(row, mask[i]));
      return attn.columns(attn.columns(hidden).map(softmax));
    }) },
    "softmax-that-overflows": { attend: ofMaskedRow((row, mask) =>
      normalised(hide(row, mask).map(Math.exp))) },
    "zero-for-minus-infinity": { attend: ofMaskedRow((row, mask) =>
      softmax(row.map((x, j) => (mask[j] ? x : 0)))) },
    "mask-not-used": { attend: ofMaskedRow(softmax) },
    "mask-after-softmax": { attend: ofMaskedRow((row, mask) =>
      softmax(row).map((w, j) => (mask[j] ? w : 0))) },
    "renormalised-after-the-mask": { attend: ofMaskedRow((row, mask) =>
      normalised(softmax(row).map((w, j) => (mask[j] ? w : 0)))) },
    "minus-infinity-times-zero": { attend: ofMaskedRow((row, mask) =>
      softmax(row.map((x, j) => x + (1 - mask[j]) * -Infinity))) },
    "causal-mask-one-too-far": { attend: withMask((nQ, nK) => attn.windowMask(nQ, nK, { right: 1 })) },
    "cache-mask-aligned-at-the-start": { attend: withMask((nQ, nK) => attn.causalMask(nQ, nK)),
      wordByWord: true },
  };
})();
