import numpy as np
import pytest

from attn_lib import causal_mask, padding_mask, scaled_dot_product_attention
from attn_lib.multihead import merge_heads, multi_head_attention, split_heads

H, N_Q, N_K, D_MODEL, D_CONTEXT, D_K, D_V, D_OUT = 4, 3, 5, 6, 8, 7, 2, 9


def inputs(*batch, d_context=D_CONTEXT, dtype=np.float64):
    """Return x, the context and the four weight matrices."""
    rng = np.random.default_rng(31)
    shapes = (
        (*batch, N_Q, D_MODEL),
        (*batch, N_K, d_context),
        (D_MODEL, H * D_K),
        (d_context, H * D_K),
        (d_context, H * D_V),
        (H * D_V, D_OUT),
    )
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def by_loops(x, context, w_q, w_k, w_v, w_o, allowed=None, scale=None):
    """Compute the definition one head and one query at a time, for two-dimensional inputs.

    Concat(heads) @ w_o equals the sum over heads of the head times its rows of w_o.
    """
    output = np.zeros((len(x), w_o.shape[1]))
    d_k, d_v = w_k.shape[1] // H, w_v.shape[1] // H
    for head in range(H):
        own_k, own_v = slice(head * d_k, (head + 1) * d_k), slice(head * d_v, (head + 1) * d_v)
        q, k, v = x @ w_q[:, own_k], context @ w_k[:, own_k], context @ w_v[:, own_v]
        for i in range(len(x)):
            keys = [j for j in range(len(context)) if allowed is None or allowed[i, j]]
            powers = [np.exp(q[i] @ k[j] * (scale or d_k**-0.5)) for j in keys]
            mixed = sum(p * v[j] for p, j in zip(powers, keys, strict=True)) / sum(powers)
            output[i] += mixed @ w_o[own_v]
    return output


def test_split_heads_by_loops():
    x = np.arange(2 * 3 * 20.0).reshape(2, 3, 20)
    heads = split_heads(x, n_heads=4)
    assert heads.shape == (2, 4, 3, 5)
    for b, h, i, c in np.ndindex(heads.shape):
        assert heads[b, h, i, c] == x[b, i, h * 5 + c]


@pytest.mark.parametrize("shape", [(3, 20), (2, 3, 20), (6, 2, 3, 20), (0, 20), (3, 0)])
def test_merge_heads_undoes_split_heads(shape):
    x = np.random.default_rng(3).normal(size=shape)
    np.testing.assert_array_equal(merge_heads(split_heads(x, n_heads=4)), x)


def test_cross_attention_equals_a_loop_over_heads():
    arrays = inputs()
    x, context, *matrices = arrays
    output = multi_head_attention(x, *matrices, n_heads=H, context=context)
    assert output.shape == (N_Q, D_OUT)
    np.testing.assert_allclose(output, by_loops(*arrays), rtol=1e-10)


def test_without_context_x_attends_to_itself():
    x, _, *matrices = inputs(d_context=D_MODEL)
    output = multi_head_attention(x, *matrices, n_heads=H, is_causal=True, scale=0.2)
    expected = by_loops(x, x, *matrices, allowed=causal_mask(N_Q, N_Q), scale=0.2)
    np.testing.assert_allclose(output, expected, rtol=1e-10)


def test_one_head_is_plain_attention_between_projections():
    x, context, w_q, w_k, w_v, w_o = inputs()
    plain = scaled_dot_product_attention(x @ w_q, context @ w_k, context @ w_v) @ w_o
    output = multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads=1, context=context)
    np.testing.assert_allclose(output, plain, rtol=1e-12)


@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
def test_causal_follows_the_alignment(alignment):
    x, context, *matrices = inputs()
    output = multi_head_attention(
        x, *matrices, n_heads=H, context=context, is_causal=True, causal_alignment=alignment
    )
    expected = by_loops(x, context, *matrices, allowed=causal_mask(N_Q, N_K, alignment))
    np.testing.assert_allclose(output, expected, rtol=1e-10)


# With batch = H, a mask broadcast along the wrong axis would raise no error.
@pytest.mark.parametrize("batch", [2, H])
def test_a_padding_mask_applies_to_all_heads_of_one_sequence(batch):
    x, context, *matrices = inputs(batch)
    lengths = np.array([3, 5, 2, 4])[:batch]
    mask = padding_mask(lengths, N_K)
    output = multi_head_attention(x, *matrices, n_heads=H, context=context, mask=mask)
    for i, length in enumerate(lengths):
        expected = by_loops(x[i], context[i, :length], *matrices)
        np.testing.assert_allclose(output[i], expected, rtol=1e-10)


def test_one_context_is_shared_by_all_sequences():
    x, context, *matrices = inputs(2)
    allowed = causal_mask(N_Q, N_K)
    output = multi_head_attention(x, *matrices, n_heads=H, context=context[0], mask=allowed)
    for i in range(2):
        expected = by_loops(x[i], context[0], *matrices, allowed=allowed)
        np.testing.assert_allclose(output[i], expected, rtol=1e-10)


def test_permuting_positions_permutes_the_output():
    x, context, *matrices = inputs(2, d_context=D_MODEL)
    order = [2, 0, 1]
    output = multi_head_attention(x, *matrices, n_heads=H)
    moved = multi_head_attention(x[:, order], *matrices, n_heads=H)
    np.testing.assert_allclose(moved, output[:, order], rtol=1e-10)
    causal = multi_head_attention(x, *matrices, n_heads=H, is_causal=True)
    moved = multi_head_attention(x[:, order], *matrices, n_heads=H, is_causal=True)
    assert not np.allclose(moved, causal[:, order])

    crossed = multi_head_attention(x, *matrices, n_heads=H, context=context)
    shuffled = multi_head_attention(x, *matrices, n_heads=H, context=context[:, ::-1])
    np.testing.assert_allclose(shuffled, crossed, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_trace_holds_every_step_in_the_type_of_the_inputs(dtype):
    x, context, *matrices = inputs(2, dtype=dtype)
    matrices[:2] = (w / 4 for w in matrices[:2])
    trace = multi_head_attention(x, *matrices, n_heads=H, context=context, return_trace=True)
    assert trace.q.shape == (2, H, N_Q, D_K)
    assert trace.k.shape == (2, H, N_K, D_K)
    assert trace.v.shape == (2, H, N_K, D_V)
    assert trace.heads.weights.shape == (2, H, N_Q, N_K)
    assert trace.merged.shape == (2, N_Q, H * D_V)
    steps = [trace.q, trace.k, trace.v, *trace.heads, trace.merged, trace.output]
    assert {step.dtype for step in steps} == {np.dtype(dtype)}

    tolerance = 20 * float(np.finfo(dtype).eps)
    heads = scaled_dot_product_attention(
        *(a.astype(float) for a in (trace.q, trace.k, trace.v)), return_trace=True
    )
    np.testing.assert_allclose(trace.heads.weights, heads.weights, atol=tolerance)
    np.testing.assert_array_equal(
        trace.merged[1, 2, 2 * D_V : 3 * D_V], trace.heads.output[1, 2, 2]
    )
    output = multi_head_attention(x, *matrices, n_heads=H, context=context)
    np.testing.assert_array_equal(trace.output, output)
    exact = by_loops(*(a.astype(float) for a in (x[1], context[1], *matrices)))
    np.testing.assert_allclose(output[1], exact, rtol=tolerance, atol=2 * tolerance)


def test_half_precision_is_accumulated_in_single():
    width = 4096
    x = np.full((1, width), 16, np.float16)
    context = np.concatenate([x, -x])  # projections of ±65536, beyond float16's maximum of 65504
    w_q, w_v = np.ones((width, 1), np.float16), np.eye(width, 1, dtype=np.float16)
    w_o = np.ones((1, 1), np.float16)
    output = multi_head_attention(x, w_q, w_q, w_v, w_o, n_heads=1, context=context)
    assert output.tolist() == [[16.0]]


def test_a_query_with_nothing_to_attend_to_gets_zeros():
    x, context, *matrices = inputs()
    mask = np.ones((N_Q, N_K), bool)
    mask[1] = False
    output = multi_head_attention(x, *matrices, n_heads=H, context=context, mask=mask)
    assert output[1].tolist() == [0.0] * D_OUT
    assert output[[0, 2]].all()


def shaped(*shape):
    return np.zeros(shape)


RIGHT = {
    "x": shaped(2, N_Q, D_MODEL),
    "w_q": shaped(D_MODEL, H * D_K),
    "w_k": shaped(D_CONTEXT, H * D_K),
    "w_v": shaped(D_CONTEXT, H * D_V),
    "w_o": shaped(H * D_V, D_OUT),
    "context": shaped(2, N_K, D_CONTEXT),
    "n_heads": H,
}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"x": shaped(D_MODEL)}, ValueError, r"x @ w_q: .* got \(6,\) and \(6, 28\)"),
        ({"w_q": shaped(D_K, D_MODEL)}, ValueError, r"x @ w_q: .* got \(2, 3, 6\) and \(7, 6\)"),
        ({"w_v": shaped(D_CONTEXT)}, ValueError, r"context @ w_v: .* and \(8,\)"),
        ({"context": None}, ValueError, r"x @ w_k: .* got \(2, 3, 6\) and \(8, 28\)"),
        ({"n_heads": 3}, ValueError, r"x @ w_q: .* n_heads = 3, got \(2, 3, 28\)"),
        ({"n_heads": 0}, ValueError, "n_heads = 0"),
        ({"n_heads": 4.0}, ValueError, "n_heads: expected a whole number, got 4.0"),
        ({"w_k": shaped(D_CONTEXT, H * D_V)}, ValueError, "q and k of the same width d_k"),
        ({"w_o": shaped(H * D_K, D_OUT)}, ValueError, r"merged heads @ w_o: .* and \(28, 9\)"),
        ({"context": shaped(4, N_K, D_CONTEXT)}, ValueError, "one context for each sequence"),
        (
            {"mask": np.ones((2, 1, N_Q, N_K), bool)},
            ValueError,
            r"= \(2, 3, 5\), got \(2, 1, 3, 5\)",
        ),
        ({"mask": np.ones((N_K, N_Q), bool)}, ValueError, r"= \(2, 3, 5\), got \(5, 3\)"),
        ({"mask": np.ones((2, N_Q, N_K), int)}, TypeError, r"\.astype\(bool\)"),
        ({"w_o": [["a"]]}, TypeError, "w_o: expected real numbers"),
    ],
)
def test_misuse_is_explained(change, error, message):
    with pytest.raises(error, match=message):
        multi_head_attention(**RIGHT | change)


@pytest.mark.parametrize(
    ("function", "args", "error", "message"),
    [
        (split_heads, (shaped(3, 20), 3), ValueError, r"n_heads = 3, got \(3, 20\)"),
        (split_heads, (shaped(20), 4), ValueError, r"\(..., n, n_heads \* d\) .* got \(20,\)"),
        (split_heads, ([["a"]], 1), TypeError, "x: expected real numbers"),
        (merge_heads, (shaped(3, 20),), ValueError, r"x\[None\]"),
    ],
)
def test_misuse_of_splitting_is_explained(function, args, error, message):
    with pytest.raises(error, match=message):
        function(*args)
