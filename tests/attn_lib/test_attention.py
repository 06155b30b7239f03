import numpy as np
import pytest

from attn_lib import causal_mask, padding_mask, scaled_dot_product_attention, softmax

Q = [[2, 1]]
K = [[2, 1], [1, 0], [0, -1]]
V = [[10, 0], [0, 8], [1, 1]]


def inputs(*batch, n_q=3, n_k=5, d_k=7, d_v=2, dtype=np.float64, seed=11):
    rng = np.random.default_rng(seed)
    shapes = ((*batch, n_q, d_k), (*batch, n_k, d_k), (*batch, n_k, d_v))
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def by_loops(q, k, v, allowed=None, scale=None):
    """Compute the definition one number at a time, for two-dimensional inputs."""
    output = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        keys = [j for j in range(len(k)) if allowed is None or allowed[i, j]]
        scores = [
            sum(q[i, c] * k[j, c] for c in range(q.shape[1]))
            * (1 / np.sqrt(q.shape[1]) if scale is None else scale)
            for j in keys
        ]
        exponentials = np.exp(scores)
        for j, exponential in zip(keys, exponentials, strict=True):
            output[i] += exponential / exponentials.sum() * v[j]
    return output


def test_worked_example_with_every_step():
    trace = scaled_dot_product_attention(Q, K, V, return_trace=True)
    assert trace.raw.tolist() == [[5, 2, -1]]
    np.testing.assert_allclose(trace.scaled, [[3.5355, 1.4142, -0.7071]], atol=5e-5)
    np.testing.assert_array_equal(trace.masked, trace.scaled)
    np.testing.assert_allclose(trace.weights, [[0.8816, 0.1057, 0.0127]], atol=5e-5)
    np.testing.assert_allclose(trace.output, [[8.8291, 0.8582]], atol=5e-5)


def test_equals_the_definition_by_loops():
    q, k, v = inputs()
    output = scaled_dot_product_attention(q, k, v)
    assert output.shape == (3, 2)
    np.testing.assert_allclose(output, by_loops(q, k, v), rtol=1e-12)


def test_leading_axes_are_independent_and_broadcast():
    q, k, v = inputs(4, 6)
    output = scaled_dot_product_attention(q, k[0, 0], v[:1])
    assert output.shape == (4, 6, 3, 2)
    np.testing.assert_allclose(output[2, 5], by_loops(q[2, 5], k[0, 0], v[0, 5]), rtol=1e-12)


def test_scale_replaces_the_default():
    q, k, v = inputs()
    output = scaled_dot_product_attention(q, k, v, scale=0.3)
    np.testing.assert_allclose(output, by_loops(q, k, v, scale=0.3), rtol=1e-12)
    zero = scaled_dot_product_attention(q, k, v, scale=0.0)
    np.testing.assert_allclose(zero, np.broadcast_to(v.mean(0), (3, 2)), rtol=1e-12)


def test_boolean_mask_true_means_may_attend():
    q, k, v = inputs()
    allowed = np.random.default_rng(5).random((3, 5)) < 0.6
    allowed[:, 0] = True
    output = scaled_dot_product_attention(q, k, v, mask=allowed)
    np.testing.assert_allclose(output, by_loops(q, k, v, allowed), rtol=1e-12)


def test_float_mask_is_added_to_the_scaled_scores():
    q, k, v = inputs()
    bias = np.random.default_rng(6).normal(size=(3, 5))
    trace = scaled_dot_product_attention(q, k, v, mask=bias, return_trace=True)
    np.testing.assert_allclose(trace.weights, softmax(q @ k.T / np.sqrt(7) + bias), rtol=1e-12)


@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
def test_causal_follows_the_alignment(alignment):
    q, k, v = inputs()
    output = scaled_dot_product_attention(q, k, v, is_causal=True, causal_alignment=alignment)
    expected = by_loops(q, k, v, causal_mask(3, 5, alignment))
    np.testing.assert_allclose(output, expected, rtol=1e-12)


def test_the_future_cannot_move_the_past():
    q, k, v = inputs(n_q=5)
    before = scaled_dot_product_attention(q, k, v, is_causal=True)
    k[3:], v[3:] = 100.0, -100.0
    after = scaled_dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_array_equal(after[:3], before[:3])
    assert not np.allclose(after[3:], before[3:])


def test_padded_equals_truncated():
    q, k, v = inputs(2)
    output = scaled_dot_product_attention(q, k, v, mask=padding_mask([2, 4], n_k=5))
    for i, length in enumerate([2, 4]):
        np.testing.assert_allclose(output[i], by_loops(q[i], k[i, :length], v[i, :length]))


def test_mask_and_causal_combine():
    q, k, v = inputs(n_q=5)
    mask = padding_mask(3, n_k=5)
    output = scaled_dot_product_attention(q, k, v, mask=mask, is_causal=True)
    np.testing.assert_allclose(output, by_loops(q, k, v, causal_mask(5, 5) & mask), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("additive", [False, True])
def test_a_query_with_nothing_to_attend_to_gets_zeros(dtype, additive):
    q, k, v = inputs(dtype=dtype)
    mask = np.ones((3, 5), bool)
    mask[1] = False
    if additive:
        mask = np.where(mask, 0, -np.inf).astype(dtype)
    trace = scaled_dot_product_attention(q, k, v, mask=mask, return_trace=True)
    assert trace.weights[1].tolist() == [0.0] * 5
    assert trace.output[1].tolist() == [0.0] * 2
    assert np.isfinite(trace.output).all()
    np.testing.assert_allclose(trace.weights[[0, 2]].sum(-1), 1, atol=5e-3)


def test_without_keys_the_output_is_zero():
    output = scaled_dot_product_attention(np.ones((3, 7)), np.ones((0, 7)), np.ones((0, 2)))
    assert output.tolist() == [[0.0, 0.0]] * 3


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_float_type_is_kept(dtype):
    q, k, v = inputs(dtype=dtype)
    trace = scaled_dot_product_attention(q, k, v, return_trace=True)
    assert {a.dtype for a in trace} == {np.dtype(dtype)}
    exact = by_loops(*(a.astype(np.float64) for a in (q, k, v)))
    np.testing.assert_allclose(trace.output, exact, rtol=3e-3 if dtype is np.float16 else 1e-5)


def test_float16_scores_beyond_its_range_still_give_finite_weights():
    q = np.full((1, 64), 40, np.float16)  # raw scores of 102400, beyond float16's maximum of 65504
    k = np.stack([q[0], -q[0]])
    output = scaled_dot_product_attention(q, k, np.array([[1], [2]], np.float16))
    assert output.tolist() == [[1.0]]


def test_mixed_types_give_the_widest_type():
    q, k, v = inputs()
    output = scaled_dot_product_attention(q.astype(np.float32), k.astype(np.float16), v)
    assert output.dtype == np.float64


def test_grouped_query_heads_share_a_key_head_with_their_neighbours():
    q, _, _ = inputs(2, 6)
    _, k, v = inputs(2, 3, seed=12)
    output = scaled_dot_product_attention(q, k, v, enable_gqa=True)
    assert output.shape == (2, 6, 3, 2)
    for head in range(6):
        expected = by_loops(q[1, head], k[1, head // 2], v[1, head // 2])
        np.testing.assert_allclose(output[1, head], expected, rtol=1e-12)


def test_the_inputs_are_not_changed():
    q, k, v = inputs()
    mask = np.ones((3, 5), bool)
    copies = [a.copy() for a in (q, k, v, mask)]
    scaled_dot_product_attention(q, k, v, mask=mask, is_causal=True)
    for array, copy in zip((q, k, v, mask), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only"])
def test_memory_layout_does_not_matter(layout):
    q, k, v = inputs()
    expected = scaled_dot_product_attention(q, k, v)
    if layout == "fortran":
        q, k, v = (np.asfortranarray(a) for a in (q, k, v))
    elif layout == "strided":
        q, k, v = (np.repeat(a, 2, axis=-1)[..., ::2] for a in (q, k, v))
    else:
        for a in (q, k, v):
            a.flags.writeable = False
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, v), expected, rtol=1e-14)


def shaped(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize(
    ("args", "options", "error", "message"),
    [
        ((shaped(7), shaped(5, 7), shaped(5, 2)), {}, ValueError, r"q\[None, :\]"),
        ((shaped(3, 7), shaped(5, 6), shaped(5, 2)), {}, ValueError, r"q \(3, 7\) and k \(5, 6\)"),
        ((shaped(3, 7), shaped(5, 7), shaped(4, 2)), {}, ValueError, "one value for each key"),
        (
            (shaped(6, 3, 7), shaped(2, 5, 7), shaped(2, 5, 2)),
            {},
            ValueError,
            "pass enable_gqa=True",
        ),
        (
            (shaped(6, 3, 7), shaped(4, 5, 7), shaped(4, 5, 2)),
            {"enable_gqa": True},
            ValueError,
            "multiple",
        ),
        (
            (shaped(3, 7), shaped(5, 7), shaped(5, 2)),
            {"enable_gqa": True},
            ValueError,
            "add the axis of heads",
        ),
        (
            (shaped(3, 7), shaped(5, 7), shaped(5, 2)),
            {"mask": np.ones((5, 3), bool)},
            ValueError,
            r"\(3, 5\), got \(5, 3\)",
        ),
        (
            (shaped(3, 7), shaped(5, 7), shaped(5, 2)),
            {"mask": np.ones((3, 5), int)},
            TypeError,
            r"\.astype\(bool\)",
        ),
        ((["a"], shaped(5, 7), shaped(5, 2)), {}, TypeError, "q: expected real numbers"),
    ],
)
def test_misuse_is_explained(args, options, error, message):
    with pytest.raises(error, match=message):
        scaled_dot_product_attention(*args, **options)
