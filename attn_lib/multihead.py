"""Multi-head attention: project, split, attend, merge, project."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import Alignment, read_size
from attn_lib._arrays import as_float_array, project, read_arrays
from attn_lib._steps import broadcast_mask
from attn_lib.attention import AttentionTrace, scaled_dot_product_attention


class MultiHeadTrace(NamedTuple):
    """Every intermediate result of one multi-head attention, in the order it is computed."""

    q: NDArray[np.floating]  #: x @ w_q, split; shape (..., n_heads, n_q, d_k)
    k: NDArray[np.floating]  #: context @ w_k, split; shape (..., n_heads, n_k, d_k)
    v: NDArray[np.floating]  #: context @ w_v, split; shape (..., n_heads, n_k, d_v)
    heads: AttentionTrace  #: of all heads together: its leading axes are (..., n_heads)
    merged: NDArray[np.floating]  #: the heads' outputs side by side; (..., n_q, n_heads·d_v)
    output: NDArray[np.floating]  #: merged @ w_o, shape (..., n_q, d_out)


def split_heads(x: ArrayLike, n_heads: int) -> NDArray[np.floating]:
    """Return each position's vector cut into `n_heads` pieces, with an axis for the heads.

    Parameters
    ----------
    x : array_like, shape (..., n, n_heads * d)
        One vector for each position. Head h takes the entries ``h * d`` to
        ``(h + 1) * d - 1``.
    n_heads : int
        Number of heads, 1 or more.

    Returns
    -------
    ndarray, shape (..., n_heads, n, d)
        The axis of heads comes before that of positions, so that ``@`` treats each head as a
        separate matrix. The result may share memory with `x`.

    Raises
    ------
    TypeError
        If `x` is not made of real numbers.
    ValueError
        If `x` has fewer than two axes, or `n_heads` does not divide the last one.

    Examples
    --------
    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], n_heads=2)
    array([[[1., 2.],
            [5., 6.]],
    <BLANKLINE>
           [[3., 4.],
            [7., 8.]]])
    """
    return _split_heads(as_float_array(x, "x"), n_heads, "x")


def merge_heads(x: ArrayLike) -> NDArray[np.floating]:
    """Return the vectors of all heads side by side at each position: the inverse of `split_heads`.

    Parameters
    ----------
    x : array_like, shape (..., n_heads, n, d)

    Returns
    -------
    ndarray, shape (..., n, n_heads * d)

    Raises
    ------
    TypeError
        If `x` is not made of real numbers.
    ValueError
        If `x` has fewer than three axes.

    Examples
    --------
    >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]])
    array([[1., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    x = as_float_array(x, "x")
    if x.ndim < 3:
        raise ValueError(
            f"merge_heads: expected shape (..., n_heads, n, d), got {x.shape}; "
            "for a single head pass x[None]."
        )
    *batch, n_heads, n, d = x.shape
    # (..., n_heads, n, d) -> (..., n, n_heads, d) -> (..., n, n_heads * d)
    return x.swapaxes(-3, -2).reshape(*batch, n, n_heads * d)


@overload
def multi_head_attention(
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike,
    *,
    n_heads: int,
    context: ArrayLike | None = ...,
    mask: ArrayLike | None = ...,
    is_causal: bool = ...,
    causal_alignment: Alignment = ...,
    scale: float | None = ...,
    return_trace: Literal[False] = ...,
) -> NDArray[np.floating]: ...
@overload
def multi_head_attention(
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike,
    *,
    n_heads: int,
    context: ArrayLike | None = ...,
    mask: ArrayLike | None = ...,
    is_causal: bool = ...,
    causal_alignment: Alignment = ...,
    scale: float | None = ...,
    return_trace: Literal[True],
) -> MultiHeadTrace: ...
def multi_head_attention(
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike,
    *,
    n_heads: int,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    causal_alignment: Alignment = "top-left",
    scale: float | None = None,
    return_trace: bool = False,
) -> NDArray[np.floating] | MultiHeadTrace:
    r"""Return :math:`\mathrm{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_H)\, W^O`.

    Head h attends with separate projections,
    :math:`\mathrm{head}_h = \mathrm{Attention}(x W^Q_h, c W^K_h, c W^V_h)`, where
    :math:`c` is the context. The matrices of all heads stand side by side in `w_q`, `w_k`
    and `w_v`. There are no biases, as in the paper; many libraries add them.

    Parameters
    ----------
    x : array_like, shape (..., n_q, d_model)
        What the queries are made from.
    w_q : array_like, shape (d_model, n_heads * d_k)
        Head h takes the columns ``h * d_k`` to ``(h + 1) * d_k - 1``.
    w_k : array_like, shape (d_context, n_heads * d_k)
    w_v : array_like, shape (d_context, n_heads * d_v)
    w_o : array_like, shape (n_heads * d_v, d_out)
    n_heads : int
        Number of heads, 1 or more.
    context : array_like, shape (..., n_k, d_context), optional
        What keys and values are made from: cross-attention. Default `x`: self-attention.
    mask : array_like, broadcastable to (..., n_q, n_k), optional
        As in `scaled_dot_product_attention`, and the same for every head: it has no axis
        for the heads. `padding_mask` and `causal_mask` fit as they are.
    is_causal, causal_alignment, scale
        As in `scaled_dot_product_attention`; the default scale is ``1 / sqrt(d_k)``.
    return_trace : bool
        Return every intermediate result instead of the output alone.

    Returns
    -------
    ndarray, shape (..., n_q, d_out), or MultiHeadTrace
        In the widest of the input types; float16 is computed in float32. A query with
        nothing to attend to gets a zero output, never NaN.

    Raises
    ------
    TypeError
        If an input is not made of real numbers.
    ValueError
        If the shapes do not fit together; the message says which sizes differ.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.

    Examples
    --------
    Four sequences of 10 positions; d_model 6, d_k 3, d_v 2, d_out 5.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4, 10, 6))
    >>> w_q, w_k = rng.normal(size=(2, 6, 8 * 3))
    >>> w_v, w_o = rng.normal(size=(6, 8 * 2)), rng.normal(size=(8 * 2, 5))
    >>> multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads=8).shape
    (4, 10, 5)
    >>> trace = multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads=8, return_trace=True)
    >>> trace.heads.weights.shape
    (4, 8, 10, 10)
    """
    source = "x" if context is None else "context"
    context = x if context is None else context
    (x, context, w_q, w_k, w_v, w_o), dtype = read_arrays(
        (x, "x"), (context, source), (w_q, "w_q"), (w_k, "w_k"), (w_v, "w_v"), (w_o, "w_o")
    )

    # (..., n, d_model) @ (d_model, n_heads * d) -> (..., n, n_heads * d) -> (..., n_heads, n, d)
    q = _split_heads(project(x, w_q, "x @ w_q"), n_heads, "x @ w_q")
    k = _split_heads(project(context, w_k, f"{source} @ w_k"), n_heads, f"{source} @ w_k")
    v = _split_heads(project(context, w_v, f"{source} @ w_v"), n_heads, f"{source} @ w_v")
    scores_shape = _scores_shape(x, context)
    if mask is not None:
        mask = broadcast_mask(mask, scores_shape)[..., None, :, :]  # an axis for the heads
    options: dict[str, Any] = {
        "mask": mask,
        "is_causal": is_causal,
        "causal_alignment": causal_alignment,
        "scale": scale,
    }
    if return_trace:
        trace = scaled_dot_product_attention(q, k, v, **options, return_trace=True)
        mixed = trace.output
    else:
        mixed = scaled_dot_product_attention(q, k, v, **options)
    merged = merge_heads(mixed)  # (..., n_q, n_heads * d_v)
    output = project(merged, w_o, "merged heads @ w_o")  # (..., n_q, d_out)

    def narrow(array: NDArray[np.floating]) -> NDArray[np.floating]:
        return array.astype(dtype, copy=False)

    if not return_trace:
        return narrow(output)
    heads = AttentionTrace(*map(narrow, trace))
    q, k, v = map(narrow, (q, k, v))
    return MultiHeadTrace(q, k, v, heads, narrow(merged), narrow(output))


def _split_heads(x: NDArray[np.floating], n_heads: int, name: str) -> NDArray[np.floating]:
    n_heads = read_size(n_heads, "n_heads")
    if x.ndim < 2 or n_heads == 0 or x.shape[-1] % n_heads:
        raise ValueError(
            f"{name}: expected shape (..., n, n_heads * d) with n_heads = {n_heads}, "
            f"got {x.shape}; choose n_heads of 1 or more that divides the last size."
        )
    *batch, n, width = x.shape
    # (..., n, n_heads * d) -> (..., n, n_heads, d) -> (..., n_heads, n, d)
    return x.reshape(*batch, n, n_heads, width // n_heads).swapaxes(-3, -2)


def _scores_shape(x: NDArray[np.floating], context: NDArray[np.floating]) -> tuple[int, ...]:
    """Return (..., n_q, n_k), without the heads."""
    try:
        batch_shape = np.broadcast_shapes(x.shape[:-2], context.shape[:-2])
    except ValueError as error:
        raise ValueError(
            f"expected leading axes that broadcast, got x {x.shape} and context "
            f"{context.shape}; pass one context for each sequence, or one for all."
        ) from error
    return (*batch_shape, x.shape[-2], context.shape[-2])
