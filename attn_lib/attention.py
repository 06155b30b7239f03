"""Scaled dot-product attention: compare, scale, normalise, mix."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arguments import Alignment, causal_offset, read_number
from attn_lib._arrays import common_batch_shape, read_arrays, repeat_heads
from attn_lib._steps import broadcast_mask, cap_scores, default_scale, mask_scores, mix
from attn_lib.masks import causal_mask
from attn_lib.softmax import softmax
from attn_lib.streaming import stream

Method = Literal["auto", "dense", "streaming"]

# With fewer scores, in total or per head, threads and blocks cost more than they save.
MIN_SCORES_TO_STREAM = 2**16
MIN_SCORES_PER_HEAD = 2**12


class AttentionTrace(NamedTuple):
    """Every intermediate result of one attention call, in the order it is computed."""

    raw: NDArray[np.floating]  #: q @ kᵀ, shape (..., n_q, n_k)
    scaled: NDArray[np.floating]  #: raw · scale, shape (..., n_q, n_k)
    masked: NDArray[np.floating]  #: scaled, then capped and masked: the input of softmax
    weights: NDArray[np.floating]  #: softmax of masked over the keys; rows sum to 1 or are 0
    output: NDArray[np.floating]  #: weights @ v, shape (..., n_q, d_v)


@overload
def scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = ...,
    is_causal: bool = ...,
    causal_alignment: Alignment = ...,
    scale: float | None = ...,
    softcap: float | None = ...,
    enable_gqa: bool = ...,
    method: Method = ...,
    return_trace: Literal[False] = ...,
) -> NDArray[np.floating]: ...
@overload
def scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = ...,
    is_causal: bool = ...,
    causal_alignment: Alignment = ...,
    scale: float | None = ...,
    softcap: float | None = ...,
    enable_gqa: bool = ...,
    method: Method = ...,
    return_trace: Literal[True],
) -> AttentionTrace: ...
def scaled_dot_product_attention(
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
    method: Method = "auto",
    return_trace: bool = False,
) -> NDArray[np.floating] | AttentionTrace:
    r"""Return :math:`\mathrm{softmax}(q k^T / \sqrt{d_k})\, v`.

    Parameters
    ----------
    q : array_like, shape (..., n_q, d_k)
        Queries: what each position looks for.
    k : array_like, shape (..., n_k, d_k)
        Keys: what each position offers to be found by.
    v : array_like, shape (..., n_k, d_v)
        Values: what each position hands over. Leading axes of `q`, `k` and `v` broadcast.
    mask : array_like, broadcastable to (..., n_q, n_k), optional
        Boolean: True where attention is allowed. Floating point: added to the scaled
        scores. The same meaning as PyTorch's ``attn_mask``. Axes are matched from the right,
        so with heads a mask for each sequence needs an axis for them: (B, 1, n_q, n_k).
    is_causal : bool
        Keep every query from later keys. May be given together with `mask`.
    causal_alignment : {"top-left", "bottom-right"}
        What "later" means when ``n_q != n_k``; see `causal_mask`.
    scale : float, optional
        Factor on the raw scores. Default ``1 / sqrt(d_k)``.
    softcap : float, optional
        Keep the scaled scores within ±softcap before they are masked:
        ``softcap * tanh(scores / softcap)``, as Gemma 2 does.
    enable_gqa : bool
        Grouped-query attention: `q` of shape (..., H, n_q, d_k) has a multiple of the
        heads of `k` and `v`; each key/value head serves that many neighbouring query heads.
    method : {"auto", "dense", "streaming"}
        ``"dense"`` holds all n_q × n_k weights in memory. ``"streaming"`` works in blocks on
        all cores, never holds all weights, and gives the same numbers. ``"auto"`` takes the faster.
    return_trace : bool
        Return every intermediate result instead of the output alone. Needs the dense form.

    Returns
    -------
    ndarray, shape (..., n_q, d_v), or AttentionTrace
        In the widest of the input types; float16 is computed in float32. A query with
        nothing to attend to gets zero weights and a zero output, never NaN. A value whose
        weight is 0 does not count, even if it is NaN or infinite, and neither does a hidden
        key. The inputs are not changed.

    Raises
    ------
    TypeError
        If an input is not made of real numbers or is a masked array, or if `scale` or
        `softcap` is not one number.
    ValueError
        If the shapes do not fit together; the message says which sizes differ. If the
        alignment or the method is not one of those named, if softcap is not positive, if it
        or the scale is not finite, or if a trace is asked for with ``method="streaming"``.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, equation 1.
    Ainslie et al. 2023, "GQA", section 2.2, for grouped queries. Gemma Team 2024, "Gemma 2",
    section 2, for the soft cap.

    Examples
    --------
    >>> q = [[2, 1]]
    >>> k = [[2, 1], [1, 0], [0, -1]]
    >>> v = [[10, 0], [0, 8], [1, 1]]
    >>> scaled_dot_product_attention(q, k, v).round(4)
    array([[8.8291, 0.8582]])
    >>> scaled_dot_product_attention(q, k, v, return_trace=True).weights.round(4)
    array([[0.8816, 0.1057, 0.0127]])
    """
    softcap = None if softcap is None else read_number(softcap, "softcap")
    _check_options(method, softcap, return_trace)
    (q, k, v), dtype = read_arrays((q, "q"), (k, "k"), (v, "v"))
    if enable_gqa:
        k, v = repeat_heads(q, k, v)
    batch_shape = common_batch_shape(q, k, v)
    n_q, n_k, d_k = q.shape[-2], k.shape[-2], q.shape[-1]
    scores_shape = (*batch_shape, n_q, n_k)
    if mask is not None:
        mask = broadcast_mask(mask, scores_shape)
    offset = causal_offset(n_q, n_k, causal_alignment) if is_causal else None
    scale = default_scale(d_k) if scale is None else read_number(scale, "scale")

    if method == "auto" and not return_trace:
        method = "streaming" if _is_large(scores_shape) else "dense"
    if method == "streaming":

        def in_blocks(values: NDArray[np.floating]) -> NDArray[np.floating]:
            return stream(
                q, k, values, scale=scale, softcap=softcap, mask=mask, causal_offset=offset
            )

        output = mix(in_blocks, v)
        return output.astype(dtype, copy=False)

    with np.errstate(invalid="ignore"):  # where a key is infinite, perhaps a hidden one
        raw = q @ k.swapaxes(-1, -2)  # (..., n_q, d_k) @ (..., d_k, n_k) -> (..., n_q, n_k)
    scaled = raw * raw.dtype.type(scale)  # (..., n_q, n_k)
    masked = scaled
    if softcap is not None or mask is not None or is_causal:
        masked = np.broadcast_to(scaled, scores_shape).copy()
    if softcap is not None:
        cap_scores(masked, softcap)
    if mask is not None:
        mask_scores(masked, mask)
    if is_causal:
        mask_scores(masked, causal_mask(n_q, n_k, causal_alignment))
    weights = softmax(masked)  # (..., n_q, n_k), each row sums to 1
    # (..., n_q, n_k) @ (..., n_k, d_v) -> (..., n_q, d_v)
    output = mix(lambda values: weights @ values, v)

    if return_trace:
        trace = (raw, scaled, masked, weights, output)
        with np.errstate(over="ignore"):  # the largest float16 is 65504: larger scores become inf
            return AttentionTrace(*(a.astype(dtype, copy=False) for a in trace))
    return output.astype(dtype, copy=False)


def _check_options(method: Method, softcap: float | None, return_trace: bool) -> None:
    if method not in ("auto", "dense", "streaming"):
        raise ValueError(
            f'method: expected "auto", "dense" or "streaming", got {method!r}; '
            "leave it out to have the faster one chosen."
        )
    if method == "streaming" and return_trace:
        raise ValueError(
            'return_trace: expected method "dense" or "auto", got "streaming", which holds no '
            "intermediate results; leave out one of the two."
        )
    if softcap is not None and softcap <= 0:
        raise ValueError(
            f"softcap: expected a positive number, got {softcap}; leave it out for no cap."
        )


def _is_large(scores_shape: tuple[int, ...]) -> bool:
    return (
        math.prod(scores_shape) >= MIN_SCORES_TO_STREAM
        and math.prod(scores_shape[-2:]) >= MIN_SCORES_PER_HEAD
    )
