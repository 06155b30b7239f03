"""A small transformer: from the ids of words to a score for each word that could come next.

Every word has a vector, its *residual stream*. It starts as the word's embedding; each layer
reads it and adds something to it; the last step compares it with every word of the vocabulary.
The backward pass is in `gradients`, training in `training`, writing in `sampling`.

References
----------
Vaswani et al. 2017, "Attention Is All You Need", section 3: the layers, here the decoder's
alone. Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture": the norm
stands before each layer. Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits": the stream, and what models of attention alone can do with it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from attn_lib._arguments import read_positive_size, read_size
from attn_lib._arrays import read_whole_numbers
from attn_lib.attention import AttentionTrace
from attn_lib.model.layers import Array, embed, feed_forward, layer_norm
from attn_lib.model.parts import RIGHT, Parts
from attn_lib.model.positions import Positions, alibi_bias, rotate, sinusoidal
from attn_lib.multihead import merge_heads, split_heads

#: Every array that the model computes for a text, by name; see `forward`.
Trace = dict[str, Array]

#: Standard deviation of the initial embeddings and positions. It is small, so that what is
#: learned soon dominates; the norm rescales their sum.
INITIAL_DEVIATION = 0.3


class Config(NamedTuple):
    """The sizes of a model."""

    n_words: int  #: words in the vocabulary
    max_length: int = 17  #: words of the longest text; only learned positions need it
    d_model: int = 32  #: width of the residual stream
    n_layers: int = 2  #: each with attention
    n_heads: int = 2  #: in each layer
    d_k: int = 16  #: width of a query, a key and a value
    d_ff: int = 0  #: width of a feed-forward layer after each attention; with 0 there is none
    positions: Positions = "learned"  #: how a word's place enters the model


class Transformer(NamedTuple):
    """A model: its sizes, and all its parameters by name."""

    config: Config  #: its sizes
    parameters: dict[str, Array]  #: arrays by name

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(array.size for array in self.parameters.values())

    def astype(self, dtype: DTypeLike) -> Transformer:
        """Return the model with its parameters in another floating-point type."""
        parameters = {name: array.astype(dtype) for name, array in self.parameters.items()}
        return Transformer(self.config, parameters)


def layer_names(config: Config) -> list[str]:
    """Return the names of the layers in parameters and traces, from first to last.

    Examples
    --------
    >>> layer_names(Config(n_words=50))
    ['layer1', 'layer2']
    """
    return [f"layer{i}" for i in range(1, config.n_layers + 1)]


def initialise(config: Config, seed: int) -> Transformer:
    """Return an untrained model.

    The entries of a matrix are random, with variance 1 / number of rows, so that multiplying by it
    keeps the entries of a vector about as large. Gains are 1, biases 0.

    Parameters
    ----------
    config : Config
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Transformer
        In float32.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1 (for `d_ff`: of at least 0), or there is
        no such kind of positions.

    Examples
    --------
    >>> model = initialise(Config(n_words=49), seed=0)
    >>> model.size
    12064
    >>> model.parameters["layer2.w_q"].shape
    (32, 32)
    """
    _check_config(config)
    rng = np.random.default_rng(seed)
    d_model, d_heads, d_ff = config.d_model, config.n_heads * config.d_k, config.d_ff
    parameters: dict[str, Array] = {}

    def draw(name: str, rows: int, columns: int, deviation: float | None = None) -> None:
        deviation = 1 / math.sqrt(rows) if deviation is None else deviation
        parameters[name] = deviation * rng.standard_normal((rows, columns))

    def fill(name: str, size: int, value: float) -> None:
        parameters[name] = np.full(size, value)

    draw("embedding", config.n_words, d_model, INITIAL_DEVIATION)
    if config.positions == "learned":
        draw("positions", config.max_length, d_model, INITIAL_DEVIATION)
    for layer in layer_names(config):
        fill(f"{layer}.gain", d_model, 1)
        fill(f"{layer}.bias", d_model, 0)
        draw(f"{layer}.w_q", d_model, d_heads)
        draw(f"{layer}.w_k", d_model, d_heads)
        draw(f"{layer}.w_v", d_model, d_heads)
        draw(f"{layer}.w_o", d_heads, d_model)
        if d_ff:
            fill(f"{layer}.ff.gain", d_model, 1)
            fill(f"{layer}.ff.bias", d_model, 0)
            draw(f"{layer}.ff.w_in", d_model, d_ff)
            fill(f"{layer}.ff.b_in", d_ff, 0)
            draw(f"{layer}.ff.w_out", d_ff, d_model)
            fill(f"{layer}.ff.b_out", d_model, 0)
    fill("final.gain", d_model, 1)
    fill("final.bias", d_model, 0)
    draw("unembedding", d_model, config.n_words)
    return Transformer(config, parameters).astype(np.float32)


def forward(
    model: Transformer,
    ids: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    past: Trace | None = None,
    parts: Parts = RIGHT,
) -> Trace:
    """Return every array from the ids of words to the logits of the next words.

    Parameters
    ----------
    model : Transformer
    ids : array_like of int, shape (..., n)
        Words of one text or of a batch of texts.
    lengths : array_like of int, shape (...), optional
        Number of words of each text, cached ones included, if shorter texts have padding.
    past : Trace, optional
        What `forward` returned for the words before these: the KV cache. Only its keys and
        values are used.
    parts : Parts
        What to attend with.

    Returns
    -------
    Trace
        A dictionary of arrays in the order in which they are computed:

        - ``tokens``: each word's embedding, (..., n, d_model)
        - ``places``: what is added for its position, (n, d_model); not with "rotary", "alibi"
          or "none"
        - for each layer, as in ``layer1.stream``: ``stream``, what the layer reads,
          (..., n, d_model), and ``normed``; ``q``, ``k`` and ``v``, (..., n_heads, n, d_k);
          ``scores``, scaled and masked, and ``weights``, (..., n_heads, n, n_k), if attention
          returns them; ``mixed``, the heads' outputs, (..., n_heads, n, d_k), and ``merged``;
          ``added``, what the layer adds to the stream, (..., n, d_model)
        - for its feed-forward layer, if it has one: ``layer1.ff.stream``, ``layer1.ff.normed``
          and ``layer1.ff.added``
        - ``final.stream``, ``final.normed`` and ``logits``, (..., n, n_words): row i scores
          every word as the one after word i

        With a cache, keys, values, scores and weights are those of all n_k words, cached ones
        included.

    Raises
    ------
    TypeError
        If the ids are not whole numbers.
    ValueError
        If an id is not in the vocabulary, or the text is empty, or longer than the positions
        that the model has learned.

    Examples
    --------
    >>> model = initialise(Config(n_words=49), seed=0)
    >>> trace = forward(model, [3, 11, 1])  # ada tea .
    >>> trace["layer1.weights"].shape, trace["logits"].shape
    ((2, 3, 3), (3, 49))

    The same in two steps, with a cache:

    >>> first = forward(model, [3, 11])
    >>> second = forward(model, [1], past=first)
    >>> bool(np.allclose(second["logits"], trace["logits"][-1:], atol=1e-5))
    True
    """
    config, p = model
    ids = _read_ids(ids, config)
    n_past = 0 if past is None else past["layer1.k"].shape[-2]
    positions = _read_positions(n_past, ids.shape[-1], config)
    mask = attention_mask(config, n_past, ids.shape[-1], lengths, parts)

    trace: Trace = {"tokens": embed(p["embedding"], ids)}
    stream = trace["tokens"]  # (..., n, d_model)
    if config.positions == "learned":
        trace["places"] = p["positions"][positions]  # (n, d_model)
        stream = stream + trace["places"]
    elif config.positions == "sinusoidal":
        trace["places"] = sinusoidal(positions, config.d_model).astype(stream.dtype)
        stream = stream + trace["places"]
    for layer in layer_names(config):
        trace |= _attend(model, layer, stream, positions, mask, past, parts)
        stream = stream + trace[f"{layer}.added"]
        if config.d_ff:
            trace |= _feed_forward(model, layer, stream)
            stream = stream + trace[f"{layer}.ff.added"]
    trace["final.stream"] = stream
    trace["final.normed"] = layer_norm(stream, p["final.gain"], p["final.bias"])
    trace["logits"] = trace["final.normed"] @ p["unembedding"]  # (..., n, n_words)
    return trace


def _attend(
    model: Transformer,
    layer: str,
    stream: Array,
    positions: NDArray[np.integer],
    mask: NDArray[Any],
    past: Trace | None,
    parts: Parts,
) -> Trace:
    config, p = model
    normed = layer_norm(stream, p[f"{layer}.gain"], p[f"{layer}.bias"])  # (..., n, d_model)
    q = split_heads(normed @ p[f"{layer}.w_q"], config.n_heads)  # (..., n_heads, n, d_k)
    k = split_heads(normed @ p[f"{layer}.w_k"], config.n_heads)
    v = split_heads(normed @ p[f"{layer}.w_v"], config.n_heads)
    if config.positions == "rotary":
        q, k = rotate(q, positions), rotate(k, positions)
    if past is not None:
        k = np.concatenate([past[f"{layer}.k"], k], axis=-2)  # (..., n_heads, n_k, d_k)
        v = np.concatenate([past[f"{layer}.v"], v], axis=-2)
    trace = {"stream": stream, "normed": normed, "q": q, "k": k, "v": v}
    mixed = parts.attention.forward(q, k, v, mask)  # (..., n_heads, n, d_k)
    if isinstance(mixed, AttentionTrace):
        trace |= {"scores": mixed.masked, "weights": mixed.weights}  # (..., n_heads, n, n_k)
        mixed = mixed.output
    merged = merge_heads(mixed)  # (..., n, n_heads * d_k)
    added = merged @ p[f"{layer}.w_o"]  # (..., n, d_model)
    trace |= {"mixed": mixed, "merged": merged, "added": added}
    return {f"{layer}.{name}": array for name, array in trace.items()}


def _feed_forward(model: Transformer, layer: str, stream: Array) -> Trace:
    p = model.parameters
    normed = layer_norm(stream, p[f"{layer}.ff.gain"], p[f"{layer}.ff.bias"])
    added = feed_forward(
        normed,
        p[f"{layer}.ff.w_in"],
        p[f"{layer}.ff.b_in"],
        p[f"{layer}.ff.w_out"],
        p[f"{layer}.ff.b_out"],
    )
    return {f"{layer}.ff.stream": stream, f"{layer}.ff.normed": normed, f"{layer}.ff.added": added}


def attention_mask(
    config: Config, n_past: int, n: int, lengths: ArrayLike | None, parts: Parts
) -> NDArray[Any]:
    """Return the mask of every layer: causal, and without the padding if there is any.

    Parameters
    ----------
    config : Config
    n_past, n : int
        Number of words in the cache, and of new words.
    lengths : array_like of int, shape (...), or None
        Number of words of each text, without padding.
    parts : Parts
        The functions that make the masks.

    Returns
    -------
    ndarray, broadcastable to (..., n_heads, n, n_past + n)
        Boolean, True where attention is allowed. With ALiBi floating-point, to be added to the
        scaled scores.

    Examples
    --------
    >>> attention_mask(Config(n_words=49), 0, 3, [2], RIGHT).astype(int)
    array([[[[1, 0, 0],
             [1, 1, 0],
             [1, 1, 0]]]])
    """
    n_k = n_past + n
    mask = parts.causal_mask(n, n) if n_past == 0 else parts.cached_causal_mask(n, n_k)
    if lengths is not None:
        mask = mask & parts.padding_mask(read_whole_numbers(lengths, "lengths"), n_k)
    mask = mask[..., None, :, :]  # an axis for the heads
    if config.positions == "alibi":
        return np.where(mask, alibi_bias(config.n_heads, n, n_k), -np.inf)
    return mask


def _read_ids(ids: ArrayLike, config: Config) -> NDArray[np.integer]:
    array = read_whole_numbers(ids, "forward: ids")
    if array.ndim == 0 or array.size == 0:
        raise ValueError(
            f"forward: expected ids of shape (..., n) for at least one word, got {array.shape}; "
            "a model needs a first word to go on from."
        )
    if array.min() < 0 or array.max() >= config.n_words:
        raise ValueError(
            f"forward: expected ids from 0 to {config.n_words - 1}, got {array.min()} to "
            f"{array.max()}; make them with encode."
        )
    return array


def _read_positions(n_past: int, n: int, config: Config) -> NDArray[np.integer]:
    if config.positions == "learned" and n_past + n > config.max_length:
        raise ValueError(
            f"forward: expected at most {config.max_length} words, as many positions as the "
            f"model has learned, got {n_past + n}; cut the text."
        )
    return np.arange(n_past, n_past + n)


def _check_config(config: Config) -> None:
    for name in ("n_words", "max_length", "d_model", "n_layers", "n_heads", "d_k"):
        read_positive_size(getattr(config, name), name)
    read_size(config.d_ff, "d_ff")
    if config.positions not in get_args(Positions):
        kinds = ", ".join(get_args(Positions))
        raise ValueError(
            f"initialise: expected positions to be one of {kinds}, got {config.positions!r}."
        )
