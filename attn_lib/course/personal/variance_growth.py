"""Personal numbers for the assignment `variance-growth`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from attn_lib.course.personal.core import first_suitable, mistakes_show, personal_rng
from attn_lib.course.personal.misreadings import none_accepted
from attn_lib.course.personal.misreadings import variance_growth as misreadings
from attn_lib.estimates import score_matrix_noise, variance_noise

#: Variances of entries, short enough for a calculator; none of them is 1.
VARIANCES = (0.25, 0.5, 0.75, 1.5, 2.0, 2.5, 3.0, 4.0)

#: Minimum difference between the right and a wrong noise, which the task asks for to four decimals.
NOISE_MARGIN = 0.0004

_IN_A_VARIANCE = (
    "sd-for-variance",
    "variance-grows-squared",
    "variance-does-not-grow",
    "variance-of-the-average",
    "variances-added",
    "variances-squared",
    "sds-multiplied",
    "mean-for-variance",
)

#: The mistakes that must change the answer for a width, variances and means, by target.
SHOWN_BY_ENTRIES = {
    "score_variance": _IN_A_VARIANCE,
    "score_sd": (*_IN_A_VARIANCE, "variance-for-sd", "sd-grows-with-the-width"),
    "score_range": (
        "range-from-the-variance",
        "range-of-one-sd",
        "range-without-cancelling",
        "range-from-width-and-sd",
    ),
    "score_mean": (
        "mean-always-zero",
        "mean-does-not-grow",
        "mean-grows-with-the-root",
        "means-added",
    ),
}

#: The mistakes that must change the answer for the sizes of a layer.
SHOWN_BY_HEAD_SIZES = {
    "scaled_variance": (
        "variance-divided-once",
        "variance-left-alone",
        "variance-always-one",
        "keys-equal-to-queries",
    ),
}

#: The mistakes that must change the answer for the sizes of a measurement, by target.
SHOWN_BY_A_MEASUREMENT = {
    "variance_noise": ("noise-without-the-root", "noise-of-normal-numbers", "noise-of-a-mean"),
    "score_matrix_noise": ("entries-taken-for-independent", "queries-taken-for-the-sample"),
}


class Entries(NamedTuple):
    """The width of a query and a key, and the statistics of their entries."""

    d_k: int  #: numbers in a query and in a key
    var_q: float  #: variance of an entry of a query
    var_k: float  #: variance of an entry of a key
    mean_q: float  #: mean of an entry of a query, in another question
    mean_k: float  #: mean of an entry of a key, in that question


class HeadSizes(NamedTuple):
    """The sizes of a layer with several heads; the width of a head has to be computed."""

    d_model: int  #: width of all heads together
    n_heads: int  #: heads
    n_k: int  #: keys


class Measurement(NamedTuple):
    """A measured variance of raw scores, and the sizes of a score matrix."""

    d_k: int  #: numbers in a query and in a key
    n: int  #: independent pairs
    measured: float  #: variance of the raw scores of these pairs
    n_q: int  #: queries of the score matrix
    n_k: int  #: its keys


def entries(learner_id: str) -> Entries:
    """Return a width, variances and means for which wrong ways give wrong answers.

    They are the mistakes of `SHOWN_BY_ENTRIES` and the readings of `misreadings.of_entries`.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> entries("ada").d_k >= 20
    True
    """

    def draw(rng: np.random.Generator) -> Entries:
        var_q, var_k = rng.choice(VARIANCES, size=2, replace=False).tolist()
        mean_q, mean_k = rng.choice([-1.5, -0.5, 0.25, 0.5, 1.5, 2.0], 2, replace=False).tolist()
        return Entries(int(rng.integers(20, 121)), var_q, var_k, mean_q, mean_k)

    def suitable(numbers: Entries) -> bool:
        d_k, var_q, var_k, mean_q, mean_k = numbers
        asked = {
            "score_variance": (d_k, var_q, var_k),
            "score_sd": (d_k, var_q, var_k),
            "score_range": (d_k,),
            "score_mean": (d_k, mean_q, mean_k),
        }
        return (
            math.isqrt(d_k) ** 2 != d_k
            and none_accepted(misreadings.of_entries(numbers))
            and mistakes_show(asked, SHOWN_BY_ENTRIES, margin=0.05)
        )

    return first_suitable(learner_id, "entries", draw, suitable)


def head_sizes(learner_id: str) -> HeadSizes:
    """Return the sizes of a layer in which width, heads and keys cannot be confused.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> d_model, n_heads, n_k = head_sizes("ada")
    >>> d_model % n_heads
    0
    """

    def draw(rng: np.random.Generator) -> HeadSizes:
        n_heads = int(rng.integers(3, 17))
        d_k = 8 * int(rng.integers(3, 17))
        return HeadSizes(n_heads * d_k, n_heads, int(rng.integers(20, 300)))

    def suitable(sizes: HeadSizes) -> bool:
        d_k = sizes.d_model // sizes.n_heads
        asked = {"scaled_variance": (d_k, math.sqrt(sizes.d_model))}
        return (
            len({d_k, *sizes}) == 4
            and none_accepted(misreadings.of_head_sizes(sizes))
            and mistakes_show(asked, SHOWN_BY_HEAD_SIZES)
        )

    return first_suitable(learner_id, "head-sizes", draw, suitable)


def measurement(learner_id: str) -> Measurement:
    """Return a measured variance that is clearly plausible or clearly not.

    The deviation alone does not show which: it is 8 to 16 percent in both cases. The plausible
    variances are measured on few pairs, the others on many. No reading of
    `misreadings.of_measurement` gives an accepted answer.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> numbers = measurement("ada")
    >>> 0.08 < abs(numbers.measured / numbers.d_k - 1) < 0.16
    True
    """
    plausible = personal_rng(learner_id, "measurement-verdict").random() < 0.5

    def draw(rng: np.random.Generator) -> Measurement:
        d_k = int(rng.integers(6, 25))
        n = 20 * int(rng.integers(10, 36)) if plausible else 1000 * int(rng.integers(3, 14))
        away = rng.uniform(0.8, 1.6) if plausible else rng.uniform(5.6, 8)
        off = rng.choice([-1, 1]) * away * variance_noise(d_k, n)
        n_q, n_k = rng.choice(np.arange(20, 61), size=2, replace=False).tolist()
        return Measurement(d_k, n, round(float(d_k * (1 + off)), 2), n_q, n_k)

    def suitable(numbers: Measurement) -> bool:
        d_k, n, measured, n_q, n_k = numbers
        off = abs(measured / d_k - 1)
        asked = {"variance_noise": (d_k, n), "score_matrix_noise": (d_k, n_q, n_k)}
        return (
            0.08 < off < 0.16
            and abs(off / variance_noise(d_k, n) - off / score_matrix_noise(d_k, n_q, n_k)) > 0.3
            and none_accepted(misreadings.of_measurement(numbers))
            and mistakes_show(asked, SHOWN_BY_A_MEASUREMENT, margin=NOISE_MARGIN)
        )

    return first_suitable(learner_id, "measurement", draw, suitable)
