"""The backward pass of the model: the same steps as `forward`, from the last to the first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arrays import read_whole_numbers
from attn_lib.model.layers import (
    Array,
    embed_backward,
    feed_forward_backward,
    layer_norm_backward,
    matrix_gradient,
)
from attn_lib.model.parts import RIGHT, Parts
from attn_lib.model.positions import rotate
from attn_lib.model.transformer import Trace, Transformer, attention_mask, layer_names
from attn_lib.multihead import merge_heads, split_heads


def backward(
    model: Transformer,
    ids: ArrayLike,
    trace: Trace,
    grad_logits: Array,
    lengths: ArrayLike | None = None,
    *,
    parts: Parts = RIGHT,
) -> dict[str, Array]:
    """Return the gradient of the loss at every parameter of the model.

    Parameters
    ----------
    model : Transformer
    ids : array_like of int, shape (..., n)
    trace : Trace
        What `forward` returned for these ids, without a cache.
    grad_logits : ndarray, shape (..., n, n_words)
        Gradient of the loss at the logits.
    lengths, parts
        The arguments of the call of `forward`.

    Returns
    -------
    dict of str to ndarray
        The names and shapes of the model's parameters.

    Raises
    ------
    ValueError
        If the parts' attention has no backward pass, or the trace was made with a cache.

    Examples
    --------
    >>> from attn_lib.model import Config, forward, initialise
    >>> model = initialise(Config(n_words=5), seed=0)
    >>> trace = forward(model, [3, 1, 4])
    >>> grad_logits = np.zeros((3, 5))
    >>> grad_logits[1, 2] = 1  # of the score of word 2 after the second word
    >>> gradients = backward(model, [3, 1, 4], trace, grad_logits)
    >>> gradients["embedding"].any(axis=1)  # the first two words take part, no other
    array([False,  True, False,  True, False])
    """
    config, p = model
    ids = read_whole_numbers(ids, "backward: ids")
    n = ids.shape[-1]
    if trace["layer1.k"].shape[-2] != n:
        raise ValueError(
            f"backward: expected the trace of the {n} words alone, got one with "
            f"{trace['layer1.k'].shape[-2]} keys; call forward without a cache."
        )
    mask = attention_mask(config, 0, n, lengths, parts)
    gradients = {"unembedding": matrix_gradient(trace["final.normed"], grad_logits)}

    def back_through_norm(name: str, d_normed: Array) -> Array:
        d_stream, gradients[f"{name}.gain"], gradients[f"{name}.bias"] = layer_norm_backward(
            d_normed, trace[f"{name}.stream"], p[f"{name}.gain"]
        )
        return d_stream

    d_stream = back_through_norm("final", grad_logits @ p["unembedding"].T)  # (..., n, d_model)
    for layer in reversed(layer_names(config)):
        # A layer adds to the stream, so the gradient flows both through the layer and past it.
        if config.d_ff:
            d_normed = _feed_forward_backward(model, layer, trace, d_stream, gradients)
            d_stream = d_stream + back_through_norm(f"{layer}.ff", d_normed)
        d_normed = _attend_backward(model, layer, trace, d_stream, mask, parts, gradients)
        d_stream = d_stream + back_through_norm(layer, d_normed)

    if config.positions == "learned":
        gradients["positions"] = np.zeros_like(p["positions"])
        gradients["positions"][:n] = d_stream.reshape(-1, n, config.d_model).sum(axis=0)
    gradients["embedding"] = embed_backward(d_stream, ids, config.n_words)
    return gradients


def _attend_backward(
    model: Transformer,
    layer: str,
    trace: Trace,
    d_added: Array,
    mask: NDArray[Any],
    parts: Parts,
    gradients: dict[str, Array],
) -> Array:
    """Store the gradients of an attention layer's matrices; return the one at its input."""
    if parts.attention.backward is None:
        raise ValueError(
            "backward: expected an attention with a backward pass, got one without; "
            "give its derivative to `replacement`, or only run the model with it."
        )
    config, p = model
    gradients[f"{layer}.w_o"] = matrix_gradient(trace[f"{layer}.merged"], d_added)
    d_mixed = split_heads(d_added @ p[f"{layer}.w_o"].T, config.n_heads)
    q, k, v = (trace[f"{layer}.{name}"] for name in "qkv")  # (..., n_heads, n, d_k)
    d_q, d_k, d_v = parts.attention.backward(d_mixed, q, k, v, mask)
    if config.positions == "rotary":
        back = -np.arange(q.shape[-2])
        d_q, d_k = rotate(d_q, back), rotate(d_k, back)
    normed = trace[f"{layer}.normed"]
    d_normed = np.zeros_like(normed)  # (..., n, d_model)
    for name, d_heads in (("w_q", d_q), ("w_k", d_k), ("w_v", d_v)):
        d_projected = merge_heads(d_heads)  # (..., n, n_heads * d_k)
        gradients[f"{layer}.{name}"] = matrix_gradient(normed, d_projected)
        d_normed += d_projected @ p[f"{layer}.{name}"].T
    return d_normed


def _feed_forward_backward(
    model: Transformer, layer: str, trace: Trace, d_added: Array, gradients: dict[str, Array]
) -> Array:
    names = [f"{layer}.ff.{name}" for name in ("w_in", "b_in", "w_out", "b_out")]
    w_in, b_in, w_out = (model.parameters[name] for name in names[:3])
    normed = trace[f"{layer}.ff.normed"]
    d_normed, *d_parameters = feed_forward_backward(d_added, normed, w_in, b_in, w_out)
    gradients |= dict(zip(names, d_parameters, strict=True))
    return d_normed
