"""The parts of the model that can be exchanged: attention, and the masks it is given.

The right ones are attn_lib's. A wrong one can take the place of any of them, to see what
becomes of a model that works, or of one that has still to learn. See `replacing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.attention import AttentionTrace, scaled_dot_product_attention
from attn_lib.backward import attention_backward
from attn_lib.masks import causal_mask, padding_mask
from attn_lib.model.layers import Array

#: True where attention is allowed, or numbers to add to the scaled scores.
Mask = NDArray[Any]
#: From q, k, v and the mask: the output alone, or with what it was computed from.
Forward = Callable[[Array, Array, Array, Mask], Array | AttentionTrace]
#: From the gradient at the output, and q, k, v and the mask: the gradients at q, k and v.
Backward = Callable[[Array, Array, Array, Array, Mask], tuple[Array, Array, Array]]
#: From the number of queries and of keys, a mask of shape (n_q, n_k): True may be looked at.
MakeCausalMask = Callable[[int, int], NDArray[np.bool_]]
#: From lengths of shape (batch,) and the number of keys, a mask of shape (batch, 1, n_k).
MakePaddingMask = Callable[[NDArray[np.integer], int], NDArray[np.bool_]]


class Attention(NamedTuple):
    """One way to attend, and its backward pass if it can be trained with."""

    forward: Forward
    backward: Backward | None = None


def scaled_attention(scale: float | None = None) -> Attention:
    """Return attn_lib's own attention, with its own backward pass.

    Parameters
    ----------
    scale : float, optional
        Factor on the raw scores. Default ``1 / sqrt(d_k)``; 1 leaves them raw.

    Returns
    -------
    Attention

    Examples
    --------
    >>> one = np.ones((1, 4))
    >>> scaled_attention().forward(one, one, one, np.array([[True]])).scaled
    array([[2.]])
    """

    def forward(q: Array, k: Array, v: Array, mask: Mask) -> AttentionTrace:
        return scaled_dot_product_attention(q, k, v, mask=mask, scale=scale, return_trace=True)

    def backward(
        grad: Array, q: Array, k: Array, v: Array, mask: Mask
    ) -> tuple[Array, Array, Array]:
        gradients = attention_backward(grad, q, k, v, mask=mask, scale=scale)
        return gradients.q, gradients.k, gradients.v

    return Attention(forward, backward)


def _cached_causal_mask(n_q: int, n_k: int) -> NDArray[np.bool_]:
    return causal_mask(n_q, n_k, alignment="bottom-right")


class Parts(NamedTuple):
    """What the model attends with; by default, what is right."""

    attention: Attention = scaled_attention()
    causal_mask: MakeCausalMask = causal_mask  #: for a text read at once, n_q = n_k
    cached_causal_mask: MakeCausalMask = _cached_causal_mask  #: for words added to a cache
    padding_mask: MakePaddingMask = padding_mask


RIGHT = Parts()
