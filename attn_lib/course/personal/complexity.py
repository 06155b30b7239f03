"""Personal numbers for the assignment `complexity`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.complexity import weights_bytes
from attn_lib.course.personal.core import first_suitable, mistakes_show
from attn_lib.course.personal.misreadings import complexity as misreadings
from attn_lib.course.personal.misreadings import none_accepted

Array = NDArray[np.float64]

#: The miscounts that must change the answer for a `Layer`, by target.
SHOWN_BY_A_LAYER = {
    "weights_bytes": (
        "weights-of-one-head",
        "bits-for-bytes",
        "entries-for-bytes",
        "bytes-linear-in-length",
    ),
    "mebibytes": ("megabytes", "kibibytes"),
    "cache_bytes": ("keys-cached-alone", "cache-squared-in-length", "cache-in-bits"),
    "decoding_flops": (
        "everything-computed-again",
        "own-key-not-counted",
        "decoding-without-the-mix",
        "cache-for-free",
    ),
    "crossover_length": (
        "crossover-of-the-scores-alone",
        "crossover-with-feed-forward",
        "crossover-at-the-width",
    ),
}

#: The mistakes in `merge_sums` that must change the answer for every pair of blocks.
SHOWN_IN_EITHER_ORDER = ("sums-not-rescaled", "rescaled-the-wrong-way")

#: Further ones that must change it if block A has the larger score, so that B is rescaled.
SHOWN_IF_A_IS_LARGER = ("new-sum-not-rescaled", "maximum-of-the-new-block")

#: Further ones that must change it if block B has the larger score, so that A is rescaled.
SHOWN_IF_B_IS_LARGER = ("old-sum-not-rescaled",)

#: The mistakes in `merge_outputs` that must change the answer for two blocks.
SHOWN_IN_MERGED_OUTPUTS = {
    "merge_outputs": (
        "outputs-averaged",
        "outputs-added",
        "shares-without-the-maxima",
        "shares-without-the-sums",
        "merged-but-not-normalised",
    ),
}


class Layer(NamedTuple):
    """The sizes of a layer with several heads, and its floating-point type."""

    heads: int  #: as many for keys and values as for queries
    d_model: int  #: width of all heads together
    n: int  #: tokens
    dtype: str  #: "float16" or "float32"


class TwoBlocks(NamedTuple):
    """What streaming attention keeps of two blocks of keys, for one query."""

    max_a: float  #: largest score of block A
    sum_a: float  #: sum of exponentials after subtracting it
    out_a: Array  #: output of block A alone, shape (2,)
    max_b: float  #: largest score of block B
    sum_b: float  #: sum of exponentials after subtracting that
    out_b: Array  #: output of block B alone, shape (2,)

    @property
    def sums(self) -> tuple[np.float64, ...]:
        """The arguments of `merge_sums`."""
        numbers = (self.max_a, self.sum_a, self.max_b, self.sum_b)
        return tuple(np.float64(number) for number in numbers)

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The arguments of `merge_outputs`, for a batch of this one query."""
        return tuple(np.asarray(number)[None] for number in self)


def layer(learner_id: str) -> Layer:
    """Return a layer for which wrong ways give wrong answers.

    They are the mistakes of `SHOWN_BY_A_LAYER`, and the readings of `misreadings.of_layer` and
    `misreadings.of_crossing`.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> heads, d_model, n, dtype = layer("ada")
    >>> d_model % heads
    0
    """

    def draw(rng: np.random.Generator) -> Layer:
        heads, d_head = int(rng.integers(5, 21)), 8 * int(rng.integers(4, 17))
        n = 10 * int(rng.integers(60, 301))
        return Layer(heads, heads * d_head, n, str(rng.choice(["float16", "float32"])))

    def suitable(sizes: Layer) -> bool:
        heads, d_model, n, dtype = sizes
        asked = {
            "weights_bytes": (heads, n, n, dtype),
            "mebibytes": (weights_bytes(heads, n, n, dtype),),
            "cache_bytes": (n, d_model, dtype),
            "decoding_flops": (n, d_model),
            "crossover_length": (d_model,),
        }
        return (
            n not in (d_model, 2 * d_model)
            and none_accepted(misreadings.of_layer(sizes) | misreadings.of_crossing(sizes))
            and mistakes_show(asked, SHOWN_BY_A_LAYER, margin=1.0)
        )

    return first_suitable(learner_id, "layer", draw, suitable)


def two_blocks(learner_id: str) -> TwoBlocks:
    """Return two blocks of keys, with short numbers.

    Either block may have the larger score. Each mistake of `shown_in_sums` and of
    `SHOWN_IN_MERGED_OUTPUTS` gives a wrong answer, and so does each reading of
    `misreadings.of_two_blocks`.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> two_blocks("ada").max_a != two_blocks("ada").max_b
    True
    """

    def draw(rng: np.random.Generator) -> TwoBlocks:
        max_a, max_b = rng.uniform(-1, 5, size=2).round(1).tolist()
        sum_a, sum_b = rng.uniform(1.1, 3.5, size=2).round(2).tolist()
        out_a, out_b = rng.integers(0, 21, size=(2, 2)).astype(float)
        return TwoBlocks(max_a, sum_a, out_a, max_b, sum_b, out_b)

    def suitable(blocks: TwoBlocks) -> bool:
        if not 0.5 <= abs(blocks.max_a - blocks.max_b) <= 2.5:
            return False
        return (
            none_accepted(misreadings.of_two_blocks(blocks))
            and mistakes_show({"merge_sums": blocks.sums}, {"merge_sums": shown_in_sums(blocks)})
            and mistakes_show(
                {"merge_outputs": blocks.outputs}, SHOWN_IN_MERGED_OUTPUTS, margin=0.1
            )
        )

    return first_suitable(learner_id, "two-blocks", draw, suitable)


def shown_in_sums(blocks: TwoBlocks) -> tuple[str, ...]:
    """Return the mistakes in `merge_sums` that must change the answer for these blocks.

    Some mistakes can change it only if a certain block has the larger score.

    Parameters
    ----------
    blocks : TwoBlocks

    Examples
    --------
    >>> one = np.ones(2)
    >>> "old-sum-not-rescaled" in shown_in_sums(TwoBlocks(2.0, 1.5, one, 1.0, 1.5, one))
    False
    """
    if blocks.max_a > blocks.max_b:
        return SHOWN_IN_EITHER_ORDER + SHOWN_IF_A_IS_LARGER
    return SHOWN_IN_EITHER_ORDER + SHOWN_IF_B_IS_LARGER


def running_scores(learner_id: str) -> Array:
    """Return the scores of one query in four blocks. The maximum rises once or twice.

    No reading of `misreadings.of_running_scores` gives accepted factors.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Returns
    -------
    ndarray, shape (4, 2)
        A block in each row, with one decimal.

    Examples
    --------
    >>> running_scores("ada").shape
    (4, 2)
    """

    def draw(rng: np.random.Generator) -> Array:
        return (1.5 * rng.normal(size=(4, 2))).round(1) + 0.0  # no −0.0

    def suitable(scores: Array) -> bool:
        gains = np.diff(np.maximum.accumulate(scores.max(axis=1)))
        larger = gains > 0
        return bool(
            len(set(scores.ravel().tolist())) == scores.size
            and 1 <= larger.sum() <= 2
            and gains[larger].min() >= 0.3
            and gains.max() <= 3
            and none_accepted(misreadings.of_running_scores(scores))
        )

    return first_suitable(learner_id, "running-scores", draw, suitable)
