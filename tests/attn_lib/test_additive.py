import math

import numpy as np
import pytest

from attn_lib import causal_mask, padding_mask
from attn_lib.additive import additive_attention

N_Q, N_K, D_Q, D_KEY, D_V, D_HIDDEN = 3, 5, 7, 6, 2, 4


def inputs(*batch, dtype=np.float64):
    rng = np.random.default_rng(41)
    shapes = (
        (*batch, N_Q, D_Q),
        (*batch, N_K, D_KEY),
        (*batch, N_K, D_V),
        (D_Q, D_HIDDEN),
        (D_KEY, D_HIDDEN),
        (D_HIDDEN,),
    )
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def by_loops(q, k, v, w_q, w_k, w_score, allowed=None, bias=None):
    """Compute the definition one number at a time, for two-dimensional inputs."""
    output = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        powers = {}
        for j in range(len(k)):
            if allowed is not None and not allowed[i, j]:
                continue
            score = 0.0 if bias is None else bias[i, j]
            for h in range(len(w_score)):
                hidden = sum(w_q[c, h] * q[i, c] for c in range(q.shape[1]))
                hidden += sum(w_k[c, h] * k[j, c] for c in range(k.shape[1]))
                score += w_score[h] * math.tanh(hidden)
            powers[j] = math.exp(score)
        for j, power in powers.items():
            output[i] += power / sum(powers.values()) * v[j]
    return output


def test_equals_the_definition_by_loops():
    arrays = inputs()
    output = additive_attention(*arrays)
    assert output.shape == (N_Q, D_V)
    np.testing.assert_allclose(output, by_loops(*arrays), rtol=1e-12)


def test_leading_axes_are_independent_and_broadcast():
    q, k, v, *weights = inputs(4, 8)
    output = additive_attention(q, k[0, 0], v[:1], *weights)
    assert output.shape == (4, 8, N_Q, D_V)
    expected = by_loops(q[2, 5], k[0, 0], v[0, 5], *weights)
    np.testing.assert_allclose(output[2, 5], expected, rtol=1e-12)


def test_boolean_mask_true_means_may_attend():
    arrays = inputs()
    allowed = causal_mask(N_Q, N_K, "bottom-right")
    output = additive_attention(*arrays, mask=allowed)
    np.testing.assert_allclose(output, by_loops(*arrays, allowed=allowed), rtol=1e-12)


def test_float_mask_is_added_to_the_scores():
    arrays = inputs()
    bias = np.random.default_rng(6).normal(size=(N_Q, N_K))
    output = additive_attention(*arrays, mask=bias)
    np.testing.assert_allclose(output, by_loops(*arrays, bias=bias), rtol=1e-12)


def test_padded_equals_truncated():
    q, k, v, *weights = inputs(2)
    output = additive_attention(q, k, v, *weights, mask=padding_mask([2, 4], N_K))
    for i, length in enumerate([2, 4]):
        expected = by_loops(q[i], k[i, :length], v[i, :length], *weights)
        np.testing.assert_allclose(output[i], expected, rtol=1e-12)


def test_trace_holds_every_step():
    arrays = inputs(8)
    allowed = causal_mask(N_Q, N_K)
    trace = additive_attention(*arrays, mask=allowed, return_trace=True)
    q, k, v, w_q, w_k, w_score = arrays
    score = w_score @ np.tanh(w_q.T @ q[6, 2] + w_k.T @ k[6, 1])
    assert trace.raw[6, 2, 1] == pytest.approx(score, rel=1e-13)
    np.testing.assert_array_equal(trace.scaled, trace.raw)
    np.testing.assert_array_equal(trace.masked, np.where(allowed, trace.raw, -np.inf))
    powers = np.exp(trace.masked)
    np.testing.assert_allclose(trace.weights, powers / powers.sum(-1, keepdims=True), rtol=1e-13)
    np.testing.assert_allclose(trace.output, trace.weights @ v, rtol=1e-14)
    np.testing.assert_array_equal(trace.output, additive_attention(*arrays, mask=allowed))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_float_type_is_kept_and_an_empty_row_is_zero(dtype):
    arrays = inputs(dtype=dtype)
    mask = np.ones((N_Q, N_K), bool)
    mask[1] = False
    trace = additive_attention(*arrays, mask=mask, return_trace=True)
    assert {step.dtype for step in trace} == {np.dtype(dtype)}
    assert trace.weights[1].tolist() == [0.0] * N_K
    assert trace.output[1].tolist() == [0.0] * D_V
    assert additive_attention(*arrays).dtype == dtype
    exact = by_loops(*(a.astype(float) for a in arrays))
    tolerance = 8 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(trace.output[[0, 2]], exact[[0, 2]], atol=tolerance)


def test_half_precision_is_accumulated_in_single():
    width = 4096
    q, k = np.full((1, width), 16, np.float16), np.full((2, width), -16, np.float16)
    k[1, 0] = 16  # both sums are about 65536, beyond float16's maximum of 65504
    weights = np.ones((width, 1), np.float16)
    v = np.array([[1], [2]], np.float16)
    trace = additive_attention(q, k, v, weights, weights, np.ones(1, np.float16), return_trace=True)
    np.testing.assert_allclose(trace.raw, [[0.0, 1.0]], atol=1e-3)


def shaped(*shape):
    return np.zeros(shape)


RIGHT = dict(zip(("q", "k", "v", "w_q", "w_k", "w_score"), inputs(2), strict=True))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"q": shaped(D_Q)}, ValueError, r"q @ w_q: .* got \(7,\) and \(7, 4\)"),
        ({"w_q": shaped(D_HIDDEN, D_Q)}, ValueError, r"q @ w_q: .* and \(4, 7\)"),
        ({"w_k": shaped(D_Q, D_HIDDEN)}, ValueError, r"k @ w_k: .* and \(7, 4\)"),
        ({"w_k": shaped(D_KEY, 9)}, ValueError, "make d_hidden the same in all"),
        ({"w_score": shaped(D_HIDDEN, 1)}, ValueError, r"got \(7, 4\), \(6, 4\) and \(4, 1\)"),
        ({"v": shaped(2, N_Q, D_V)}, ValueError, "one value for each key"),
        ({"v": shaped(3, N_K, D_V)}, ValueError, "leading axes that broadcast"),
        ({"mask": np.ones((N_K, N_Q), bool)}, ValueError, r"= \(2, 3, 5\), got \(5, 3\)"),
        ({"mask": np.ones((N_Q, N_K), int)}, TypeError, r"\.astype\(bool\)"),
        ({"w_score": ["a"]}, TypeError, "w_score: expected real numbers"),
    ],
)
def test_misuse_is_explained(change, error, message):
    with pytest.raises(error, match=message):
        additive_attention(**RIGHT | change)
