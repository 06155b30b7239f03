"""Additive attention: a small network computes the scores in place of a dot product."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arrays import common_batch_shape, project, read_arrays
from attn_lib._steps import broadcast_mask, mask_scores, mix
from attn_lib.attention import AttentionTrace
from attn_lib.softmax import softmax


@overload
def additive_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_score: ArrayLike,
    *,
    mask: ArrayLike | None = ...,
    return_trace: Literal[False] = ...,
) -> NDArray[np.floating]: ...
@overload
def additive_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_score: ArrayLike,
    *,
    mask: ArrayLike | None = ...,
    return_trace: Literal[True],
) -> AttentionTrace: ...
def additive_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_score: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    return_trace: bool = False,
) -> NDArray[np.floating] | AttentionTrace:
    r"""Return the values mixed by :math:`\mathrm{softmax}(w^T \tanh(W_q q_i + W_k k_j))`.

    Each pair of a query and a key passes through one hidden layer. Unlike a dot product it
    compares vectors of different widths, and no score exceeds the sum of the absolute
    entries of `w_score`, so nothing is scaled. The hidden layer of every pair is held in
    memory at once: an array of shape (..., n_q, n_k, d_hidden), d_hidden times the scores.

    Parameters
    ----------
    q : array_like, shape (..., n_q, d_q)
        Queries; in the paper the decoder's state.
    k : array_like, shape (..., n_k, d_key)
        Keys; in the paper the encoder's annotations, which are also the values.
    v : array_like, shape (..., n_k, d_v)
        Values. Leading axes of `q`, `k` and `v` broadcast.
    w_q : array_like, shape (d_q, d_hidden)
    w_k : array_like, shape (d_key, d_hidden)
    w_score : array_like, shape (d_hidden,)
    mask : array_like, broadcastable to (..., n_q, n_k), optional
        Boolean: True where attention is allowed. Floating point: added to the scores.
    return_trace : bool
        Return every intermediate result instead of the output alone.

    Returns
    -------
    ndarray, shape (..., n_q, d_v), or AttentionTrace
        In the widest of the input types; float16 is computed in float32. A query with
        nothing to attend to gets zero weights and a zero output, never NaN. A value whose
        weight is 0 does not count, even if it is NaN or infinite. The trace's
        `raw` and `scaled` are the same scores.

    Raises
    ------
    TypeError
        If an input is not made of real numbers.
    ValueError
        If the shapes do not fit together; the message says which sizes differ.

    References
    ----------
    Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and
    Translate", section 3.1 and appendix A.1.2.

    Examples
    --------
    A query of width 1 and keys of width 2; the hidden layer adds q to each entry of k.

    >>> q, k, v = [[1]], [[2, 0], [0, -1]], [[10, 0], [0, 8]]
    >>> w_q, w_k, w_score = [[1, 1]], [[1, 0], [0, 1]], [1, 1]
    >>> trace = additive_attention(q, k, v, w_q, w_k, w_score, return_trace=True)
    >>> trace.raw.round(4)  # tanh 3 + tanh 1, tanh 1 + tanh 0
    array([[1.7566, 0.7616]])
    >>> trace.output.round(4)
    array([[7.3009, 2.1593]])
    """
    (q, k, v, w_q, w_k, w_score), dtype = read_arrays(
        (q, "q"), (k, "k"), (v, "v"), (w_q, "w_q"), (w_k, "w_k"), (w_score, "w_score")
    )

    hidden_q = project(q, w_q, "q @ w_q")  # (..., n_q, d_hidden)
    hidden_k = project(k, w_k, "k @ w_k")  # (..., n_k, d_hidden)
    if not w_q.shape[1:] == w_k.shape[1:] == w_score.shape:
        raise ValueError(
            f"expected w_q (d_q, d_hidden), w_k (d_key, d_hidden) and w_score (d_hidden,), "
            f"got {w_q.shape}, {w_k.shape} and {w_score.shape}; make d_hidden the same in all."
        )
    batch_shape = common_batch_shape(
        hidden_q, hidden_k, v, advice="give all three the same leading axes, or none"
    )
    # (..., n_q, 1, d_hidden) + (..., 1, n_k, d_hidden) -> (..., n_q, n_k, d_hidden)
    hidden = np.tanh(hidden_q[..., :, None, :] + hidden_k[..., None, :, :])
    scores = hidden @ w_score  # (..., n_q, n_k, d_hidden) @ (d_hidden,) -> (..., n_q, n_k)
    masked = scores
    if mask is not None:
        scores_shape = (*batch_shape, q.shape[-2], k.shape[-2])
        masked = np.broadcast_to(scores, scores_shape).copy()
        mask_scores(masked, broadcast_mask(mask, scores_shape))
    weights = softmax(masked)  # (..., n_q, n_k), each row sums to 1
    # (..., n_q, n_k) @ (..., n_k, d_v) -> (..., n_q, d_v)
    output = mix(lambda values: weights @ values, v)

    if return_trace:
        trace = (scores, scores, masked, weights, output)
        return AttentionTrace(*(a.astype(dtype, copy=False) for a in trace))
    return output.astype(dtype, copy=False)
