"""Odd arrays and numbers: every public function gives the right value or one clear sentence."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import attn_lib
from attn_lib import attention_backward, scaled_dot_product_attention

rng = np.random.default_rng(0)
Q, K, V = rng.normal(size=(3, 7)), rng.normal(size=(5, 7)), rng.normal(size=(5, 2))
ALLOWED = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 0]], dtype=bool)
W_O = rng.normal(size=(14, 4))
METHODS = ("dense", "streaming")

#: For each public function of numbers, a call with one array left open.
OF_NUMBERS = {
    "softmax": attn_lib.softmax,
    "log_softmax": attn_lib.log_softmax,
    "log_sum_exp": attn_lib.log_sum_exp,
    "softmax_jacobian": lambda a: attn_lib.softmax_jacobian(0 * a + 1 / 7),
    "softmax_backward": lambda a: attn_lib.softmax_backward(np.full((3, 7), 1 / 7), a),
    "scaled_dot_product_attention, q": lambda a: scaled_dot_product_attention(a, K, V),
    "scaled_dot_product_attention, k": lambda a: scaled_dot_product_attention(K, a, Q[:, :2]),
    "scaled_dot_product_attention, v": lambda a: scaled_dot_product_attention(
        K[:, :2], Q[:, :2], a
    ),
    "attention_backward": lambda a: attention_backward(np.ones((3, 2)), a, K, V).k,
    "attention_backward, grad_output": lambda a: attention_backward(a, Q, K, np.ones((5, 7))).v,
    "additive_attention": lambda a: attn_lib.additive_attention(
        a, K, V, np.ones((7, 4)), np.ones((7, 4)), np.ones(4)
    ),
    "multi_head_attention": lambda a: attn_lib.multi_head_attention(
        a, *np.ones((3, 7, 14)), W_O, n_heads=2
    ),
    "split_heads": lambda a: attn_lib.split_heads(a, 7),
    "merge_heads": lambda a: attn_lib.merge_heads(a[None]),
}
OF_MASKS = {
    "scaled_dot_product_attention": lambda m: scaled_dot_product_attention(Q, K, V, mask=m),
    "multi_head_attention": lambda m: attn_lib.multi_head_attention(
        Q, *np.ones((3, 7, 14)), W_O, n_heads=2, context=K, mask=m
    ),
    "additive_attention": lambda m: attn_lib.additive_attention(
        Q, K, V, np.ones((7, 4)), np.ones((7, 4)), np.ones(4), mask=m
    ),
    "combine_masks": attn_lib.combine_masks,
    "allowed_from_blocked": attn_lib.allowed_from_blocked,
    "additive_mask": attn_lib.additive_mask,
}


@pytest.mark.parametrize("call", OF_NUMBERS.values(), ids=OF_NUMBERS)
def test_unusual_arrays_of_numbers_count_like_plain_ones(call):
    plain = call(Q)
    read_only = Q.copy()
    read_only.flags.writeable = False
    strided = np.repeat(Q, 2, axis=-1)[:, ::2]
    for odd in (read_only, strided, Q.astype(Q.dtype.newbyteorder()), np.asfortranarray(Q)):
        np.testing.assert_allclose(call(odd), plain, rtol=1e-12)
        assert call(odd).dtype == np.float64
        assert call(odd).dtype.isnative


@pytest.mark.parametrize("call", OF_NUMBERS.values(), ids=OF_NUMBERS)
@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (np.ma.masked_array(Q, Q > 1), "got a masked array, whose mask would be lost"),
        (Q.astype(complex), "expected real numbers, got dtype complex128"),
        (
            np.round(10 * Q).astype(int).astype(object) * 10**20,
            "expected real numbers, got dtype object",
        ),
    ],
    ids=["masked", "complex", "huge integers"],
)
def test_arrays_that_are_no_plain_numbers_are_refused(call, odd, sentence):
    with pytest.raises(TypeError, match=sentence):
        call(odd)


@pytest.mark.parametrize(
    "odd",
    [
        Q.astype(str),
        np.zeros((3, 7), dtype=[("a", float)]),
        np.full((3, 7), "2026", "datetime64[Y]"),
    ],
    ids=["strings", "structured", "dates"],
)
def test_things_that_are_no_numbers_are_refused(odd):
    for call in (attn_lib.softmax, OF_NUMBERS["scaled_dot_product_attention, q"]):
        with pytest.raises(TypeError, match="expected real numbers, got dtype"):
            call(odd)


def test_a_list_that_holds_a_masked_array_is_refused():
    with pytest.raises(TypeError, match="q: expected an array without a mask of its own"):
        scaled_dot_product_attention([np.ma.masked_array(row) for row in Q], K, V)


@pytest.mark.parametrize("call", OF_MASKS.values(), ids=OF_MASKS)
def test_a_masked_array_as_mask_is_refused(call):
    with pytest.raises(TypeError, match=r"mask: expected an array without a mask of its own"):
        call(np.ma.masked_array(ALLOWED, ALLOWED))


@pytest.mark.parametrize("numbers", [np.ma.masked_array([2, 3], [0, 1])])
def test_masked_whole_numbers_are_refused(numbers):
    with pytest.raises(TypeError, match="lengths: expected an array without a mask of its own"):
        attn_lib.padding_mask(numbers, n_k=5)
    with pytest.raises(TypeError, match="offset: expected an array without a mask of its own"):
        attn_lib.sliding_window_mask(3, 5, left=1, offset=numbers)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["scale", "softcap"])
@pytest.mark.parametrize(
    "one", [0.5, np.float32(0.5), np.array(0.5), Fraction(1, 2)], ids=lambda one: type(one).__name__
)
def test_one_number_is_taken(method, name, one):
    given = scaled_dot_product_attention(Q, K, V, method=method, **{name: one})
    expected = scaled_dot_product_attention(Q, K, V, method=method, **{name: 0.5})
    np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["scale", "softcap"])
@pytest.mark.parametrize(
    ("odd", "error", "sentence"),
    [
        (np.ones(5), TypeError, r"expected one number, got an array of shape \(5,\)"),
        (np.ones((3, 1)), TypeError, r"expected one number, got an array of shape \(3, 1\)"),
        ([0.5], TypeError, r"expected one number, got \[0.5\]"),
        ("0.5", TypeError, "expected one number, got '0.5'"),
        (True, TypeError, "expected one number, got True"),
        (0.5j, TypeError, "expected one number, got 0.5j"),
        (Decimal("0.5"), TypeError, "expected one number, got Decimal"),
        (np.nan, ValueError, "expected a finite number, got nan"),
        (np.inf, ValueError, "expected a finite number, got inf"),
    ],
)
def test_what_is_not_one_number_is_refused(method, name, odd, error, sentence):
    with pytest.raises(error, match=f"{name}: {sentence}"):
        scaled_dot_product_attention(Q, K, V, method=method, **{name: odd})
    with pytest.raises(error, match=f"{name}: {sentence}"):
        attention_backward(np.ones((3, 2)), Q, K, V, **{name: odd})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["k", "v"])
def test_what_a_mask_hides_does_not_count(method, number, where):
    arrays = {"q": Q, "k": K.copy(), "v": V.copy()}
    arrays[where][4] = number  # no query may look at the last key
    output = scaled_dot_product_attention(**arrays, mask=ALLOWED, method=method)
    expected = scaled_dot_product_attention(Q, K, V, mask=ALLOWED, method=method)
    np.testing.assert_allclose(output, expected, rtol=1e-12)
    assert not output[1].any()
    gradients = attention_backward(np.ones((3, 2)), **arrays, mask=ALLOWED)
    right = attention_backward(np.ones((3, 2)), Q, K, V, mask=ALLOWED)
    for name in ("q", "k", "v", "scores"):
        np.testing.assert_allclose(getattr(gradients, name), getattr(right, name), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_value_that_is_not_finite_reaches_those_who_look_at_it_and_nobody_else(method):
    v = V.copy()
    v[2], v[3, 0], v[3, 1] = np.inf, -np.inf, np.nan
    output = scaled_dot_product_attention(Q, K, v, mask=ALLOWED, method=method)
    # Query 0 looks at key 3, query 1 at none, query 2 at keys 2 and 3.
    np.testing.assert_array_equal(output, [[-np.inf, np.nan], [0, 0], [np.nan, np.nan]])


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_the_future_does_not_count_in_any_block(number):
    q, k, v = rng.normal(size=(3, 600, 8))
    v[500:] = number
    dense, streamed = (
        scaled_dot_product_attention(q, k, v, is_causal=True, method=method) for method in METHODS
    )
    assert np.isfinite(dense[:500]).all()
    assert not np.isfinite(dense[500:]).any()
    np.testing.assert_allclose(streamed, dense, rtol=1e-9)
