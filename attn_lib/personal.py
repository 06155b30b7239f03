"""Numbers of a learner's own: the same for the same id on every machine, different between ids.

The exercises draw them again when they are graded, from the id the learner filled in.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.mistakes import appearances
from attn_lib.targets import TARGETS

#: How far apart a right and a wrong answer to a task by hand have to lie: ten times the last
#: of the three decimals that are asked for.
HAND_MARGIN = 0.01

#: Mistakes that one query and two keys of two numbers cannot show: √n_k is √d_k, the one row
#: is everything, and small scores do not overflow.
INVISIBLE_BY_HAND = (
    "scale-by-number-of-keys",
    "softmax-over-everything",
    "softmax-shifted-by-overall-maximum",
    "softmax-that-overflows",
)

#: More draws than a suitable set of numbers ever takes.
MOST_DRAWS = 10_000


class TwoKeys(NamedTuple):
    """One query, two keys and their values, in whole numbers."""

    q: NDArray[np.int64]  #: shape (2,)
    k: NDArray[np.int64]  #: shape (2, 2), one key a row
    v: NDArray[np.int64]  #: shape (2, 2), one value a row


class Sizes(NamedTuple):
    """The six sizes of an attention call, no two of them equal."""

    B: int  #: sequences in the batch
    H: int  #: heads
    n_q: int  #: queries
    n_k: int  #: keys, and as many values
    d_k: int  #: numbers in a query and in a key
    d_v: int  #: numbers in a value


def checked_id(learner_id: str) -> str:
    """Return the id in the form the numbers are drawn from.

    Parameters
    ----------
    learner_id : str
        The learner's id. Case and surrounding space do not matter.

    Raises
    ------
    TypeError
        If it is not a string.
    ValueError
        If it has no letter and no digit: it is empty, or still the placeholder.

    Examples
    --------
    >>> checked_id(" Ada ")
    'ada'
    """
    if not isinstance(learner_id, str):
        raise TypeError(f"learner_id: expected a string, got {learner_id!r}; put it in quotes.")
    learner_id = learner_id.strip().casefold()
    if not any(character.isalnum() for character in learner_id):
        raise ValueError(
            f"learner_id: expected your id, got {learner_id!r} without a letter or digit; "
            "fill it in."
        )
    return learner_id


def personal_rng(learner_id: str, task: str) -> np.random.Generator:
    """Return a random generator that depends on nothing but the two names.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.
    task : str
        What the numbers are for, so that two tasks do not get the same ones.

    Examples
    --------
    >>> a = personal_rng("ada", "two-keys").integers(-3, 4, size=4)
    >>> b = personal_rng(" Ada ", "two-keys").integers(-3, 4, size=4)
    >>> bool((a == b).all())
    True
    """
    digest = hashlib.sha256(f"{task}\n{checked_id(learner_id)}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def two_keys(learner_id: str) -> TwoKeys:
    """Return a query, two keys and two values to compute attention with by hand.

    One key has clearly the larger weight. Every catalogued mistake that two keys can show gives
    other numbers than the right way, by `HAND_MARGIN` or more. An entry added to the catalogue
    can therefore change a learner's numbers: extend it between two runs of a course, not
    during one.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.

    Examples
    --------
    >>> q, k, v = two_keys("ada")
    >>> q.shape, k.shape, v.shape
    ((2,), (2, 2), (2, 2))
    """
    rng = personal_rng(learner_id, "two-keys")
    for _ in range(MOST_DRAWS):
        numbers = TwoKeys(
            q=rng.integers(1, 5, size=2),
            k=rng.integers(-3, 4, size=(2, 2)),
            v=rng.integers(0, 10, size=(2, 2)),
        )
        if _one_key_leads(numbers) and _mistakes_show(numbers):
            return numbers
    raise RuntimeError(
        "two_keys: no draw shows every catalogued mistake; if two keys cannot show one, "
        "add it to INVISIBLE_BY_HAND."
    )


def sizes(learner_id: str) -> Sizes:
    """Return six sizes, all different, so that no two axes can be mistaken for each other.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.

    Examples
    --------
    >>> len(set(sizes("ada")))
    6
    """
    rng = personal_rng(learner_id, "sizes")
    return Sizes(*rng.choice(np.arange(2, 21), size=6, replace=False).tolist())


def weights_to_read(learner_id: str) -> NDArray[np.float64]:
    """Return the weights of three queries over four keys.

    The queries do not all prefer the same key, each prefers one clearly, and row and column
    cannot be taken for each other.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.

    Returns
    -------
    ndarray, shape (3, 4)
        Every row sums to 1.

    Examples
    --------
    >>> bool(np.allclose(weights_to_read("ada").sum(axis=1), 1))
    True
    """
    rng = personal_rng(learner_id, "weights-to-read")
    for _ in range(MOST_DRAWS):
        q, k = rng.normal(size=(3, 4)), 2 * rng.normal(size=(4, 4))
        weights = scaled_dot_product_attention(q, k, np.eye(4))
        ordered = np.sort(weights, axis=1)
        clear = (ordered[:, -1] - ordered[:, -2]).min() > 0.1
        varied = len(set(weights.argmax(axis=1).tolist())) == 3
        if clear and varied and abs(weights[2, 0] - weights[0, 2]) > 0.1:
            return weights
    raise RuntimeError(
        "weights_to_read: no draw gives three clear favourites; attention no longer returns "
        "weights that differ between keys."
    )


def _one_key_leads(numbers: TwoKeys) -> bool:
    weights = scaled_dot_product_attention(numbers.q[None], numbers.k, np.eye(2))[0]
    return abs(weights[0] - weights[1]) > 0.2


def _mistakes_show(numbers: TwoKeys) -> bool:
    """Say whether each mistake that can be made by hand changes the answer it is about."""
    q, k, v = numbers.q[None].astype(float), numbers.k.astype(float), numbers.v.astype(float)
    asked = {
        "score_matrix": (q, k),
        "scaled_scores": (q, k),
        "attention": (q, k, v),
    }
    with np.errstate(all="ignore"):
        for target, args in asked.items():
            right = TARGETS[target](*args)
            for mistake, wrong in appearances(target):
                if mistake.id in INVISIBLE_BY_HAND:
                    continue
                try:
                    answer = wrong(*args)
                except ValueError:  # its shapes do not multiply, which shows
                    continue
                if answer.shape == right.shape and not np.any(np.abs(answer - right) > HAND_MARGIN):
                    return False
    return True
