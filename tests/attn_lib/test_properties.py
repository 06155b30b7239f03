"""Properties that must hold for any sizes and numbers, tested on generated inputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attn_lib import padding_mask, scaled_dot_product_attention, softmax
from attn_lib.additive import additive_attention
from attn_lib.backward import attention_backward
from attn_lib.multihead import multi_head_attention
from attn_lib.softmax import log_softmax, log_sum_exp, softmax_jacobian, softmax_jacobian_norm
from attn_lib.streaming import BlockSizes, stream

DTYPES = (np.float16, np.float32, np.float64)
sizes = st.integers(1, 6)
any_property = settings(deadline=None, derandomize=True, max_examples=30)
many_branches = settings(any_property, max_examples=120)


class Problem(NamedTuple):
    q: np.ndarray  # (..., n_q, d_k)
    k: np.ndarray  # (..., n_k, d_k)
    v: np.ndarray  # (..., n_k, d_v)
    mask: np.ndarray  # (n_q, n_k), True where allowed
    rng: np.random.Generator  # for further random draws of the test

    @property
    def qkv(self):
        return self.q, self.k, self.v


@st.composite
def problems(draw, dtypes=(np.float64,), scales=(0.1, 1.0, 10.0), lengths=sizes):
    batch = draw(arrays.array_shapes(min_dims=0, max_dims=2, max_side=3))
    n_q, n_k, d_k, d_v = (draw(size) for size in (lengths, lengths, sizes, sizes))
    dtype, scale = draw(st.sampled_from(dtypes)), draw(st.sampled_from(scales))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shapes = ((*batch, n_q, d_k), (*batch, n_k, d_k), (*batch, n_k, d_v))
    q, k, v = ((scale * rng.normal(size=shape)).astype(dtype) for shape in shapes)
    return Problem(q, k, v, rng.random((n_q, n_k)) < draw(st.sampled_from([0.2, 0.7, 1.0])), rng)


def additive(q, k, v, **options):
    """Compute additive attention with a random hidden layer of fitting shape."""
    rng = np.random.default_rng(51)
    weights = (rng.normal(size=shape) for shape in ((q.shape[-1], 7), (k.shape[-1], 7), 7))
    return additive_attention(q, k, v, *(w.astype(q.dtype) for w in weights), **options)


def multi_head(q, k, v, **options):
    """Compute multi-head attention with three heads from q to the vectors (k, v)."""
    context = np.concatenate([k, v], axis=-1)
    rng = np.random.default_rng(52)
    shapes = ((q.shape[-1], 21), (context.shape[-1], 21), (context.shape[-1], 6), (6, 5))
    weights = ((rng.normal(size=shape) / 3).astype(q.dtype) for shape in shapes)
    return multi_head_attention(q, *weights, n_heads=3, context=context, **options)


each_attention = pytest.mark.parametrize(
    "attend", [scaled_dot_product_attention, additive, multi_head], ids=lambda f: f.__name__
)


def weights_of(trace):
    return trace.heads.weights if hasattr(trace, "heads") else trace.weights


@any_property
@given(problems(), st.floats(-1e3, 1e3))
def test_softmax_sees_only_differences(problem, shift):
    np.testing.assert_allclose(softmax(problem.q + shift), softmax(problem.q), atol=1e-11)


@each_attention
@any_property
@given(problems(dtypes=DTYPES))
def test_rows_of_weights_sum_to_one_or_are_zero(attend, problem):
    trace = attend(*problem.qkv, mask=problem.mask, return_trace=True)
    weights, some = weights_of(trace), problem.mask.any(-1)
    assert not weights[..., ~problem.mask].any()
    assert (weights >= 0).all()
    sums = weights.sum(-1, dtype=np.float64)
    tolerance = 6 * float(np.finfo(weights.dtype).eps)
    np.testing.assert_allclose(sums, np.broadcast_to(some, sums.shape), atol=tolerance)
    assert not trace.output[..., ~some, :].any()
    assert trace.output.dtype == problem.q.dtype


@each_attention
@any_property
@given(problems())
def test_permuting_keys_or_queries_is_equivariant(attend, problem):
    q, k, v, mask, rng = problem
    queries, keys = (rng.permutation(n) for n in mask.shape)
    output = attend(q, k, v, mask=mask)
    moved = attend(
        q[..., queries, :], k[..., keys, :], v[..., keys, :], mask=mask[np.ix_(queries, keys)]
    )
    np.testing.assert_allclose(moved, output[..., queries, :], rtol=1e-9, atol=1e-9)


@each_attention
@any_property
@given(problems(), st.data())
def test_padded_equals_truncated(attend, problem, data):
    q, k, v, _, rng = problem
    length = data.draw(st.integers(0, k.shape[-2]))
    truncated = attend(q, k[..., :length, :], v[..., :length, :])
    k, v = k.copy(), v.copy()
    k[..., length:, :] = 1e3 * rng.normal(size=k[..., length:, :].shape)
    v[..., length:, :] = 1e3
    padded = attend(q, k, v, mask=padding_mask(length, k.shape[-2]))
    np.testing.assert_allclose(padded, truncated, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, multi_head])
@any_property
@given(problems(), st.sampled_from(["top-left", "bottom-right"]), st.data())
def test_the_future_cannot_move_the_past(attend, problem, alignment, data):
    q, k, v, mask, rng = problem
    n_q, n_k = mask.shape
    options = {"is_causal": True, "causal_alignment": alignment}
    before = attend(q, k, v, **options)
    future = data.draw(st.integers(0, n_k - 1))
    k, v = k.copy(), v.copy()
    k[..., future:, :] = rng.normal(size=k[..., future:, :].shape)
    v[..., future:, :] = 1e3
    after = attend(q, k, v, **options)
    offset = n_k - n_q if alignment == "bottom-right" else 0
    past = np.arange(n_q) + offset < future
    np.testing.assert_array_equal(after[..., past, :], before[..., past, :])


@many_branches
@given(
    problems((np.float32, np.float64), (0.1, 1.0, 30.0), st.sampled_from([1, 2, 5, 17, 24])),
    st.builds(BlockSizes, st.sampled_from([1, 2, 7, 40]), st.sampled_from([1, 2, 7, 40])),
    st.sampled_from(["no mask", "booleans", "floats"]),
    st.sampled_from([None, "top-left", "bottom-right"]),
    st.sampled_from([None, None, 3.0]),
)
def test_blocks_of_any_size_give_the_dense_numbers(problem, blocks, kind, causal, softcap):
    *inputs, allowed, rng = problem
    n_q, n_k = allowed.shape
    bias = np.where(allowed, rng.normal(size=allowed.shape), -np.inf).astype(inputs[0].dtype)
    mask = {"no mask": None, "booleans": allowed, "floats": bias}[kind]
    trace = scaled_dot_product_attention(
        *inputs,
        mask=mask,
        is_causal=causal is not None,
        causal_alignment=causal or "top-left",
        softcap=softcap,
        return_trace=True,
    )
    offset = {None: None, "top-left": 0, "bottom-right": n_k - n_q}[causal]
    scale = inputs[0].shape[-1] ** -0.5
    streamed = stream(
        *inputs, scale=scale, softcap=softcap, mask=mask, causal_offset=offset, blocks=blocks
    )
    assert streamed.dtype == trace.output.dtype
    # The rounding error of a score, about eps times the score, is the relative error of its weight.
    error = np.finfo(streamed.dtype).eps * (1 + np.abs(trace.scaled).max())
    tolerance = 8 * error * np.abs(inputs[2]).max()
    np.testing.assert_allclose(streamed, trace.output, rtol=0, atol=tolerance)


@any_property
@given(problems(scales=(0.1, 1.0)))
def test_gradients_along_any_direction(problem):
    *inputs, mask, rng = problem
    along = [rng.uniform(-1, 1, size=a.shape) for a in inputs]
    d_output = rng.normal(size=(*inputs[0].shape[:-1], inputs[2].shape[-1]))

    def loss(t):
        moved = (a + t * b for a, b in zip(inputs, along, strict=True))
        return (d_output * scaled_dot_product_attention(*moved, mask=mask)).sum()

    gradients = attention_backward(d_output, *inputs, mask=mask)
    expected = (loss(1e-5) - loss(-1e-5)) / 2e-5
    slope = sum((g * b).sum() for g, b in zip(gradients[:3], along, strict=True))
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)
    assert not gradients.q[..., ~mask.any(-1), :].any()


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: np.ascontiguousarray(a[..., ::-1, :])[..., ::-1, :],
    "transposed": lambda a: np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2),
    "as it is": np.copy,
}


def backward(q, k, v, mask):
    d_output = np.ones((*q.shape[:-1], v.shape[-1]), q.dtype)
    return attention_backward(d_output, q, k, v, mask=mask).k


ON_INPUTS = {
    "attention": lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask=mask),
    "additive": lambda q, k, v, mask: additive(q, k, v, mask=mask),
    "multi_head": lambda q, k, v, mask: multi_head(q, k, v, mask=mask),
    "backward": backward,
    "softmax": lambda q, k, v, mask: softmax(v, axis=-2),
    "log_softmax": lambda q, k, v, mask: log_softmax(v, axis=-2),
    "log_sum_exp": lambda q, k, v, mask: log_sum_exp(v, axis=-2),
    "jacobian": lambda q, k, v, mask: softmax_jacobian(softmax(v)),
    "jacobian_norm": lambda q, k, v, mask: softmax_jacobian_norm(softmax(v)),
}


@pytest.mark.parametrize("function", ON_INPUTS.values(), ids=ON_INPUTS)
@any_property
@given(problems(dtypes=DTYPES, scales=(1.0,)), st.sampled_from(sorted(LAYOUTS)))
def test_inputs_of_any_memory_layout_work_and_stay_unchanged(function, problem, layout):
    originals = [*problem.qkv, problem.mask]
    expected = function(*originals)
    given_ = [LAYOUTS[layout](a) for a in originals]
    for array in given_:
        array.flags.writeable = False
    result = function(*given_)
    for array, original in zip(given_, originals, strict=True):
        np.testing.assert_array_equal(array, original)
    assert result.dtype == problem.q.dtype
    tolerance = 8 * float(np.finfo(result.dtype).eps)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


half = st.floats(-65504, 65504, width=16)


@any_property
@given(st.tuples(sizes, sizes, sizes, sizes), st.data())
def test_for_any_finite_float16_the_output_lies_between_the_values(shape, data):
    n_q, n_k, d_k, d_v = shape
    q, k, v = (
        data.draw(arrays.arrays(np.float16, size, elements=half))
        for size in ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    )
    output = scaled_dot_product_attention(q, k, v)
    assert (output >= v.min(0)).all()  # rounding is monotonic, so it cannot pass a value
    assert (output <= v.max(0)).all()
    np.testing.assert_allclose(softmax(v, axis=0).sum(0, dtype=float), 1, atol=6e-3)


@any_property
@given(problems(dtypes=(np.float16,), scales=(1.0, 10.0, 30.0)))
def test_float16_stays_finite(problem):
    *inputs, mask, _ = problem
    for attend in (additive, multi_head):
        assert np.isfinite(attend(*inputs, mask=mask)).all()
    d_output = np.ones_like(scaled_dot_product_attention(*inputs))
    for gradient in attention_backward(d_output, *inputs, mask=mask):
        assert np.isfinite(gradient).all()
