"""Personal numbers for the assignment `putting-it-together`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.backward import attention_backward
from attn_lib.course.personal.core import first_suitable, mistakes_show, personal_rng
from attn_lib.course.personal.misreadings import none_accepted
from attn_lib.course.personal.misreadings import putting_it_together as misreadings
from attn_lib.course.personal.misreadings.putting_it_together import COARSE_STEP, loss

#: The mistakes in three steps of the backward pass that must change gradients by hand, by target.
SHOWN_BY_GRADIENTS = {
    "value_gradient": (
        "value-gradient-not-transposed",
        "value-gradient-averaged",
        "gradient-passed-straight-through",
    ),
    "weights_gradient": ("weights-gradient-transposed", "weights-gradient-of-sums"),
    "softmax_backward": (
        "row-sum-missing",
        "row-sum-not-weighted",
        "column-sum-for-row-sum",
        "mean-for-row-sum",
        "weights-not-multiplied",
        "backward-of-a-sigmoid",
        "jacobian-diagonal-only",
        "jacobian-without-diagonal",
        "jacobian-of-a-sigmoid",
        "jacobian-with-the-wrong-sign",
        "jacobian-without-the-factor",
    ),
}

#: The mistakes that must change the slope computed from the losses on both sides of an entry.
SHOWN_BY_DIFFERENCES = {
    "central_difference": (
        "forward-difference",
        "difference-over-one-step",
        "difference-downhill",
        "second-difference",
    ),
}


class LayerSizes(NamedTuple):
    """The sizes of a layer with cross-attention, no two of them equal."""

    n_q: int  #: positions of x, which the queries are made from
    n_k: int  #: positions of the context, which keys and values are made from
    d_model: int  #: numbers in a position of x and of the context
    H: int  #: heads
    d_k: int  #: numbers in a query and in a key of one head
    d_v: int  #: numbers in a value of one head
    d_out: int  #: numbers in a position of the output


class GradientsByHand(NamedTuple):
    """Weights, values and an output gradient, in numbers for pencil and paper."""

    weights: NDArray[np.float64]  #: shape (2, 2), tenths; every row sums to 1
    v: NDArray[np.int64]  #: shape (2, 2), one value a row
    grad_output: NDArray[np.int64]  #: shape (2, 2)


class Suspects(NamedTuple):
    """Four arrays that claim to be the gradient at the queries. One of them is."""

    q: NDArray[np.float64]  #: shape (2, 4)
    k: NDArray[np.float64]  #: shape (3, 4)
    v: NDArray[np.float64]  #: shape (3, 2)
    grad_output: NDArray[np.float64]  #: shape (2, 2)
    claims: Mapping[str, NDArray[np.float64]]  #: by the letters A to D, each of q's shape
    row: int  #: of the gradient: the entry that is asked for
    column: int  #: of that entry


def layer_sizes(learner_id: str) -> LayerSizes:
    """Return seven sizes, all different, so that no two can be mistaken for each other.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> len(set(layer_sizes("ada")))
    7
    """

    def draw(rng: np.random.Generator) -> LayerSizes:
        n_q, n_k, d_k, d_v = rng.choice(np.arange(3, 20), size=4, replace=False).tolist()
        d_model, d_out = rng.choice(np.arange(20, 60), size=2, replace=False).tolist()
        return LayerSizes(n_q, n_k, d_model, int(rng.integers(2, 9)), d_k, d_v, d_out)

    def suitable(sizes: LayerSizes) -> bool:
        n_q, n_k, d_model, H, d_k, d_v, d_out = sizes
        widths = {d_model, H * d_k, H * d_v, d_out}
        heads = {n_q, n_k, H, d_k, d_v}
        return (
            len(widths) == 4
            and len(heads) == 5
            and d_model % H != 0
            and none_accepted(misreadings.of_layer_sizes(sizes))
        )

    return first_suitable(learner_id, "layer-sizes", draw, suitable)


def gradients_by_hand(learner_id: str) -> GradientsByHand:
    """Return weights, values and the gradient at the output, for a backward pass by hand.

    Each mistake of `SHOWN_BY_GRADIENTS` changes a number by more than `HAND_MARGIN`, and no reading
    of `misreadings.of_gradients_by_hand` gives accepted ones.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> weights, v, grad_output = gradients_by_hand("ada")
    >>> weights.sum(axis=1)
    array([1., 1.])
    """

    def draw(rng: np.random.Generator) -> GradientsByHand:
        first = rng.integers(1, 10, size=2)
        weights = np.stack([first, 10 - first], axis=1) / 10
        return GradientsByHand(weights, rng.integers(-2, 6, (2, 2)), rng.integers(-3, 5, (2, 2)))

    def suitable(numbers: GradientsByHand) -> bool:
        weights, v, grad_output = (array.astype(float) for array in numbers)
        grad_weights = grad_output @ v.T
        asked = {
            "value_gradient": (weights, grad_output),
            "weights_gradient": (grad_output, v),
            "softmax_backward": (weights, grad_weights),
        }
        return (
            0.5 not in weights
            and abs(weights[0, 0] - weights[1, 0]) > 0.15
            and bool(np.all(grad_output))
            and np.abs(grad_weights).max() <= 25
            and none_accepted(misreadings.of_gradients_by_hand(numbers))
            and mistakes_show(asked, SHOWN_BY_GRADIENTS)
        )

    return first_suitable(learner_id, "gradients-by-hand", draw, suitable)


def suspects(learner_id: str) -> Suspects:
    """Return a small attention, and four arrays that claim to be the gradient at its queries.

    One is right. The others leave out the scale, apply it twice, or skip the softmax. They
    differ clearly at the entry that the task asks for, where no reading of
    `misreadings.of_suspects` gives an accepted answer.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.

    Examples
    --------
    >>> sorted(suspects("ada").claims)
    ['A', 'B', 'C', 'D']
    """
    order = personal_rng(learner_id, "suspects-order").permutation(4)

    def draw(rng: np.random.Generator) -> Suspects:
        q, k = rng.normal(size=(2, 4)), rng.normal(size=(3, 4))
        v, grad_output = 2 * rng.normal(size=(3, 2)), 2 * rng.normal(size=(2, 2))
        q, k, v, grad_output = (array.round(1) + 0.0 for array in (q, k, v, grad_output))
        right = attention_backward(grad_output, q, k, v).q
        root = np.sqrt(q.shape[-1])
        claims = [right, right * root, right / root, grad_output @ v.T @ k / root]
        by_letter = {letter: claims[i] for letter, i in zip("ABCD", order, strict=True)}
        row, column = rng.integers(2), rng.integers(4)
        return Suspects(q, k, v, grad_output, by_letter, int(row), int(column))

    def suitable(numbers: Suspects) -> bool:
        there = numbers.row, numbers.column
        claimed = np.sort([claim[there] for claim in numbers.claims.values()])
        moved = np.zeros_like(numbers.q)
        moved[there] = COARSE_STEP
        above, here, below = (loss(numbers, sign * moved) for sign in (1, 0, -1))
        coarse = (above - below) / (2 * COARSE_STEP)
        right = attention_backward(numbers.grad_output, numbers.q, numbers.k, numbers.v).q[there]
        return (
            np.diff(claimed).min() > 0.05
            and 0.01 < abs(coarse - right) < 0.3
            and np.abs(coarse - claimed).min() > 0.01
            and none_accepted(misreadings.of_suspects(numbers))
            and mistakes_show(
                {"central_difference": (above, here, below, COARSE_STEP)}, SHOWN_BY_DIFFERENCES
            )
        )

    return first_suitable(learner_id, "suspects", draw, suitable)
