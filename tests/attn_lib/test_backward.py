import numpy as np
import pytest

from attn_lib import causal_mask, scaled_dot_product_attention
from attn_lib.backward import attention_backward
from attn_lib.softmax import softmax_jacobian
from tests.differences import central_differences

MASK = np.random.default_rng(5).random((3, 5)) < 0.6
MASK[0], MASK[1] = True, False  # query 1 has nothing to attend to


def inputs(q=(3, 7), k=(5, 7), v=(5, 2), dtype=np.float64, **options):
    """Return q, k, v and the gradient of the output."""
    rng = np.random.default_rng(21)
    q, k, v = (rng.normal(size=shape) for shape in (q, k, v))
    output = scaled_dot_product_attention(q, k, v, **options)
    return tuple(a.astype(dtype) for a in (q, k, v, rng.normal(size=output.shape)))


CASES = {
    "plain": ({}, {}),
    "scale": ({}, {"scale": -0.3}),
    "causal": ({}, {"is_causal": True}),
    "bottom-right": ({}, {"is_causal": True, "causal_alignment": "bottom-right"}),
    "empty row": ({}, {"mask": MASK}),
    "mask and causal": ({}, {"mask": MASK, "is_causal": True}),
    "float mask": ({}, {"mask": np.where(MASK, 0.7, -np.inf)}),
    "softcap": ({"v": (4, 5, 2)}, {"softcap": 1.5, "mask": MASK, "scale": 0.8}),
    "batch": ({"q": (4, 3, 7), "k": (4, 5, 7), "v": (4, 5, 2)}, {"mask": MASK}),
    "axes of length 1": ({"q": (2, 1, 3, 7), "k": (1, 3, 5, 7), "v": (2, 3, 5, 2)}, {}),
    "missing axes": ({"k": (4, 5, 7)}, {"is_causal": True}),
    "values alone have axes": ({"v": (2, 4, 5, 2)}, {}),
    "shared heads": (
        {"q": (2, 6, 3, 7), "k": (2, 3, 5, 7), "v": (1, 2, 5, 2)},
        {"enable_gqa": True, "mask": MASK},
    ),
    "no width": ({"q": (3, 0), "k": (5, 0)}, {}),
}


@pytest.mark.parametrize(("shapes", "options"), CASES.values(), ids=CASES)
def test_every_entry_against_central_differences(shapes, options):
    *arrays, d_output = inputs(**shapes, **options)
    gradients = attention_backward(d_output, *arrays, **options)
    for place, name in enumerate("qkv"):

        def loss(moved, place=place):
            changed = [*arrays[:place], moved, *arrays[place + 1 :]]
            return (d_output * scaled_dot_product_attention(*changed, **options)).sum()

        gradient = gradients[place]
        assert gradient.shape == arrays[place].shape
        expected = central_differences(loss, arrays[place])
        np.testing.assert_allclose(gradient, expected, atol=1e-8, err_msg=name)


def test_gradient_of_the_scores_is_that_of_an_added_mask():
    q, k, v, d_output = inputs()

    def loss(bias):
        return (d_output * scaled_dot_product_attention(q, k, v, mask=bias)).sum()

    bias = np.random.default_rng(6).normal(size=(3, 5))
    expected = central_differences(loss, bias)
    d_scores = attention_backward(d_output, q, k, v, mask=bias).scores
    np.testing.assert_allclose(d_scores, expected, atol=1e-8)
    np.testing.assert_allclose(d_scores.sum(-1), 0, atol=1e-14)


def test_gradient_of_the_weights_by_loops():
    q, k, v, d_output = inputs(v=(4, 5, 2))
    d_weights = attention_backward(d_output, q, k, v).weights
    assert d_weights.shape == (4, 3, 5)
    for b, i, j in np.ndindex(4, 3, 5):
        expected = sum(d_output[b, i, c] * v[b, j, c] for c in range(2))
        assert d_weights[b, i, j] == pytest.approx(expected, rel=1e-13)


def test_backward_is_the_adjoint_of_the_derivative_along_a_direction():
    """⟨dO, J δ⟩ = ⟨Jᵀ dO, δ⟩, where J δ is computed in forward mode."""
    q, k, v, d_output = inputs()
    rng = np.random.default_rng(22)
    along_q, along_k, along_v = (rng.normal(size=a.shape) for a in (q, k, v))
    allowed = causal_mask(3, 5)
    weights = scaled_dot_product_attention(q, k, v, mask=allowed, return_trace=True).weights
    along_scores = (along_q @ k.T + q @ along_k.T) / np.sqrt(7)
    along_weights = np.einsum("ijl,il->ij", softmax_jacobian(weights), along_scores)
    along_output = along_weights @ v + weights @ along_v
    gradients = attention_backward(d_output, q, k, v, mask=allowed)
    pairs = ((gradients.q, along_q), (gradients.k, along_k), (gradients.v, along_v))
    expected = sum((gradient * along).sum() for gradient, along in pairs)
    assert (d_output * along_output).sum() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_masked_entries_get_exactly_zero(dtype):
    q, k, v, d_output = inputs(dtype=dtype)
    mask = MASK.copy()
    mask[:, 4] = False  # no query may attend to key 4
    gradients = attention_backward(d_output, q, k, v, mask=mask)
    for gradient in gradients:
        assert np.isfinite(gradient).all()
    assert not gradients.q[1].any()
    assert not gradients.k[4].any()
    assert not gradients.v[4].any()
    assert not gradients.scores[~mask].any()
    assert gradients.q[[0, 2]].all()


def test_without_keys_the_gradients_are_empty_or_zero():
    gradients = attention_backward(
        np.ones((3, 2)), np.ones((3, 7)), np.ones((0, 7)), np.ones((0, 2))
    )
    assert gradients.q.tolist() == [[0.0] * 7] * 3
    assert (gradients.k.shape, gradients.v.shape) == ((0, 7), (0, 2))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_float_type_is_kept(dtype):
    arrays = inputs(dtype=dtype)
    exact = attention_backward(arrays[3].astype(np.float64), *(a.astype(float) for a in arrays[:3]))
    gradients = attention_backward(arrays[3], *arrays[:3])
    for gradient, expected in zip(gradients, exact, strict=True):
        assert gradient.dtype == dtype
        tolerance = 4 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance)


def test_half_precision_subtracts_in_single():
    v = np.array([[1000], [1001], [1003]], np.float16)  # in float16, their mean has an error of 0.5
    q, k, d_output = (
        np.full(shape, n, np.float16) for shape, n in (((1, 1), 0), ((3, 1), 1), ((1, 1), 1))
    )
    d_scores = attention_backward(d_output, q, k, v).scores
    np.testing.assert_allclose(d_scores, [[-4 / 9, -1 / 9, 5 / 9]], rtol=1e-3)


@pytest.mark.parametrize(
    ("d_output", "error", "message"),
    [
        (np.ones((3, 7)), ValueError, r"the output, \(3, 2\), got \(3, 7\)"),
        (np.ones(2), ValueError, r"the output, \(3, 2\), got \(2,\)"),
        ([["a"]], TypeError, "grad_output: expected real numbers"),
    ],
)
def test_misuse_is_explained(d_output, error, message):
    q, k, v, _ = inputs()
    with pytest.raises(error, match=message):
        attention_backward(d_output, q, k, v)
    with pytest.raises(TypeError, match="v: expected real numbers"):
        attention_backward(np.ones((3, 2)), q, k, [["a"]])
