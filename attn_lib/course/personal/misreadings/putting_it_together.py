"""Wrong readings of the numbers of the assignment `putting-it-together`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.backward import attention_backward
from attn_lib.course.personal.misreadings.core import Asked

if TYPE_CHECKING:
    from attn_lib.course.personal.putting_it_together import (
        GradientsByHand,
        LayerSizes,
        Suspects,
    )

#: Two steps of the difference quotient; the larger one is so large that its error can be seen.
COARSE_STEP, FINE_STEP = 0.4, 1e-5


def of_layer_sizes(sizes: LayerSizes) -> dict[str, Asked]:
    """Return the shapes and numbers of a layer, and what other readings give.

    Parameters
    ----------
    sizes : LayerSizes
    """
    n_q, n_k, d_model, H, d_k, d_v, d_out = sizes
    learned = H * (2 * d_model * d_k + d_model * d_v + d_v * d_out)
    return {
        "weights_shape": Asked(
            (H, n_q, n_k),
            {
                "transposed": (H, n_k, n_q),
                "queries with queries": (H, n_q, n_q),
                "keys with keys": (H, n_k, n_k),
                "heads last": (n_q, n_k, H),
                "as the queries": (H, n_q, d_k),
                "as the output": (H, n_q, d_v),
            },
        ),
        "w_o_shape": Asked(
            (H * d_v, d_out),
            {
                "transposed": (d_out, H * d_v),
                "one head": (d_v, d_out),
                "width of the keys": (H * d_k, d_out),
                "width of x": (d_model, d_out),
                "square": (d_out, d_out),
                "back to the width of x": (H * d_v, d_model),
                "heads forgotten": (d_v, H * d_out),
            },
        ),
        "divisor": Asked(
            d_k**0.5,
            {
                "d_k": d_k,
                "root of d_model": d_model**0.5,
                "root of the width of all heads": (H * d_k) ** 0.5,
                "root of d_v": d_v**0.5,
                "root of the number of keys": n_k**0.5,
                "root of the number of queries": n_q**0.5,
                "root of the number of heads": H**0.5,
                "model width shared by the heads": (d_model / H) ** 0.5,
                "model width shared, rounded down": (d_model // H) ** 0.5,
                "key width shared by the heads": (d_k / H) ** 0.5,
                "root of d_out": d_out**0.5,
                "the factor": d_k**-0.5,
                "two inside the root": (2 * d_k) ** 0.5,
            },
            decimals=3,
        ),
        "learned": Asked(
            learned,
            {
                "one head": learned // H,
                "three matrices": learned - H * d_v * d_out,
                "keys counted once": learned - H * d_model * d_k,
                "one W_O for all heads": learned - (H - 1) * d_v * d_out,
                "with biases": learned + H * (2 * d_k + d_v) + d_out,
                "values as wide as keys": H * (3 * d_model * d_k + d_k * d_out),
                "output as wide as x": H * (2 * d_model * d_k + 2 * d_model * d_v),
                "four square matrices": 4 * d_model**2,
                "inputs counted": learned + (n_q + n_k) * d_model,
                "weights counted": learned + H * n_q * n_k,
                "keys as wide as values": H * (3 * d_model * d_v + d_v * d_out),
                "heads counted twice": H * learned,
            },
        ),
    }


def of_gradients_by_hand(numbers: GradientsByHand) -> dict[str, Asked]:
    """Return three gradients by hand, and what other readings give.

    Parameters
    ----------
    numbers : GradientsByHand
    """
    W, V, dO = (array.astype(float) for array in numbers)
    grad_v, grad_w = W.T @ dO, dO @ V.T
    other_w = {
        "dO V, without a transpose": dO @ V,
        "V dO": V @ dO,
        "V transposed times dO": V.T @ dO,
        "transposed": grad_w.T,
        "dO transposed": dO.T @ V.T,
        "dO transposed, times V": dO.T @ V,
        "entry by entry": dO * V,
        "gradient of the sums": dO.sum(axis=1, keepdims=True) * V.sum(axis=1),
        "passed straight through": dO,
        "weighted": W * grad_w,
        "differences of the values": dO @ (V - W @ V).T,
        "sign turned": -grad_w,
        "coordinates crossed": dO @ V[:, ::-1].T,
        "first coordinate only": np.outer(dO[:, 0], V[:, 0]),
        "grad_v for dO": grad_v @ V.T,
    }
    right = _through_softmax(W, grad_w)
    return {
        "grad_v": Asked(
            grad_v,
            {
                "W dO": W @ dO,
                "dO W": dO @ W,
                "dO times W transposed": dO @ W.T,
                "dO transposed": W.T @ dO.T,
                "dO transposed, times W": dO.T @ W,
                "entry by entry": W * dO,
                "transposed": grad_v.T,
                "averaged over the queries": grad_v / 2,
                "passed straight through": dO,
                "sign turned": -grad_v,
                "rows of W exchanged": W[::-1].T @ dO,
                "columns of W exchanged": W[:, ::-1].T @ dO,
                "with the values": W.T @ dO * V,
                "output for gradient": W @ V,
                "V for dO": W.T @ V,
                "first query only": np.outer(W[0], dO[0]),
            },
            decimals=3,
        ),
        "grad_w": Asked(grad_w, other_w, decimals=3),
        "grad_s": Asked(
            right,
            {name: _through_softmax(W, other) for name, other in other_w.items()}
            | {
                "row sum missing": W * grad_w,
                "row sum not weighted": W * (grad_w - grad_w.sum(axis=1, keepdims=True)),
                "mean for the weighted mean": W * (grad_w - grad_w.mean(axis=1, keepdims=True)),
                "weighted mean down the columns": W * (grad_w - (W * grad_w).sum(axis=0)),
                "one mean for everything": W * (grad_w - (W * grad_w).sum()),
                "weights not multiplied": grad_w - (W * grad_w).sum(axis=1, keepdims=True),
                "each by itself": W * (1 - W) * grad_w,
                "W transposed": _through_softmax(W.T, grad_w),
                "multiplied by W twice": W * right,
                "sign turned": -right,
                "scaled": right / np.sqrt(2),
                "gradient at the values": _through_softmax(W, grad_v),
                "transposed": right.T,
                "weights passed for the mean": W * (grad_w - W),
            },
            decimals=3,
        ),
    }


def of_suspects(numbers: Suspects) -> dict[str, Asked]:
    """Return two difference quotients, and what other readings give.

    Parameters
    ----------
    numbers : Suspects
    """
    row, column = numbers.row, numbers.column
    gradient = attention_backward(numbers.grad_output, numbers.q, numbers.k, numbers.v).q
    exact = gradient[row, column]
    here = np.zeros_like(gradient)
    here[row, column] = 1
    other_entries = {
        "row counted from 1": np.roll(here, -1, axis=0),
        "column counted from 1": np.roll(here, -1, axis=1),
        "next column": np.roll(here, 1, axis=1),
        "the whole row": np.repeat(here.sum(axis=1)[:, None], 4, axis=1),
        "the whole column": np.repeat(here.sum(axis=0)[None], 2, axis=0),
        "all entries": np.ones_like(here),
    }
    if column < len(here) and column != row:
        exchanged = np.zeros_like(here)
        exchanged[column, row] = 1
        other_entries["row and column exchanged"] = exchanged
    above, at, below = (loss(numbers, step * here) for step in (COARSE_STEP, 0, -COARSE_STEP))
    coarse = (above - below) / (2 * COARSE_STEP)
    one_tenth = COARSE_STEP / 10
    return {
        "coarse": Asked(
            coarse,
            {name: _central(numbers, moved) for name, moved in other_entries.items()}
            | {
                "forward": (above - at) / COARSE_STEP,
                "backward": (at - below) / COARSE_STEP,
                "divided by one step, though the losses lie two apart": 2 * coarse,
                "over four steps": coarse / 2,
                "downhill": -coarse,
                "second difference": (above - 2 * at + below) / COARSE_STEP**2,
                "not divided": above - below,
                "a step of 0.04": (
                    loss(numbers, one_tenth * here) - loss(numbers, -one_tenth * here)
                )
                / (2 * one_tenth),
                "a step of 0.4 from end to end": (
                    loss(numbers, here * COARSE_STEP / 2) - loss(numbers, -here * COARSE_STEP / 2)
                )
                / COARSE_STEP,
                "the loss": at,
                "the fine one": exact,
                "set to the step, not moved by it": _set_to_step(numbers),
            }
            | {f"claim {letter}": claim[row, column] for letter, claim in numbers.claims.items()},
            decimals=3,
        ),
        "fine": Asked(
            exact,
            {name: (gradient * moved).sum() for name, moved in other_entries.items()}
            | {
                "divided by one step, though the losses lie two apart": 2 * exact,
                "over four steps": exact / 2,
                "downhill": -exact,
                "not divided": 2 * FINE_STEP * exact,
                "the coarse one": coarse,
                "forward, with the coarse step": (above - at) / COARSE_STEP,
                "the loss": at,
            }
            | {
                f"a wrong claim, {letter}": claim[row, column]
                for letter, claim in numbers.claims.items()
                if not np.allclose(claim, gradient)
            },
            decimals=4,
        ),
    }


def loss(numbers: Suspects, moved: np.ndarray) -> float:
    """Return the loss after the queries have moved.

    Parameters
    ----------
    numbers : Suspects
    moved : ndarray, shape (2, 4)
    """
    output = scaled_dot_product_attention(numbers.q + moved, numbers.k, numbers.v)
    return float((numbers.grad_output * output).sum())


def _central(numbers: Suspects, moved: np.ndarray) -> float:
    step = COARSE_STEP * moved
    return (loss(numbers, step) - loss(numbers, -step)) / (2 * COARSE_STEP)


def _set_to_step(numbers: Suspects) -> float:
    losses = []
    for step in (COARSE_STEP, -COARSE_STEP):
        moved = np.zeros_like(numbers.q)
        there = numbers.row, numbers.column
        moved[there] = step - numbers.q[there]
        losses.append(loss(numbers, moved))
    return (losses[0] - losses[1]) / (2 * COARSE_STEP)


def _through_softmax(W: np.ndarray, grad_w: np.ndarray) -> np.ndarray:
    return W * (grad_w - (W * grad_w).sum(axis=1, keepdims=True))
