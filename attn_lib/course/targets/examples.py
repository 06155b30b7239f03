"""Arguments to call every target with: what the museum shows and the tests compare on.

Every catalogued mistake shows in at least one example of its target. The sizes differ, so
that no axis can pass for another; where a mistake fits square arrays only, another example
is square. Numbers are short, so that a reader can type them. The first example is the
plainest; later ones bring large scores, empty rows or a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attn_lib.course.targets.dot_products import Array

# One generator for all: what is drawn in between changes all that comes after it, in the museum
# too. So draw new numbers at the end.
_RNG = np.random.default_rng(12)


def _draw(*shape: int) -> Array:
    return _RNG.normal(size=shape).round(1) + 0.0  # no −0.0


def _values(*shape: int) -> Array:
    return (10 * _RNG.normal(size=shape)).round() + 0.0


def _weights(n_q: int, n_k: int) -> Array:
    """Rows of hundredths that sum to 1."""
    return _RNG.multinomial(100, _RNG.dirichlet(np.ones(n_k), size=n_q)) / 100


_Q, _K, _V = _draw(4, 6), _draw(4, 6), _values(4, 3)
_SHAPES = (2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 13)
_SCORES = _draw(3, 5)
#: Scores that overflow when exponentiated, in a row far above another.
_LARGE = np.vstack([_draw(3, 4), [[900.0, 901.0, 902.0, 903.0]]])
#: Scores of which one lies so far below that its weight is 0 in float64.
_FAR_BELOW = np.array([[0.0, 1.0, -2000.0], [2.0, -1.0, 0.5]])
_LARGE_QUERIES = np.array([[9000.0], [1.0], [1.0], [-9000.0]])
_SELF = [(_draw(5, 7), _draw(5, 7), _values(5, 2)), (_LARGE_QUERIES * _Q, _K, _V)]
_QKV = [(_draw(3, 7), _draw(5, 7), _values(5, 2)), (_Q, _K, _V), _SELF[1]]
_BATCH = [
    (_draw(2, 3, 7), _draw(2, 5, 7), _values(2, 5, 2)),
    (_draw(2, 4, 7), _draw(2, 4, 7), _values(2, 4, 2)),
    (_LARGE_QUERIES * _draw(2, 4, 6), _draw(2, 4, 6), _values(2, 4, 3)),
]
#: Row 1 is empty; square, so that the transposed mask fits.
_MASK = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0]], dtype=bool)
_WIDE_MASK = np.array([[1, 0, 0, 1, 1], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]], dtype=bool)
#: A hidden score so far above the others that these lose all weight before a mask.
_HIDDEN_ABOVE = np.array([[1.0, 2.0, 0.5, 1500.0], [0.0, 1.0, 3.0, 2.0]])
_FIRST_TWO = np.array([[1, 1, 0, 0]], dtype=bool)
_MASKED_SCORES = [
    (_SCORES, _WIDE_MASK),
    (_draw(4, 4), _MASK),
    (_LARGE, _MASK),
    (_HIDDEN_ABOVE, _FIRST_TWO),
]
_BLOCKS = [
    (_draw(3), 1 + abs(_draw(3)), _draw(3), 1 + abs(_draw(3))),
    (np.array([900.0, 0.0]), np.ones(2), np.array([0.0, 900.0]), 2 * np.ones(2)),
]
_HEADS = [
    tuple(_draw(*shape) for shape in ((4, 6), (6, 10), (6, 10), (6, 6), (6, 7))),
    tuple(_draw(*shape) for shape in ((4, 7), (7, 20), (7, 20), (7, 8), (8, 9))),
]
_GRADIENTS = [
    (_draw(3, 2), _draw(3, 7), _draw(5, 7), _draw(5, 2)),
    (_draw(4, 2), _draw(4, 7), _draw(4, 7), _draw(4, 2)),
]
_AT = _draw(2, 3)
_LENGTHS = [3, 0], [3, 2], [4, 3]

EXAMPLES: dict[str, list[tuple[Any, ...]]] = {
    "score_matrix": [_QKV[0][:2], (_Q, _K)],
    "scaled_scores": [_QKV[0][:2], (_Q, _K)],
    "softmax": [(_SCORES,), (_LARGE,)],
    "attention": _QKV,
    "attention_formula": [*_QKV, (_Q[:, :4], _K[:, :4], _V)],
    "weight_at": [(_weights(4, 4), 2, 0)],
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
    "measured_variance": [(_draw(9, 7), _draw(9, 7))],
    "two_key_weight": [(1.5,), (4.0,)],
    "tempered_softmax": [(_SCORES, 8.0), (_LARGE, 0.5)],
    "log_sum_exp": [(_SCORES,), (_LARGE,)],
    "log_softmax": [(_SCORES,), (_FAR_BELOW,), (_LARGE,)],
    "overflow_limit": [("float16",), ("float32",), ("float64",)],
    "mean_largest_weight": [(_SCORES,), (_LARGE,)],
    "softmax_jacobian": [(_weights(1, 4)[0],), (_weights(2, 5),)],
    "softmax_jacobian_norm": [(_weights(2, 5),)],
    "softmax_backward": [(_weights(3, 5), _draw(3, 5))],
    "cross_entropy_gradient": [(_draw(5), 2), (_LARGE[3], 1)],
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
    "cached_attention": [*_QKV, (_draw(5, 7), _draw(3, 7), _values(3, 2))],
    "padded_attention": [(*qkv, lengths) for qkv, lengths in zip(_BATCH, _LENGTHS, strict=True)],
    "score_flops": [(3, 5, 7), (100, 50, 64)],
    "attention_flops": [(3, 5, 7, 2, 4), (100, 50, 64, 32, 8)],
    "projection_flops": [(3, 10), (128, 512)],
    "crossover_length": [(512,)],
    "decoding_flops": [(99, 16), (1023, 512)],
    "weights_bytes": [(6, 30, 50), (6, 30, 50, "float16")],
    "cache_bytes": [(30, 16), (30, 16, "float16")],
    "mebibytes": [(50_000_000,)],
    "additive_scores": [(_draw(3, 7), _draw(5, 4), _draw(7, 6), _draw(4, 6), _draw(6))],
    "additive_parameters": [(7, 4), (64, 32)],
    "merge_sums": _BLOCKS,
    "merge_outputs": [
        (max_a, sum_a, _draw(len(sum_a), 2), max_b, sum_b, _draw(len(sum_b), 2))
        for max_a, sum_a, max_b, sum_b in _BLOCKS
    ],
    "streaming_attention": [(*qkv, block) for qkv in _QKV for block in (2, 3)],
    "split_heads": [(np.arange(30.0).reshape(5, 6), 2), (_draw(2, 3, 8), 4)],
    "merge_heads": [(np.arange(30.0).reshape(2, 5, 3),), (_draw(2, 4, 3, 2),)],
    "multi_head_attention": [
        (*_HEADS[0], 2),
        (*_HEADS[1], 4),
        (_LARGE_QUERIES * _HEADS[1][0], *_HEADS[1][1:], 4),
    ],
    "value_gradient": [(_weights(3, 5), _draw(3, 2)), (_weights(4, 4), _draw(4, 2))],
    "weights_gradient": [(_draw(3, 2), _draw(5, 2)), (_draw(4, 2), _draw(4, 2))],
    "query_gradient": _GRADIENTS,
    "key_gradient": _GRADIENTS,
    # A cubic, a step to either side.
    "central_difference": [(*(((_AT + step) ** 3).round(3) for step in (0.1, 0, -0.1)), 0.1)],
}
