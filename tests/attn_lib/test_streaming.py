import numpy as np
import pytest

from attn_lib import causal_mask, scaled_dot_product_attention
from attn_lib.complexity import peak_extra_bytes
from attn_lib.streaming import BLOCKS, BlockSizes, key_blocks, queries_in_a_block, stream
from tests.in_one_test import in_one_test

N_Q, N_K, D_K, D_V = 23, 31, 7, 2
BLOCK_SIZES = [BlockSizes(4, 3), BlockSizes(23, 5), BlockSizes(5, 31), BlockSizes(1, 1), BLOCKS]


@pytest.fixture(autouse=True, params=["bound on the scores", "running maximum"])
def bound_or_running_maximum(request, monkeypatch):
    """Run every test with both ways to avoid overflow, even for short sequences."""
    fewest = 1 if request.param == "bound on the scores" else 10**9
    monkeypatch.setattr("attn_lib.streaming.MIN_QUERIES_FOR_A_BOUND", fewest)


def inputs(*batch, n_q=N_Q, n_k=N_K, dtype=np.float64, seed=17):
    rng = np.random.default_rng(seed)
    shapes = ((*batch, n_q, D_K), (*batch, n_k, D_K), (*batch, n_k, D_V))
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def both_forms(q, k, v, blocks=BLOCKS, **options):
    """Return the outputs of the dense and the streaming form."""
    dense = scaled_dot_product_attention(q, k, v, method="dense", **options)
    options.setdefault("scale", q.shape[-1] ** -0.5)
    if options.pop("is_causal", False):
        bottom_right = options.pop("causal_alignment", "top-left") == "bottom-right"
        options["causal_offset"] = k.shape[-2] - q.shape[-2] if bottom_right else 0
    return dense, stream(q, k, v, blocks=blocks, **options)


def a_mask(*batch, allowed_share=0.6, n_q=N_Q, n_k=N_K):
    return np.random.default_rng(3).random((*batch, n_q, n_k)) < allowed_share


@pytest.mark.parametrize("blocks", BLOCK_SIZES)
@in_one_test(
    "options",
    [
        {},
        {"is_causal": True},
        {"is_causal": True, "causal_alignment": "bottom-right"},
        {"mask": a_mask()},
        {"mask": a_mask(3, 1)},
        {"mask": a_mask(), "is_causal": True},
        {"mask": np.random.default_rng(4).normal(size=(N_Q, N_K))},
        {"mask": np.where(a_mask(2, n_q=1), 1.5, -np.inf)},
        {"softcap": 0.7},
        {"scale": -2.0},
    ],
)
def test_gives_the_dense_numbers_for_any_block_sizes(blocks, options):
    dense, streamed = both_forms(*inputs(3, 2), blocks, **options)
    np.testing.assert_allclose(streamed, dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("offset", [None, 0, 8, -9, 40, -40])
@pytest.mark.parametrize("rows", [4, 11, 23])
def test_blocks_hold_each_allowed_pair_once_and_few_others(monkeypatch, rows, offset):
    monkeypatch.setattr("attn_lib.streaming.DIAGONAL_KEYS", 2)
    allowed = np.ones((N_Q, N_K), bool)
    if offset is not None:
        allowed = np.arange(N_K) <= np.arange(N_Q)[:, None] + offset
    times = np.zeros((N_Q, N_K), int)
    for first in range(0, N_Q, rows):
        queries = slice(first, min(first + rows, N_Q))
        for seeing, keys in key_blocks(queries, N_K, 5, offset):
            times[queries][seeing, keys] += 1
    assert (times[allowed] == 1).all()
    # In a block of two keys on the diagonal, one query sees the first of them only.
    assert times[~allowed].sum() <= N_Q
    assert times.max(initial=0) <= 1


def test_narrow_blocks_on_the_diagonal_give_the_dense_numbers(monkeypatch):
    monkeypatch.setattr("attn_lib.streaming.DIAGONAL_KEYS", 2)
    for alignment in ("top-left", "bottom-right"):
        for mask in (None, a_mask(3, 1)):
            dense, streamed = both_forms(
                *inputs(3, 2),
                BlockSizes(7, 5),
                is_causal=True,
                causal_alignment=alignment,
                mask=mask,
            )
            np.testing.assert_allclose(streamed, dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("n_heads", "n_q", "expected"),
    [(16, 512, 512), (15, 512, 256), (2, 4096, 512), (1, 4096, 256), (1, 100, 100), (3, 0, 1)],
)
def test_with_few_tasks_each_takes_fewer_queries(n_heads, n_q, expected):
    assert queries_in_a_block(n_heads, n_q, BlockSizes(512, 256)) == expected


@pytest.mark.parametrize(("n_q", "n_k"), [(31, 23), (1, 31), (40, 3)])
@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
def test_causal_blocks_follow_the_alignment(n_q, n_k, alignment):
    q, k, v = inputs(2, n_q=n_q, n_k=n_k)
    dense, streamed = both_forms(
        q, k, v, BlockSizes(4, 3), is_causal=True, causal_alignment=alignment
    )
    np.testing.assert_allclose(streamed, dense, rtol=1e-12, atol=1e-14)
    if alignment == "bottom-right" and n_q > n_k:
        assert streamed[:, : n_q - n_k].tolist() == np.zeros((2, n_q - n_k, D_V)).tolist()


def test_scores_far_beyond_the_range_of_exp():
    q, k, v = inputs(2, dtype=np.float32)
    dense, streamed = both_forms(100 * q, 100 * k, v, BlockSizes(4, 3))
    np.testing.assert_allclose(streamed, dense, rtol=2e-5, atol=1e-6)
    # Every score is very negative, so without the running maximum all exponentials would be 0.
    dense, streamed = both_forms(100 + q, -100 + k, v, BlockSizes(4, 3))
    np.testing.assert_allclose(streamed, dense, rtol=3e-3)
    assert np.abs(streamed).min() > 0


@pytest.mark.parametrize("size", [1e-36, 1e30])
def test_values_near_the_ends_of_float32(size):
    q, k, v = inputs(dtype=np.float32)
    q += 5  # scores of about 5 · 5 · 7 / √7, large enough for their exponentials to matter
    k -= 5
    dense, streamed = both_forms(q, k, v * np.float32(size))
    np.testing.assert_allclose(streamed / size, dense / size, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("size", [0.1, 100.0])
def test_a_query_with_nothing_to_attend_to_gets_zeros(size):
    q, k, v = inputs(2)
    mask = a_mask()
    mask[[0, 6]] = False
    dense, streamed = both_forms(q * size, k * size, v, BlockSizes(4, 3), mask=mask)
    assert streamed[:, [0, 6]].tolist() == np.zeros((2, 2, D_V)).tolist()
    np.testing.assert_allclose(streamed, dense, rtol=1e-12)


@pytest.mark.parametrize("where", ["q", "k", "v"])
def test_nan_is_not_hidden(where):
    arrays = dict(zip("qkv", inputs(), strict=True))
    arrays[where][3] = np.nan
    dense, streamed = both_forms(**arrays, blocks=BlockSizes(4, 3))
    np.testing.assert_array_equal(np.isnan(streamed), np.isnan(dense))
    assert np.isnan(streamed).any()


def test_minus_infinity_in_a_float_mask_beats_an_infinite_score():
    q, k, v = inputs()
    k[2] = np.inf
    mask = np.zeros((N_Q, N_K))
    mask[:, 2] = -np.inf
    with np.errstate(invalid="ignore"):  # the product of q and k contains inf · 0
        dense, streamed = both_forms(np.abs(q), k, v, BlockSizes(4, 3), mask=mask)
    kept = np.delete(k, 2, axis=0), np.delete(v, 2, axis=0)
    expected = scaled_dot_product_attention(np.abs(q), *kept)
    np.testing.assert_allclose(streamed, expected, rtol=1e-12)
    np.testing.assert_allclose(dense, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_no_queries_or_no_keys(shape):
    n_q, n_k = shape
    q, k, v = inputs(2, n_q=n_q, n_k=n_k)
    output = scaled_dot_product_attention(q, k, v, method="streaming", is_causal=True)
    assert output.tolist() == np.zeros((2, n_q, D_V)).tolist()


@pytest.mark.parametrize("batch", [(0, 3), (3, 0), (0,)])
def test_an_empty_batch(batch):
    output = scaled_dot_product_attention(*inputs(*batch), method="streaming")
    assert output.shape == (*batch, N_Q, D_V)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_short_sequences_share_a_block_and_long_ones_do_not(dtype):
    tolerance = 50 * np.finfo(dtype).eps
    for batch, n in [((3, 5), 70), ((29,), 130), ((2,), 300)]:
        q, k, v = inputs(*batch, n_q=n, n_k=n + 3, dtype=dtype)
        for options in ({}, {"is_causal": True}, {"mask": a_mask(n_q=n, n_k=n + 3)}):
            dense, streamed = both_forms(q / 2, k / 2, v, **options)
            np.testing.assert_allclose(streamed, dense, rtol=tolerance, atol=tolerance)


def test_calls_do_not_share_output_memory():
    first, second = inputs(3, seed=1), inputs(3, n_q=N_Q - 4, n_k=N_K - 6, seed=2)
    before = both_forms(*first)[1]
    kept = before.copy()
    both_forms(*(1e3 * array for array in second))
    np.testing.assert_array_equal(before, kept)
    np.testing.assert_array_equal(both_forms(*first)[1], kept)


def test_leading_axes_broadcast():
    q, k, v = inputs(4, 1, 3)
    k, v = k[0, 0, 0], v[:, :, :1]
    dense, streamed = both_forms(q, k, v, BlockSizes(4, 3), mask=a_mask(4, 1, 1))
    assert streamed.shape == (4, 1, 3, N_Q, D_V)
    np.testing.assert_allclose(streamed, dense, rtol=1e-12, atol=1e-14)


def test_grouped_queries_and_half_precision_through_the_public_function():
    q, _, _ = inputs(6, dtype=np.float16)
    _, k, v = inputs(2, dtype=np.float16, seed=5)
    dense, streamed = (
        scaled_dot_product_attention(q, k, v, enable_gqa=True, is_causal=True, method=method)
        for method in ("dense", "streaming")
    )
    assert streamed.dtype == np.float16
    np.testing.assert_allclose(streamed, dense, rtol=2e-3, atol=1e-4)


def test_the_inputs_are_not_changed():
    arrays = inputs(2)
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    stream(*arrays, scale=30.0, mask=a_mask(), blocks=BlockSizes(4, 3))
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_mask_shared_by_all_heads_is_not_copied_for_each():
    n = 512
    q, k, v = inputs(16, n_q=n, n_k=n, dtype=np.float32)
    mask = causal_mask(n, n)
    per_head = n * n  # bytes of one head's mask
    stream(q, k, v, scale=1.0)  # allocate the memory that threads keep before measuring
    extra = peak_extra_bytes(lambda: stream(q, k, v, scale=1.0, mask=mask))
    without = peak_extra_bytes(lambda: stream(q, k, v, scale=1.0))
    assert extra - without < 4 * per_head


def test_memory_grows_with_n_and_not_with_its_square():
    n, d = 4096, 64
    q, k, v = np.random.default_rng(1).normal(size=(3, 1, n, d)).astype(np.float32)
    extra = peak_extra_bytes(
        lambda: scaled_dot_product_attention(q, k, v, method="streaming", is_causal=True)
    )
    weights = n * n * 4
    assert extra < weights / 8


@pytest.fixture
def forms_taken(monkeypatch):
    """A list to which each call of the streaming form adds an entry."""
    taken = []

    def noting(*arguments, **options):
        taken.append("streaming")
        return stream(*arguments, **options)

    monkeypatch.setattr("attn_lib.attention.stream", noting)
    return taken


def test_large_inputs_stream_and_small_ones_do_not(forms_taken):
    scaled_dot_product_attention(*inputs(2))
    assert forms_taken == []
    q, k, v = inputs(4, n_q=128, n_k=256)
    streamed = scaled_dot_product_attention(q, k, v)
    assert forms_taken == ["streaming"]
    trace = scaled_dot_product_attention(q, k, v, return_trace=True)
    np.testing.assert_allclose(streamed, trace.output, rtol=1e-12)
    scaled_dot_product_attention(q, k, v, method="dense")
    assert forms_taken == ["streaming"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "flash"}, 'method: expected "auto", "dense" or "streaming", got \'flash\''),
        ({"method": "streaming", "return_trace": True}, 'return_trace: expected method "dense"'),
        ({"softcap": 0.0}, "softcap: expected a positive number, got 0.0"),
        ({"softcap": float("nan")}, "softcap: expected a finite number, got nan"),
    ],
)
def test_unknown_options_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        scaled_dot_product_attention(*inputs(), **options)
