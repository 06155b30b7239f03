"""Example arguments for every target: the museum shows them, and tests compare on them.

Every catalogued mistake gives a wrong answer in at least one example of its target. The sizes
differ, so that no axis can be mistaken for another; if a mistake runs only on square arrays,
there is a square example too. Numbers are short, so that a reader can type them. The first
example is the simplest; later ones have large scores, empty rows or a batch.

Each draw has a different seed, so that a new example changes none of the others. Give it the
smallest unused seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.targets.arrays import Array
from attn_lib.course.targets.inputs import maps_with_induction_head, text_with_repeats
from attn_lib.model import encode


class _Numbers:
    """Short random numbers."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def entries(self, *shape: int) -> Array:
        """Return standard normal numbers with one decimal."""
        return self.rng.normal(size=shape).round(1) + 0.0  # no −0.0

    def values(self, *shape: int) -> Array:
        """Return whole numbers, ten times as large."""
        return (10 * self.rng.normal(size=shape)).round() + 0.0

    def weights(self, n_q: int, n_k: int) -> Array:
        """Return rows of hundredths that sum to 1."""
        return self.rng.multinomial(100, self.rng.dirichlet(np.ones(n_k), size=n_q)) / 100


def _entries(seed: int, *shapes: tuple[int, ...]) -> tuple[Array, ...]:
    numbers = _Numbers(seed)
    return tuple(numbers.entries(*shape) for shape in shapes)


def _qkv(
    seed: int, q_shape: tuple[int, ...], k_shape: tuple[int, ...], d_v: int
) -> tuple[Array, Array, Array]:
    numbers = _Numbers(seed)
    q, k = numbers.entries(*q_shape), numbers.entries(*k_shape)
    return q, k, numbers.values(*k_shape[:-1], d_v)


def _with_large_queries(q: Array, *others: Array) -> tuple[Array, ...]:
    return np.array([[9000.0], [1.0], [1.0], [-9000.0]]) * q, *others


def _blocks(seed: int, n_q: int) -> tuple[Array, Array, Array, Array]:
    """Return the largest score and the sum of each of two blocks of keys."""
    numbers = _Numbers(seed)
    max_a, sum_a, max_b, sum_b = (numbers.entries(n_q) for _ in range(4))
    return max_a, 1 + abs(sum_a), max_b, 1 + abs(sum_b)


def _with_outputs(
    seed: int, max_a: Array, sum_a: Array, max_b: Array, sum_b: Array
) -> tuple[Array, ...]:
    out_a, out_b = _entries(seed, (len(sum_a), 2), (len(sum_b), 2))
    return max_a, sum_a, out_a, max_b, sum_b, out_b


def _weights(seed: int, n_q: int, n_k: int) -> Array:
    return _Numbers(seed).weights(n_q, n_k)


def _maps(seed: int, n_layers: int, n_heads: int) -> tuple[Array, NDArray[np.int64]]:
    """Return attention maps with two decimals, and their text."""
    rng = _Numbers(seed).rng
    ids = text_with_repeats(rng, 4, 1, 0)
    return maps_with_induction_head(rng, ids, n_layers, n_heads).round(2), ids


_SQUARE = _qkv(1, (4, 6), (4, 6), 3)
_Q, _K, _V = _SQUARE
_SHAPES = (2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13)
(_SCORES,) = _entries(2, (3, 5))
#: Scores that overflow when exponentiated, and a second row with much lower scores.
_LARGE = np.vstack([*_entries(3, (3, 4)), [[900.0, 901.0, 902.0, 903.0]]])
#: Scores of which one is so low that its weight is 0 in float64.
_FAR_BELOW = np.array([[0.0, 1.0, -2000.0], [2.0, -1.0, 0.5]])
_SELF = [_qkv(4, (5, 7), (5, 7), 2), _with_large_queries(*_SQUARE)]
_QKV = [_qkv(5, (3, 7), (5, 7), 2), _SQUARE, _SELF[1]]
_BATCH = [
    _qkv(6, (2, 3, 7), (2, 5, 7), 2),
    _qkv(7, (2, 4, 7), (2, 4, 7), 2),
    _with_large_queries(*_qkv(8, (2, 4, 6), (2, 4, 6), 3)),
]
#: Row 1 is empty; square, so that the transposed mask fits.
_MASK = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0]], dtype=bool)
_WIDE_MASK = np.array([[1, 0, 0, 1, 1], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]], dtype=bool)
#: A hidden score so high that without a mask the other keys have weight 0.
_HIDDEN_ABOVE = np.array([[1.0, 2.0, 0.5, 1500.0], [0.0, 1.0, 3.0, 2.0]])
_FIRST_TWO = np.array([[1, 1, 0, 0]], dtype=bool)
_MASKED_SCORES = [
    (_SCORES, _WIDE_MASK),
    (*_entries(9, (4, 4)), _MASK),
    (_LARGE, _MASK),
    (_HIDDEN_ABOVE, _FIRST_TWO),
]
_BLOCKS = [
    _blocks(16, 3),
    (np.array([900.0, 0.0]), np.ones(2), np.array([0.0, 900.0]), 2 * np.ones(2)),
]
_HEADS = [
    _entries(11, (4, 6), (6, 10), (6, 10), (6, 6), (6, 7)),
    _entries(12, (4, 7), (7, 20), (7, 20), (7, 8), (8, 9)),
]
_GRADIENTS = [
    _entries(13, (3, 2), (3, 7), (5, 7), (5, 2)),
    _entries(14, (4, 2), (4, 7), (4, 7), (4, 2)),
    (*_entries(87, (4, 2)), *_with_large_queries(*_entries(88, (4, 6), (5, 6), (5, 2)))),
]
(_AT,) = _entries(15, (2, 3))
_LENGTHS = [3, 0], [3, 2], [4, 3]

_QUIET = np.array([[3.0, 3.0, 3.0, 3.0], [0.01, 0.02, 0.01, 0.0], [1.0, -2.0, 0.5, 0.7]])

EXAMPLES: dict[str, list[tuple[Any, ...]]] = {
    "score_matrix": [_QKV[0][:2], (_Q, _K)],
    "scaled_scores": [_QKV[0][:2], (_Q, _K)],
    "softmax": [(_SCORES,), (_LARGE,), _entries(86, (2, 3, 4))],
    "attention": _QKV,
    "attention_formula": [*_QKV, (_Q[:, :4], _K[:, :4], _V)],
    "weight_at": [(_weights(10, 4, 4), 2, 0)],
    "weights_shape": [_SHAPES],
    "output_shape": [_SHAPES],
    "score_variance": [(64,), (512,), (7, 0.5, 3.0)],
    "score_sd": [(64,), (512,), (7, 0.5, 3.0)],
    "score_mean": [(7, 0.5, 3.0), (64, 0.5, 0.5)],
    "score_range": [(64,), (512,)],
    "scaled_variance": [(7, 3.0), (64, 8.0), (64, 64.0)],
    "scale_for": [(64,), (512,), (7, 0.5, 3.0)],
    "head_scale": [(48, 6, 10), (512, 8, 100)],
    "variance_noise": [(5, 30), (64, 1000)],
    "score_matrix_noise": [(5, 30, 40), (64, 128, 128)],
    "measured_variance": [_entries(17, (9, 7), (9, 7))],
    "two_key_weight": [(1.5,), (4.0,)],
    "tempered_softmax": [(_SCORES, 8.0), (_LARGE, 0.5)],
    "log_sum_exp": [(_SCORES,), (_LARGE,)],
    "log_softmax": [(_SCORES,), (_FAR_BELOW,), (_LARGE,)],
    "overflow_limit": [("float16",), ("float32",), ("float64",)],
    "mean_largest_weight": [(_SCORES,), (_LARGE,)],
    "softmax_jacobian": [(_weights(18, 1, 4)[0],), (_weights(19, 2, 5),)],
    "softmax_jacobian_norm": [(_weights(20, 2, 5),)],
    "softmax_backward": [(_weights(21, 3, 5), *_entries(22, (3, 5)))],
    "cross_entropy_gradient": [(*_entries(23, (5,)), 2), (_LARGE[3], 1)],
    "causal_mask": [(3, 5), (4, 4)],
    "cached_causal_mask": [(3, 5), (4, 4), (1, 6), (4, 2)],
    "padding_mask": [([2, 4, 3], 5)],
    "combined_mask": [([2, 4, 3], 5), ([4, 0], 4)],
    "window_mask": [(7, 3)],
    "mask_from_key_padding": [(np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]], dtype=bool),)],
    "visible_keys": [(_WIDE_MASK,), (np.array([[1, 1], [1, 0]], dtype=bool),)],
    "additive_mask": [(_WIDE_MASK,)],
    "masked_scores": _MASKED_SCORES,
    "masked_softmax": _MASKED_SCORES,
    "masked_attention": [
        (*qkv, mask) for qkv, mask in zip(_QKV, (_WIDE_MASK, _MASK, _MASK), strict=True)
    ],
    "causal_attention": _SELF,
    "cached_attention": [*_QKV, _qkv(24, (5, 7), (3, 7), 2)],
    "padded_attention": [(*qkv, lengths) for qkv, lengths in zip(_BATCH, _LENGTHS, strict=True)],
    "score_flops": [(3, 5, 7), (100, 50, 64)],
    "attention_flops": [(3, 5, 7, 2, 4), (100, 50, 64, 32, 8)],
    "projection_flops": [(3, 10), (128, 512)],
    "crossover_length": [(512,)],
    "decoding_flops": [(99, 16), (1023, 512)],
    "weights_bytes": [(6, 30, 50), (6, 30, 50, "float16")],
    "cache_bytes": [(30, 16), (30, 16, "float16")],
    "mebibytes": [(50_000_000,)],
    "additive_scores": [_entries(25, (3, 7), (5, 4), (7, 6), (4, 6), (6,))],
    "additive_parameters": [(7, 4), (64, 32)],
    "merge_sums": _BLOCKS,
    "merge_outputs": [_with_outputs(26, *_BLOCKS[0]), _with_outputs(27, *_BLOCKS[1])],
    "streaming_attention": [(*qkv, block) for qkv in _QKV for block in (2, 3)],
    "split_heads": [(np.arange(30.0).reshape(5, 6), 2), (*_entries(28, (2, 3, 8)), 4)],
    "merge_heads": [(np.arange(30.0).reshape(2, 5, 3),), _entries(29, (2, 4, 3, 2))],
    "multi_head_attention": [
        (*_HEADS[0], 2),
        (*_HEADS[1], 4),
        (*_with_large_queries(*_HEADS[1]), 4),
    ],
    "head_weights": [
        (*_HEADS[0][:3], 2, 0),
        (*_HEADS[1][:3], 4, 1),
        (*_with_large_queries(*_HEADS[1][:3]), 4, 2),
    ],
    "value_gradient": [
        (_weights(30, 3, 5), *_entries(31, (3, 2))),
        (_weights(32, 4, 4), *_entries(33, (4, 2))),
    ],
    "weights_gradient": [_entries(34, (3, 2), (5, 2)), _entries(35, (4, 2), (4, 2))],
    "query_gradient": _GRADIENTS,
    "key_gradient": _GRADIENTS,
    # A cubic function, evaluated a step above and a step below.
    "central_difference": [(*(((_AT + step) ** 3).round(3) for step in (0.1, 0, -0.1)), 0.1)],
    "embed": [
        (np.array([4, 0, 3]), *_entries(36, (5, 2), (7, 2)), 2),
        (np.array([[1, 2], [0, 4]]), *_entries(37, (5, 3), (6, 3)), 3),
    ],
    "layer_norm": [
        _entries(38, (3, 4), (4,), (4,)),
        (np.vstack([*_entries(39, (2, 5)), np.full((1, 5), 3.0)]), *_entries(40, (5,), (5,))),
        (0.01 * _entries(41, (1, 4))[0], *_entries(42, (4,), (4,))),
    ],
    "block": [
        (*_entries(43, (3, 4), (4,), (4,), (4, 6), (4, 6), (4, 4), (4, 4)), 2),
        # The first word has equal entries, the second nearly equal ones.
        (_QUIET, *_entries(51, (4,), (4,), (4, 4), (4, 4), (4, 4), (4, 4)), 2),
    ],
    "rotate": [
        (*_entries(44, (3, 4)), np.array([0, 1, 5])),
        (*_entries(45, (2, 2, 6)), np.array([3, 1])),
    ],
    "output_after_shuffling": [(*_entries(46, (4,)), np.array([2, 0, 3, 1]))],
    "weight_after_shuffling": [(_weights(47, 4, 4), np.array([2, 0, 3, 1]), 0, 1)],
    # In one of the two, each mistake picks a head that no other mistake picks.
    "induction_head": [_maps(65, 2, 3), _maps(85, 3, 2)],
    "without_head": [(*_entries(48, (6, 4)), 2, 1), (*_entries(49, (6, 6)), 3, 1)],
    "lead_without_head": [(*_entries(50, (5, 2)), 1)],
    "write": [
        (encode("bob juice finn milk"), 5),
        (encode("hana milk ada cocoa cleo tea hana"), 5),
    ],
}
