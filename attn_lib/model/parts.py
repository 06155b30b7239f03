"""The replaceable parts of the model: attention and its masks.

The right ones are functions of attn_lib. Any of them can be replaced by a wrong one, to see its
effect on a trained model or on training. See `replacing`.
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
#: Takes q, k, v and the mask; returns the output, or a trace that contains it.
Forward = Callable[[Array, Array, Array, Mask], Array | AttentionTrace]
#: Takes the gradient at the output, q, k, v and the mask; returns the gradients at q, k and v.
Backward = Callable[[Array, Array, Array, Array, Mask], tuple[Array, Array, Array]]
#: Takes the numbers of queries and keys; returns a mask (n_q, n_k), True where allowed.
MakeCausalMask = Callable[[int, int], NDArray[np.bool_]]
#: Takes lengths of shape (batch,) and the number of keys; returns a mask (batch, 1, n_k).
MakePaddingMask = Callable[[NDArray[np.integer], int], NDArray[np.bool_]]


class Attention(NamedTuple):
    """A form of attention, with its backward pass if a model can be trained with it."""

    forward: Forward  #: from q, k, v and a mask to a trace
    #: From the output's gradient, q, k, v and a mask to three gradients.
    backward: Backward | None = None


def scaled_attention(scale: float | None = None) -> Attention:
    """Return the attention of attn_lib, with its backward pass.

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
    """The attention and the masks of a model; by default the right ones."""

    attention: Attention = scaled_attention()  #: the same in all layers
    causal_mask: MakeCausalMask = causal_mask  #: for a text read at once, n_q = n_k
    cached_causal_mask: MakeCausalMask = _cached_causal_mask  #: for words added to a cache
    padding_mask: MakePaddingMask = padding_mask  #: for sentences that were made equally long


RIGHT = Parts()
