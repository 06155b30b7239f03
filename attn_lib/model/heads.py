"""The role of each head, found by measuring where it looks.

Training from another start may give a role to another head, so heads are not identified by their
number. Each role goes to the head that scores highest in it.

References
----------
Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", on induction heads;
Olsson et al. 2022, "In-context Learning and Induction Heads", on how they are recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from attn_lib.model.language import Sentence
from attn_lib.model.layers import EPSILON, Array
from attn_lib.model.transformer import Trace, Transformer, forward, layer_names
from attn_lib.model.vocabulary import encode_batch

Role = Literal["previous word", "induction", "subject"]


class Head(NamedTuple):
    """One head of the model, and how well it fills a role."""

    layer: int  #: counted from 1
    head: int  #: counted from 1
    score: float  #: mean weight, from 0 to 1


def head_scores(
    model: Transformer, sentences: Sequence[Sentence]
) -> dict[Role, NDArray[np.float64]]:
    """Return the mean weight that each head puts on the words that each role looks at.

    - ``"previous word"``: from each drink, when it is ordered, to the name before it.
    - ``"induction"``: from each name that comes again to the word that came after it the first
      time: its drink.
    - ``"subject"``: from the last noun before a verb to the subject, where other nouns stand
      between.

    Parameters
    ----------
    model : Transformer
    sentences : sequence of Sentence
        Of both skills; some of those of agreement with an attractor.

    Returns
    -------
    dict of str to ndarray, shape (n_layers, n_heads)
        Mean weight over all such places. A head that looks equally at all words scores about
        0.3 for the previous word and 0.1 for the other two.

    Raises
    ------
    ValueError
        If the sentences contain no place for one of the roles.

    Examples
    --------
    >>> from attn_lib.model import draw_sentences, trained_model
    >>> sentences = draw_sentences(100, np.random.default_rng(0))
    >>> scores = head_scores(trained_model(), sentences)
    >>> [role for role in scores if scores[role].max() > 0.5]
    ['previous word', 'induction', 'subject']
    """
    ids, lengths = encode_batch(sentence.words for sentence in sentences)
    trace = forward(model, ids, lengths)
    weights = np.stack([trace[f"{layer}.weights"] for layer in layer_names(model.config)])
    scores: dict[Role, NDArray[np.float64]] = {}
    for role in get_args(Role):
        places = list(_places(role, sentences))
        if not places:
            raise ValueError(
                f'head_scores: expected sentences with a place for "{role}", got none; '
                "draw some of both skills."
            )
        rows, queries, keys = np.array(places).T
        # (n_layers, batch, n_heads, n, n) -> (places, n_layers, n_heads)
        scores[role] = weights[:, rows, :, queries, keys].mean(axis=0, dtype=float)
    return scores


def find_heads(model: Transformer, sentences: Sequence[Sentence]) -> dict[Role, Head]:
    """Return the head that fills each role best.

    Parameters
    ----------
    model, sentences
        As in `head_scores`.

    Returns
    -------
    dict of str to Head

    Raises
    ------
    ValueError
        As in `head_scores`.

    Examples
    --------
    >>> from attn_lib.model import draw_sentences, trained_model
    >>> found = find_heads(trained_model(), draw_sentences(100, np.random.default_rng(0)))
    >>> found["previous word"].layer, found["induction"].layer
    (1, 2)
    """
    best: dict[Role, Head] = {}
    for role, scores in head_scores(model, sentences).items():
        layer, head = np.unravel_index(scores.argmax(), scores.shape)
        best[role] = Head(int(layer) + 1, int(head) + 1, float(scores[layer, head]))
    return best


def without_head(model: Transformer, layer: int, head: int) -> Transformer:
    """Return the model without the contribution of one head.

    Parameters
    ----------
    model : Transformer
        It is not changed.
    layer, head : int
        Counted from 1, as in `Head`.

    Returns
    -------
    Transformer
        With zeros for that head's rows of ``w_o``.

    Raises
    ------
    ValueError
        If there is no such layer or head.

    Examples
    --------
    >>> from attn_lib.model import trained_model
    >>> without_head(trained_model(), layer=2, head=1).parameters["layer2.w_o"][:16].any()
    np.False_
    """
    config = model.config
    if not (1 <= layer <= config.n_layers and 1 <= head <= config.n_heads):
        raise ValueError(
            f"without_head: expected a layer from 1 to {config.n_layers} and a head from 1 to "
            f"{config.n_heads}, got {layer} and {head}."
        )
    w_o = model.parameters[f"layer{layer}.w_o"].copy()
    w_o[(head - 1) * config.d_k : head * config.d_k] = 0
    return model._replace(parameters={**model.parameters, f"layer{layer}.w_o": w_o})


def logit_parts(model: Transformer, trace: Trace) -> dict[str, Array]:
    r"""Return what each part of the final stream adds to the logits.

    The final stream is a sum, and the unembedding is linear, so the logits are a sum as well. The
    last layer norm divides all parts by one number, the standard deviation of the whole. The logits
    are relative to their mean over all words, which softmax does not see.

    Parameters
    ----------
    model : Transformer
        Without feed-forward layers.
    trace : Trace
        What `forward` returned.

    Returns
    -------
    dict of str to ndarray, shape (..., n, n_words)
        By ``"embedding"``, ``"position"`` (if positions are added), ``"layer 1, head 1"`` and so
        on, and ``"bias of the last norm"``.

    Raises
    ------
    ValueError
        If the model has feed-forward layers.

    References
    ----------
    Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", on direct effects.

    Examples
    --------
    >>> from attn_lib.model import encode, trained_model
    >>> trace = forward(trained_model(), encode("ada tea bob juice ada"))
    >>> total = sum(logit_parts(trained_model(), trace).values())
    >>> logits = trace["logits"] - trace["logits"].mean(axis=-1, keepdims=True)
    >>> bool(np.allclose(total, logits, atol=1e-3))
    True
    """
    config, p = model
    if config.d_ff:
        raise ValueError("logit_parts: expected a model without feed-forward layers.")
    parts = {"embedding": trace["tokens"]}
    if "places" in trace:
        parts["position"] = np.broadcast_to(trace["places"], trace["tokens"].shape)
    for number, layer in enumerate(layer_names(config), start=1):
        for head in range(config.n_heads):
            rows = slice(head * config.d_k, (head + 1) * config.d_k)
            mixed = trace[f"{layer}.mixed"][..., head, :, :]  # (..., n, d_k)
            parts[f"layer {number}, head {head + 1}"] = mixed @ p[f"{layer}.w_o"][rows]
    deviation = np.sqrt(trace["final.stream"].var(axis=-1, keepdims=True) + EPSILON)
    added = {
        name: (part - part.mean(axis=-1, keepdims=True)) / deviation * p["final.gain"]
        for name, part in parts.items()
    }
    added["bias of the last norm"] = np.broadcast_to(p["final.bias"], trace["tokens"].shape)
    logits = {name: part @ p["unembedding"] for name, part in added.items()}
    return {name: part - part.mean(axis=-1, keepdims=True) for name, part in logits.items()}


def _places(role: Role, sentences: Sequence[Sentence]) -> Iterable[tuple[int, int, int]]:
    """Yield the sentence, the query and the key of each place at which a head shows its role."""
    skill = "agreement" if role == "subject" else "recall"
    for row, sentence in enumerate(sentences):
        for position, source in sentence.answers if sentence.skill == skill else ():
            asked = position - 1  # the word just before the answer
            if role == "previous word":
                yield row, source, source - 1
            elif asked != source:  # a verb right after its subject needs no look back
                yield row, asked, source
