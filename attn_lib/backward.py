"""The backward pass of attention, written out: the derivative with respect to each input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import Alignment, read_number
from attn_lib._arrays import as_float_array, read_arrays, repeat_heads
from attn_lib._steps import default_scale
from attn_lib.attention import scaled_dot_product_attention
from attn_lib.softmax import softmax_backward


class AttentionGradients(NamedTuple):
    """Derivatives of a loss with respect to the inputs and intermediate results of attention."""

    q: NDArray[np.floating]  #: the shape of q
    k: NDArray[np.floating]  #: the shape of k
    v: NDArray[np.floating]  #: the shape of v
    weights: NDArray[np.floating]  #: shape (..., n_q, n_k)
    scores: NDArray[np.floating]  #: of the masked, scaled scores; shape (..., n_q, n_k)


def attention_backward(
    grad_output: ArrayLike,
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    causal_alignment: Alignment = "top-left",
    scale: float | None = None,
    softcap: float | None = None,
    enable_gqa: bool = False,
) -> AttentionGradients:
    r"""Return the gradients of a loss, given its gradient at the output of attention.

    With :math:`S` the masked, scaled scores, :math:`W = \mathrm{softmax}(S)` and
    :math:`O = W V`, the chain rule goes backwards through the same steps:

    .. math::

        dV &= W^T\, dO \\
        dW &= dO\, V^T \\
        dS &= W \circ (dW - \mathrm{rowsum}(dW \circ W)) \\
        dQ &= \mathrm{scale} \cdot dS\, K \\
        dK &= \mathrm{scale} \cdot dS^T Q

    The third line is `softmax_backward`. A softcap c puts its own derivative,
    :math:`1 - \tanh^2(\cdot / c)` at the scaled scores, between the third line and the last
    two. The weights are computed again here: the forward pass need not keep them.

    Parameters
    ----------
    grad_output : array_like, shape (..., n_q, d_v)
        Derivative of the loss with respect to each entry of the output.
    q : array_like, shape (..., n_q, d_k)
    k : array_like, shape (..., n_k, d_k)
    v : array_like, shape (..., n_k, d_v)
    mask, is_causal, causal_alignment, scale, softcap, enable_gqa
        As `scaled_dot_product_attention` was called with.

    Returns
    -------
    AttentionGradients
        Each in the widest type of `q`, `k` and `v`; float16 is computed in float32. Where
        the forward pass used an entry several times, because leading axes broadcast or
        query heads share a key head, its gradient is the sum over all its uses. `weights`
        and `scores` have the leading axes of the output. `scores` is also the gradient of
        a floating-point mask of that full shape. A query with nothing to attend to has a
        zero gradient at its scores and passes nothing on to q, k and v; never NaN. A hidden
        key or value that is NaN or infinite changes no other gradient than its own in `weights`.

    Raises
    ------
    TypeError
        If an input is not made of real numbers.
    ValueError
        If the shapes do not fit together, or `grad_output` does not have the output's shape.

    References
    ----------
    Dao et al. 2022, "FlashAttention", appendix B.2.

    Examples
    --------
    >>> q = [[2, 1]]
    >>> k = [[2, 1], [1, 0], [0, -1]]
    >>> v = [[10, 0], [0, 8], [1, 1]]
    >>> gradients = attention_backward([[1, 0]], q, k, v)  # of the output's first entry
    >>> gradients.v.round(4)
    array([[0.8816, 0.    ],
           [0.1057, 0.    ],
           [0.0127, 0.    ]])
    >>> gradients.scores.round(4)
    array([[ 1.0323, -0.9331, -0.0992]])
    """
    (q, k, v), dtype = read_arrays((q, "q"), (k, "k"), (v, "v"))
    trace = scaled_dot_product_attention(
        q,
        k,
        v,
        mask=mask,
        is_causal=is_causal,
        causal_alignment=causal_alignment,
        scale=scale,
        softcap=softcap,
        enable_gqa=enable_gqa,
        return_trace=True,
    )
    d_output = as_float_array(grad_output, "grad_output").astype(q.dtype, copy=False)
    if d_output.shape != trace.output.shape:
        raise ValueError(
            f"grad_output: expected the shape of the output, {trace.output.shape}, "
            f"got {d_output.shape}; pass one derivative for each entry of the output."
        )
    key_shape, value_shape = k.shape, v.shape
    if enable_gqa:
        k, v = repeat_heads(q, k, v)
    scale = default_scale(q.shape[-1]) if scale is None else read_number(scale, "scale")

    weights = trace.weights
    d_v = weights.swapaxes(-1, -2) @ d_output  # (..., n_k, n_q) @ (..., n_q, d_v)
    with np.errstate(invalid="ignore"):  # 0 times infinity, at a hidden value
        d_weights = d_output @ v.swapaxes(-1, -2)  # (..., n_q, d_v) @ (..., d_v, n_k)
    d_scores = softmax_backward(weights, _where_used(weights, d_weights))  # (..., n_q, n_k)
    d_raw = d_scores * q.dtype.type(scale)  # (..., n_q, n_k)
    if softcap is not None:
        cap = q.dtype.type(read_number(softcap, "softcap"))
        d_raw *= 1 - np.tanh(trace.scaled / cap) ** 2
    # A query or key that is not finite either is hidden or makes the scores, and so d_raw, NaN.
    d_q = d_raw @ _finite(k)  # (..., n_q, n_k) @ (..., n_k, d_k)
    d_k = d_raw.swapaxes(-1, -2) @ _finite(q)  # (..., n_k, n_q) @ (..., n_q, d_k)

    gradients = (
        _sum_over_uses(d_q, q.shape),
        _sum_over_uses(d_k, key_shape),
        _sum_over_uses(d_v, value_shape),
        d_weights,
        d_scores,
    )
    return AttentionGradients(*(a.astype(dtype, copy=False) for a in gradients))


def _where_used(
    weights: NDArray[np.floating], d_weights: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Return the gradient at the weights, without the infinities and NaN at weights of 0."""
    if np.isfinite(d_weights).all():
        return d_weights
    return np.where(weights == 0, 0, d_weights)


def _finite(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    finite = np.isfinite(vectors)
    return vectors if finite.all() else np.where(finite, vectors, 0)


def _sum_over_uses(gradient: NDArray[np.floating], shape: tuple[int, ...]) -> NDArray[np.floating]:
    """Sum a gradient over the axes that broadcasting added or lengthened in the forward pass."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    for axis, size in enumerate(shape[:-2]):
        used = gradient.shape[axis]
        if used != size:
            # After broadcasting or sharing heads, each entry was used in `used // size` neighbours.
            split = (*shape[:axis], size, used // size, *gradient.shape[axis + 1 :])
            gradient = gradient.reshape(split).sum(axis=axis + 1)
    return gradient
