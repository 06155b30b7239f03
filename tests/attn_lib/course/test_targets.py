"""The right functions equal loops, closed forms and central differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attn_lib.course.targets import TARGETS
from attn_lib.course.targets.inputs import (
    FOCUS,
    FOCUS_OF_OTHERS,
    maps_with_induction_head,
    text_with_repeats,
)
from attn_lib.model import draw_sentences, encode, find_heads, forward, trained_model

RNG = np.random.default_rng(7)
N_Q, N_K, D_K, D_V = 3, 5, 7, 2
SHAPES = (2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13)


def draw(*shape):
    return RNG.normal(size=shape)


def weights_of(row):
    exponentials = [math.exp(score) for score in row]
    return np.array(exponentials) / sum(exponentials)


def attend(q, k, v, allowed):
    """Attention of one sequence, key by key; a query without a key gets zeros."""
    output = np.zeros((len(q), v.shape[1]))
    for i, query in enumerate(q):
        keys = [j for j in range(len(k)) if allowed(i, j)]
        if keys:
            weights = weights_of([query @ k[j] / math.sqrt(len(query)) for j in keys])
            output[i] = sum(w * v[j] for w, j in zip(weights, keys, strict=True))
    return output


def slope(loss, x, index, step=1e-5):
    move = np.zeros(x.shape)
    move[index] = step
    return (loss(x + move) - loss(x - move)) / (2 * step)


class TestDotProducts:
    def test_scores_of_the_worked_example(self):
        q, k = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
        np.testing.assert_array_equal(TARGETS["score_matrix"](q, k), [[5, 2, -1]])
        scaled = TARGETS["scaled_scores"](q, k)
        np.testing.assert_allclose(scaled, np.array([[5, 2, -1]]) / 2**0.5)

    def test_scores_of_a_batch_are_those_of_its_parts(self):
        q, k = draw(2, 3, 4, 5), draw(2, 3, 6, 5)
        for index in np.ndindex(2, 3):
            expected = q[index] @ k[index].T
            np.testing.assert_allclose(TARGETS["score_matrix"](q, k)[index], expected)

    def test_shapes_are_those_of_attention(self):
        q, k, v = (draw(*shape) for shape in SHAPES)
        trace = TARGETS["attention"](q, k, v, return_trace=True)
        assert tuple(TARGETS["weights_shape"](*SHAPES)) == trace.weights.shape
        assert tuple(TARGETS["output_shape"](*SHAPES)) == trace.output.shape

    def test_weight_at(self):
        assert TARGETS["weight_at"](np.array([[0.7, 0.3], [0.4, 0.6]]), 1, 0) == 0.4


class TestVarianceGrowth:
    # All vectors whose entries are one of two equally likely values: exact moments, without noise.
    Q = np.stack(np.meshgrid(*[[-0.5, 2.0]] * 3), axis=-1).reshape(-1, 3)
    K = np.stack(np.meshgrid(*[[-3.0, 1.0]] * 3), axis=-1).reshape(-1, 3)

    def moments(self, q, k):
        scores = (q @ k.T).ravel()
        return scores.mean(), scores.var()

    def test_mean(self):
        mean, _ = self.moments(self.Q, self.K)
        assert TARGETS["score_mean"](3, self.Q.mean(), self.K.mean()) == pytest.approx(mean)

    def test_variance_and_standard_deviation(self):
        q, k = self.Q - self.Q.mean(), self.K - self.K.mean()
        _, variance = self.moments(q, k)
        assert TARGETS["score_variance"](3, q.var(), k.var()) == pytest.approx(variance)
        assert TARGETS["score_sd"](3, q.var(), k.var()) == pytest.approx(variance**0.5)
        scale = TARGETS["scale_for"](3, q.var(), k.var())
        assert self.moments(scale * q, k)[1] == pytest.approx(1)

    def test_dividing_scores(self):
        signs = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
        assert TARGETS["scaled_variance"](3, 2.5) == pytest.approx(
            self.moments(signs / 2.5, signs)[1]
        )

    def test_about_95_percent_of_scores_are_in_the_range(self):
        n = 10_000
        scores = np.einsum("nd,nd->n", draw(n, 64), draw(n, 64))
        inside = np.mean(np.abs(scores) < TARGETS["score_range"](64))
        normal = math.erf(2 / math.sqrt(2))
        # Allows for sampling noise and for the wider tails of a sum of 64 products.
        assert abs(inside - normal) < 4 * math.sqrt(normal * (1 - normal) / n) + 0.003

    def test_the_scale_of_a_head_depends_on_its_width(self):
        assert TARGETS["head_scale"](48, 6, 10) == pytest.approx(1 / 8**0.5)

    def test_measured_variance_is_over_matched_pairs(self):
        q, k = draw(9, D_K), draw(9, D_K)
        scores = [a @ b for a, b in zip(q, k, strict=True)]
        mean = sum(scores) / 9
        expected = sum((score - mean) ** 2 for score in scores) / 9
        assert TARGETS["measured_variance"](q, k) == pytest.approx(expected)


class TestSoftmaxSaturation:
    def test_two_keys(self):
        assert TARGETS["two_key_weight"](1.5) == pytest.approx(weights_of([3.0, 1.5])[0])

    def test_temperature(self):
        scores = draw(N_Q, N_K)
        expected = [weights_of(row / 8) for row in scores]
        np.testing.assert_allclose(TARGETS["tempered_softmax"](scores, 8.0), expected)
        assert TARGETS["mean_largest_weight"](scores) == pytest.approx(
            np.mean([max(weights_of(row)) for row in scores])
        )

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_exp_overflows_past_the_limit_and_not_before(self, dtype):
        limit = TARGETS["overflow_limit"](dtype)
        with np.errstate(over="ignore"):
            near = np.exp(np.array([0.998 * limit, 1.002 * limit], dtype=dtype))
        assert np.isfinite(near).tolist() == [True, False]

    def test_gradient_through_softmax(self):
        scores, grad = draw(N_Q, N_K), draw(N_Q, N_K)

        def loss(s):
            return sum(weights_of(row) @ g for row, g in zip(s, grad, strict=True))

        weights = np.array([weights_of(row) for row in scores])
        given = TARGETS["softmax_backward"](weights, grad)
        for index in np.ndindex(scores.shape):
            assert given[index] == pytest.approx(slope(loss, scores, index), abs=1e-8)

    def test_gradient_of_cross_entropy(self):
        scores = draw(N_K)
        given = TARGETS["cross_entropy_gradient"](scores, 2)
        for index in range(N_K):
            expected = slope(lambda s: -math.log(weights_of(s)[2]), scores, index)
            assert given[index] == pytest.approx(expected, abs=1e-8)


class TestMasking:
    def test_masks_entry_by_entry(self):
        cached = TARGETS["cached_causal_mask"](N_Q, N_K)
        assert all(cached[i, j] == (j <= i + 2) for i, j in np.ndindex(N_Q, N_K))
        combined = TARGETS["combined_mask"]([4, 0, 2], 5)
        for b, length in enumerate([4, 0, 2]):
            assert all(combined[b, i, j] == (j <= i and j < length) for i, j in np.ndindex(5, 5))
        window = TARGETS["window_mask"](7, 3)
        assert all(window[i, j] == (i - 3 < j <= i) for i, j in np.ndindex(7, 7))

    def test_from_key_padding(self):
        blocked = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]], dtype=bool)
        mask = TARGETS["mask_from_key_padding"](blocked)
        np.testing.assert_array_equal(mask, TARGETS["padding_mask"]([2, 4], 5))

    def test_visible_keys(self):
        assert TARGETS["visible_keys"](TARGETS["window_mask"](4, 2)).tolist() == [1, 2, 2, 2]

    def test_attention_to_allowed_keys(self):
        q, k, v = draw(N_Q, D_K), draw(N_K, D_K), draw(N_K, D_V)
        mask = np.array([[1, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0]], dtype=bool)
        expected = attend(q, k, v, lambda i, j: mask[i, j])
        np.testing.assert_allclose(TARGETS["masked_attention"](q, k, v, mask), expected)
        weights = TARGETS["masked_softmax"](q @ k.T / D_K**0.5, mask)
        np.testing.assert_allclose(weights @ v, expected)
        assert (weights[~mask] == 0).all()
        hidden = TARGETS["masked_scores"](q @ k.T, mask)
        assert (np.isneginf(hidden) == ~mask).all()
        np.testing.assert_array_equal(hidden[mask], (q @ k.T)[mask])

    def test_causal_and_cached(self):
        q, k, v = draw(N_K, D_K), draw(N_K, D_K), draw(N_K, D_V)
        expected = attend(q, k, v, lambda i, j: j <= i)
        np.testing.assert_allclose(TARGETS["causal_attention"](q, k, v), expected)
        np.testing.assert_allclose(TARGETS["cached_attention"](q[-N_Q:], k, v), expected[-N_Q:])

    def test_padded_is_truncated(self):
        q, k, v = draw(2, N_Q, D_K), draw(2, N_K, D_K), draw(2, N_K, D_V)
        given = TARGETS["padded_attention"](q, k, v, [4, 2])
        for b, length in enumerate([4, 2]):
            expected = attend(q[b], k[b, :length], v[b, :length], lambda i, j: True)
            np.testing.assert_allclose(given[b], expected)


class TestComplexity:
    def test_operations_counted_one_by_one(self):
        pairs = [(i, j) for i in range(N_Q) for j in range(N_K)]
        scores = sum(2 for _ in pairs for _ in range(D_K))
        mix = sum(2 for _ in pairs for _ in range(D_V))
        assert TARGETS["score_flops"](N_Q, N_K, D_K) == scores
        assert TARGETS["attention_flops"](N_Q, N_K, D_K, D_V, 4) == 4 * (scores + mix)
        per_token = sum(2 for _ in range(4) for _ in range(10) for _ in range(10))
        assert TARGETS["projection_flops"](N_Q, 10) == N_Q * per_token
        # 99 cached tokens and the new one: for each, a score and a weighted value of 16 numbers.
        assert TARGETS["decoding_flops"](99, 16) == sum(2 * 2 * 16 for _ in range(100))

    @pytest.mark.parametrize("d_model", [1, 6, 512])
    def test_where_attention_meets_its_projections(self, d_model):
        n = TARGETS["crossover_length"](d_model)
        attention = TARGETS["attention_flops"](n, n, d_model, d_model, 1)
        assert attention == TARGETS["projection_flops"](n, d_model)

    def test_memory(self):
        assert TARGETS["mebibytes"](3 * 1024 * 1024) == 3

    def test_additive_scores(self):
        q, k, w_q, w_k, w = draw(N_Q, 7), draw(N_K, 4), draw(7, 6), draw(4, 6), draw(6)
        given = TARGETS["additive_scores"](q, k, w_q, w_k, w)
        for i, j in np.ndindex(N_Q, N_K):
            hidden = [math.tanh(q[i] @ w_q[:, h] + k[j] @ w_k[:, h]) for h in range(6)]
            assert given[i, j] == pytest.approx(np.dot(hidden, w))

    def test_parameters_of_additive_attention(self):
        w_q, w_k, w = np.empty((7, 4)), np.empty((7, 4)), np.empty(4)
        assert TARGETS["additive_parameters"](7, 4) == w_q.size + w_k.size + w.size

    @pytest.mark.parametrize("shift", [0.0, 900.0, -900.0])
    def test_two_blocks_make_the_whole(self, shift):
        scores, v = draw(N_Q, N_K), draw(N_K, D_V)
        scores[:, 2:] += shift
        stats = []
        for part in (slice(0, 2), slice(2, N_K)):
            top = scores[:, part].max(axis=1)
            total = np.exp(scores[:, part] - top[:, None]).sum(axis=1)
            out = np.array([weights_of(row - max(row)) for row in scores[:, part]]) @ v[part]
            stats.append((top, total, out))
        (max_a, sum_a, out_a), (max_b, sum_b, out_b) = stats
        top, total = TARGETS["merge_sums"](max_a, sum_a, max_b, sum_b)
        np.testing.assert_allclose(top, scores.max(axis=1))
        np.testing.assert_allclose(total, np.exp(scores - top[:, None]).sum(axis=1))
        whole = np.array([weights_of(row - max(row)) for row in scores]) @ v
        merged = TARGETS["merge_outputs"](max_a, sum_a, out_a, max_b, sum_b, out_b)
        np.testing.assert_allclose(merged, whole)

    def test_streaming_is_attention(self):
        q, k, v = draw(N_Q, D_K), draw(N_K, D_K), draw(N_K, D_V)
        expected = attend(q, k, v, lambda i, j: True)
        np.testing.assert_allclose(TARGETS["streaming_attention"](q, k, v, 2), expected)


class TestPuttingItTogether:
    def test_multi_head_attention_head_by_head(self):
        n, d_model, heads, d_out = 5, 10, 4, 6
        x, w_q, w_k = draw(n, d_model), draw(d_model, 12), draw(d_model, 12)
        w_v, w_o = draw(d_model, 8), draw(8, d_out)
        expected = np.zeros((n, d_out))
        for h in range(heads):
            q, k = x @ w_q[:, 3 * h : 3 * h + 3], x @ w_k[:, 3 * h : 3 * h + 3]
            v = x @ w_v[:, 2 * h : 2 * h + 2]
            expected += attend(q, k, v, lambda i, j: True) @ w_o[2 * h : 2 * h + 2]
        given = TARGETS["multi_head_attention"](x, w_q, w_k, w_v, w_o, heads)
        np.testing.assert_allclose(given, expected)

    def test_gradients_by_differences(self):
        q, k, v = draw(N_Q, D_K), draw(N_K, D_K), draw(N_K, D_V)
        grad = draw(N_Q, D_V)

        def loss(q, k, v):
            return np.sum(attend(q, k, v, lambda i, j: True) * grad)

        given = TARGETS["query_gradient"](grad, q, k, v)
        expected = [slope(lambda x: loss(x, k, v), q, i) for i in np.ndindex(q.shape)]
        np.testing.assert_allclose(given.ravel(), expected, atol=1e-8)
        given = TARGETS["key_gradient"](grad, q, k, v)
        expected = [slope(lambda x: loss(q, x, v), k, i) for i in np.ndindex(k.shape)]
        np.testing.assert_allclose(given.ravel(), expected, atol=1e-8)

        weights = attend(q, k, np.eye(N_K), lambda i, j: True)
        given = TARGETS["value_gradient"](weights, grad)
        expected = [slope(lambda x: loss(q, k, x), v, i) for i in np.ndindex(v.shape)]
        np.testing.assert_allclose(given.ravel(), expected, atol=1e-8)
        given = TARGETS["weights_gradient"](grad, v)
        expected = [
            slope(lambda x: np.sum(x @ v * grad), weights, i) for i in np.ndindex(weights.shape)
        ]
        np.testing.assert_allclose(given.ravel(), expected, atol=1e-8)

    def test_central_difference_of_a_cubic(self):
        x = draw(2, 3)
        given = TARGETS["central_difference"]((x + 0.1) ** 3, x**3, (x - 0.1) ** 3, 0.1)
        np.testing.assert_allclose(given, 3 * x**2 + 0.1**2)  # the error is the step squared


class TestFromTextToNextWord:
    def test_embedding_word_by_word(self):
        table, places = draw(9, 4), draw(8, 4)
        ids = np.array([[3, 0, 3], [8, 1, 2]])
        given = TARGETS["embed"](ids, table, places, 5)
        for text, i in np.ndindex(2, 3):
            np.testing.assert_allclose(given[text, i], table[ids[text, i]] + places[5 + i])

    def test_block_adds_causal_heads_of_the_normed_stream(self):
        n, d_model, heads = 4, 6, 2
        x, gain, bias = draw(n, d_model), draw(d_model), draw(d_model)
        w_q, w_k, w_v, w_o = draw(6, 10), draw(6, 10), draw(6, 8), draw(8, 6)
        normed = np.array([gain * (row - row.mean()) / (row.var() + 1e-5) ** 0.5 for row in x])
        normed += bias
        expected = x.copy()
        for h in range(heads):
            q, k = normed @ w_q[:, 5 * h : 5 * h + 5], normed @ w_k[:, 5 * h : 5 * h + 5]
            v = normed @ w_v[:, 4 * h : 4 * h + 4]
            expected += attend(q, k, v, lambda i, j: j <= i) @ w_o[4 * h : 4 * h + 4]
        given = TARGETS["block"](x, gain, bias, w_q, w_k, w_v, w_o, heads)
        np.testing.assert_allclose(given, expected)

    def test_shuffled_words_take_outputs_and_weights_along(self):
        x, order = draw(5, 4), np.array([3, 0, 4, 2, 1])
        w_q, w_k, w_v = draw(4, 3), draw(4, 3), draw(4, 2)

        def weights_and_output(x):
            weights = attend(x @ w_q, x @ w_k, np.eye(5), lambda i, j: True)
            return weights, weights @ x @ w_v

        (weights, output), (after, moved) = weights_and_output(x), weights_and_output(x[order])
        np.testing.assert_allclose(TARGETS["output_after_shuffling"](output, order), moved)
        for i, j in np.ndindex(5, 5):
            weight = TARGETS["weight_after_shuffling"](weights, order, i, j)
            assert weight == pytest.approx(after[i, j])

    def test_the_induction_head_of_drawn_maps(self):
        rng = np.random.default_rng(8)
        for n_layers, n_heads in ((2, 2), (2, 3), (3, 4)):
            ids = text_with_repeats(rng, 6, 3, 2)
            weights = maps_with_induction_head(rng, ids, n_layers, n_heads)
            np.testing.assert_allclose(weights.sum(axis=-1), 1)
            assert (weights == np.tril(weights)).all()
            layer, head = TARGETS["induction_head"](weights, ids)
            for i, word in enumerate(ids):
                if word in ids[:i]:
                    source = ids.tolist().index(word) + 1
                    there = weights[:, :, i, source].copy()
                    assert source < i - 1
                    assert there[layer, head] >= FOCUS[0] > 0.5
                    there[layer, head] = 0
                    assert there.max() <= 1 - FOCUS_OF_OTHERS[0]

    def test_a_text_needs_words_that_can_come_again(self):
        with pytest.raises(ValueError, match=r"expected from 1 to 3 words to come again, .* got 4"):
            text_with_repeats(np.random.default_rng(0), 5, 4, 0)

    def test_the_induction_head_of_the_trained_model(self):
        ids = encode("ada tea bob juice cleo milk bob")
        trace = forward(trained_model(), ids)
        weights = np.stack([trace["layer1.weights"], trace["layer2.weights"]])
        found = find_heads(trained_model(), draw_sentences(50, np.random.default_rng(0)))
        layer, head, _ = found["induction"]
        assert TARGETS["induction_head"](weights, ids).tolist() == [layer - 1, head - 1]

    def test_without_a_head_only_its_part_is_missing(self):
        merged, w_o = draw(3, 6), draw(6, 4)
        for head in range(3):
            part = merged[:, 2 * head : 2 * head + 2] @ w_o[2 * head : 2 * head + 2]
            left = merged @ TARGETS["without_head"](w_o, 3, head)
            np.testing.assert_allclose(left, merged @ w_o - part)

    def test_lead_of_what_is_left(self):
        parts = draw(5, 2)
        first, second = np.delete(parts, 3, axis=0).sum(axis=0)
        assert TARGETS["lead_without_head"](parts, 3) == pytest.approx(first - second)

    def test_writing_takes_the_likeliest_word_again_and_again(self):
        text = encode("ada tea bob milk bob").tolist()
        given = TARGETS["write"](text, 4)
        for _ in range(4):
            text.append(forward(trained_model(), text)["logits"][-1].argmax())
        assert given.tolist() == text


def test_names_match_the_functions():
    renamed = {"attention", "attention_formula"}
    assert {name for name, function in TARGETS.items() if function.__name__ != name} == renamed
