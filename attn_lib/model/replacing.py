"""Replacing one step of the model's attention by another function.

`replacement` takes a function for one step of attention, which has the name and signature that
the course uses for it. It returns the `Parts` of a model that computes this step with the function
and every other step correctly. This puts a mistake into a working model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attn_lib._steps import default_scale
from attn_lib.attention import AttentionTrace
from attn_lib.model.layers import Array
from attn_lib.model.parts import RIGHT, Attention, Mask, Parts
from attn_lib.softmax import softmax, softmax_backward

Function = Callable[..., Any]
#: Takes scaled scores and a boolean mask; returns the weights.
WeightsOf = Callable[[Array, Array], Array]
#: Takes the gradient at the weights, scaled scores, mask and weights; returns that at the scores.
WeightsBackward = Callable[[Array, Array, Array, Array], Array]


def replacement(
    step: str,
    function: Function,
    backward: WeightsBackward | None = None,
    *,
    all_texts: bool = False,
) -> Parts:
    """Return the parts of a model in which `function` computes one step of attention.

    Parameters
    ----------
    step : str
        The step that the function computes, one of `STEPS`:

        - ``attention(q, k, v)``: the output. It has no mask, so for each word it is called
          with the words up to this one, and its last row is used.
        - ``score_matrix(q, k)`` and ``scaled_scores(q, k)``
        - ``additive_mask(allowed)``, ``masked_scores(scores, mask)`` and
          ``masked_softmax(scores, mask)``: from the scaled scores on. The mask is boolean.
        - ``softmax(scores)``, ``-inf`` where attention is not allowed
        - ``masked_attention(q, k, v, mask)`` and ``causal_attention(q, k, v)``
        - ``causal_mask(n_q, n_k)``, ``cached_causal_mask(n_q, n_k)`` and
          ``padding_mask(lengths, n_k)``

        It is called for one text at a time, with arrays of shape (n_heads, n, d), and
        (n_heads, n_q, n_k) for scores; only the masks are made for all texts at once. See also
        `all_texts`.
    function : callable
        Called with these arguments, by position.
    backward : callable, optional
        The derivative, for training. It takes the gradient at the weights, the scaled scores,
        the mask and the weights, each of shape (n_heads, n_q, n_k), and returns the gradient at
        the scaled scores. It can be given for ``masked_scores``, ``masked_softmax``,
        ``additive_mask`` and ``softmax``. Masks need none. To train with another scale, put
        `scaled_attention` into the parts.
    all_texts : bool
        Call a function that determines the weights, and its derivative, for all texts of a batch
        at once, which is faster. Their arrays have an axis for the texts in front, and they have
        to treat each text by itself.

    Returns
    -------
    Parts

    Raises
    ------
    ValueError
        If there is no such step, or if it accepts no derivative or no `all_texts` but is given it.

    Examples
    --------
    Weights that do not sum to 1 are a mistake that the trained model does not survive:

    >>> from attn_lib.model import accuracy, draw_sentences, trained_model
    >>> sentences = draw_sentences(100, np.random.default_rng(0), "recall", held_out=True)
    >>> parts = replacement("softmax", lambda scores: np.exp(scores))
    >>> accuracy(trained_model(), sentences, parts=parts)["recall"] < 0.9
    True
    """
    if step not in STEPS:
        raise ValueError(f"replacement: expected a step among {', '.join(STEPS)}, got {step!r}.")
    if step in _MASKS:
        if backward is not None:
            raise ValueError(
                f"replacement: expected no derivative for {step}, got one; "
                "a mask of True and False has none, and training needs none."
            )
        masks: dict[str, Any] = {step: function}
        return RIGHT._replace(**masks)
    if backward is not None and step not in WEIGHTS:
        raise ValueError(
            f"replacement: expected a derivative for one of {', '.join(WEIGHTS)}, got one "
            f"for {step}, which says nothing about the weights."
        )
    if step not in WEIGHTS and all_texts:
        raise ValueError(
            f"replacement: expected all_texts for one of {', '.join(WEIGHTS)}, got it for {step}."
        )
    if step in WEIGHTS:
        attention = weights_attention(WEIGHTS[step](function), backward, all_texts=all_texts)
        return RIGHT._replace(attention=attention)
    return RIGHT._replace(attention=_ATTENTIONS[step](function))


def weights_attention(
    weights_of: WeightsOf,
    weights_backward: WeightsBackward | None = None,
    scaled_scores: Callable[[Array, Array], Array] | None = None,
    *,
    all_texts: bool = False,
) -> Attention:
    """Return an attention whose weights are computed by a function.

    Parameters
    ----------
    weights_of : callable
        Takes scaled scores and a boolean mask, both of shape (n_heads, n_q, n_k), and returns
        the weights.
    weights_backward : callable, optional
        As `replacement` takes it.
    scaled_scores : callable, optional
        Takes q and k, returns the scores. Default: the right function. A model can be trained
        only with the default.
    all_texts : bool
        As `replacement` takes it.

    Returns
    -------
    Attention

    Examples
    --------
    >>> q, k, v = np.ones((1, 1, 4)), np.ones((1, 3, 4)), np.array([[[1.0], [3.0], [8.0]]])
    >>> equal = weights_attention(lambda scores, mask: mask / mask.sum(axis=-1, keepdims=True))
    >>> equal.forward(q, k, v, np.array([[[True, True, False]]])).output
    array([[[2.]]])
    """
    call = _all_texts if all_texts else _each_text

    def attend(q: Array, k: Array, v: Array, mask: Mask) -> AttentionTrace:
        raw = q @ k.swapaxes(-1, -2)  # (n_heads, n_q, n_k)
        scaled = _scaled(q, k) if scaled_scores is None else scaled_scores(q, k)
        mask = np.broadcast_to(mask, scaled.shape)
        weights = weights_of(scaled, mask)
        return AttentionTrace(raw, scaled, np.where(mask, scaled, -np.inf), weights, weights @ v)

    def forward(q: Array, k: Array, v: Array, mask: Mask) -> AttentionTrace:
        return AttentionTrace(*call(attend, q, k, v, _boolean(mask)))

    if weights_backward is None or scaled_scores is not None:
        return Attention(forward)

    def back(grad: Array, q: Array, k: Array, v: Array, mask: Mask) -> tuple[Array, Array, Array]:
        scaled = _scaled(q, k)
        mask = np.broadcast_to(mask, scaled.shape)
        weights = weights_of(scaled, mask)
        d_weights = grad @ v.swapaxes(-1, -2)  # (n_heads, n_q, n_k)
        d_raw = weights_backward(d_weights, scaled, mask, weights) * default_scale(q.shape[-1])
        return d_raw @ k, d_raw.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ grad

    def backward(
        grad: Array, q: Array, k: Array, v: Array, mask: Mask
    ) -> tuple[Array, Array, Array]:
        d_q, d_k, d_v = call(back, grad, q, k, v, _boolean(mask))
        return d_q, d_k, d_v

    return Attention(forward, backward)


def _from_attention(function: Function) -> Attention:
    def of_one_text(q: Array, k: Array, v: Array, mask: Mask) -> tuple[Array]:
        rows = []
        n_past = k.shape[-2] - q.shape[-2]
        for i in range(q.shape[-2]):
            known = n_past + i + 1
            output = function(q[:, : i + 1], k[:, :known], v[:, :known])
            rows.append(np.asarray(output)[..., -1, :])
        return (np.stack(rows, axis=-2),)

    def forward(q: Array, k: Array, v: Array, mask: Mask) -> Array:
        return _each_text(of_one_text, q, k, v, _boolean(mask))[0]

    return Attention(forward)


def _from_masked_attention(function: Function) -> Attention:
    def of_one_text(q: Array, k: Array, v: Array, mask: Mask) -> tuple[Array]:
        return (np.asarray(function(q, k, v, mask)),)

    def forward(q: Array, k: Array, v: Array, mask: Mask) -> Array:
        return _each_text(of_one_text, q, k, v, _boolean(mask))[0]

    return Attention(forward)


def _from_causal_attention(function: Function) -> Attention:
    return _from_masked_attention(lambda q, k, v, mask: function(q, k, v))


def _from_score_matrix(function: Function) -> Attention:
    return weights_attention(
        _right_weights, scaled_scores=lambda q, k: function(q, k) * default_scale(q.shape[-1])
    )


def _from_scaled_scores(function: Function) -> Attention:
    return weights_attention(_right_weights, scaled_scores=function)


#: For each step that determines the weights: how to turn a function for it into the weights.
WEIGHTS: dict[str, Callable[[Function], WeightsOf]] = {
    "additive_mask": lambda function: lambda scores, mask: softmax(scores + function(mask)),
    "masked_scores": lambda function: lambda scores, mask: softmax(function(scores, mask)),
    "masked_softmax": lambda function: function,
    "softmax": lambda function: lambda scores, mask: function(np.where(mask, scores, -np.inf)),
}
_MASKS = ("causal_mask", "cached_causal_mask", "padding_mask")
_ATTENTIONS = {
    "attention": _from_attention,
    "score_matrix": _from_score_matrix,
    "scaled_scores": _from_scaled_scores,
    "masked_attention": _from_masked_attention,
    "causal_attention": _from_causal_attention,
}
#: The steps that `replacement` can replace.
STEPS = (*_ATTENTIONS, *WEIGHTS, *_MASKS)


def softmax_vjp(d_weights: Array, weights: Array, axis: int = -1) -> Array:
    """Return the gradient at the scores of a softmax along any axis; see `softmax_backward`.

    Parameters
    ----------
    d_weights, weights : ndarray, shape (..., n_q, n_k)
        Gradient at the weights, and the weights.
    axis : int
        The axis along which the weights sum to 1.

    Returns
    -------
    ndarray, shape (..., n_q, n_k)
        Gradient at the scores.

    Examples
    --------
    >>> softmax_vjp(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    array([ 0.25, -0.25])
    """
    along_last = (np.moveaxis(array, axis, -1) for array in (weights, d_weights))
    return np.moveaxis(softmax_backward(*along_last), -1, axis)


def _right_weights(scores: Array, mask: Mask) -> Array:
    return softmax(np.where(mask, scores, -np.inf))


def _scaled(q: Array, k: Array) -> Array:
    return (q @ k.swapaxes(-1, -2)) * default_scale(q.shape[-1])


def _boolean(mask: Mask) -> Array:
    if mask.dtype.kind != "b":
        raise ValueError(
            "replacement: expected a boolean mask, got floating-point numbers; "
            'models with positions "alibi" attend with the right functions only.'
        )
    return mask


def _each_text(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> list[Array]:
    """Call a function for each text of a batch, and stack its results."""
    batch = np.broadcast_shapes(*(array.shape[:-3] for array in arrays))
    spread = [np.broadcast_to(a, batch + a.shape[-3:]) for a in arrays]
    results = [function(*(a[index] for a in spread)) for index in np.ndindex(batch)]
    return [np.stack(r).reshape(batch + r[0].shape) for r in zip(*results, strict=True)]


def _all_texts(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """Call a function once for all texts of a batch, as `_each_text` does for each."""
    return function(*arrays)
