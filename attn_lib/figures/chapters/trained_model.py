"""Figures of the trained model at work: writing with a cache, and with something changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attn_lib.figures import style
from attn_lib.figures.chapters.dot_products import weights_row
from attn_lib.figures.drawing import decimal_text, frame_patch
from attn_lib.figures.grids import write_in_cell
from attn_lib.figures.style import course_style, new_figure
from attn_lib.model import (
    RIGHT,
    WORDS,
    Parts,
    Sentence,
    Transformer,
    answer_logits,
    encode,
    forward,
    generate,
    layer_names,
    multiplications,
    shares_right,
)
from attn_lib.model.layers import Array
from attn_lib.model.measures import Reading
from attn_lib.model.transformer import Trace
from attn_lib.softmax import softmax

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Words that are compared in a drawing.
_COMPARED = 6
_NOTHING_SAID: Mapping[str, str] = {}


class Variant(NamedTuple):
    """A model that may differ from the right one, and how it reads a text."""

    model: Transformer  #: with weights that may differ
    parts: Parts = RIGHT  #: attention and masks, one of which may be wrong
    reading: Reading = "whole"  #: whether it meets the words all at once, or one by one


def cached_step(
    step: int, prompt: str, model: Transformer, examples: Sequence[str] = ()
) -> tuple[Figure, str]:
    r"""Draw what the model reads and computes for one word while it writes with a cache.

    Parameters
    ----------
    step : int
        Number of words written and read before, 0 or more.
    prompt : str
        Words of the vocabulary with spaces between.
    model : Transformer
    examples : sequence of str
        Other prompts, which the figure on a page offers.

    Returns
    -------
    (Figure, str)
        A row for each word whose key and value are there, a column for each head: the weights of
        the newest word. New keys and values are framed.

    Raises
    ------
    ValueError
        If the prompt has a word that is not in the vocabulary, or the text becomes too long.

    Examples
    --------
    >>> from attn_lib.model import trained_model
    >>> _, text = cached_step(1, "ada tea bob milk ada", trained_model())
    >>> print(text.replace(". ", ".\n"))
    “tea” is read: 1 new key and value in each head, 5 from the cache, 10528 multiplications.
    Without the cache it would be 63168.
    Next comes “bob”.
    """
    text = generate(model, prompt, step + 1).text.split()
    words, n = text[:-1], len(text) - 1
    new = 1 if step else n
    trace = forward(model, encode(words))
    weights = np.vstack([trace[f"{layer}.weights"][:, -1] for layer in layer_names(model.config)])
    config = model.config
    heads = [f"{i + 1}.{j + 1}" for i in range(config.n_layers) for j in range(config.n_heads)]
    with course_style():
        figure = new_figure(height=1.25 + 0.3 * n)
        axes = figure.add_subplot()
        axes.imshow(weights.T, cmap=style.WEIGHT_COLOURS, vmin=0, vmax=1, aspect="auto")
        for (j, i), weight in np.ndenumerate(weights):
            write_in_cell(
                axes, i, j, decimal_text(float(weight)), "white" if weight > 0.55 else style.INK
            )
        axes.add_patch(frame_patch((-0.5, n - new - 0.5), len(heads), new))
        axes.set_yticks(range(n), words, fontsize=9.5)
        axes.set_xticks(range(len(heads)), heads, fontsize=9.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel("layer and head; framed: new keys and values")
        axes.set_title(f"weights of “{words[-1]}”", loc="left")
    keys = "key and value" if new == 1 else "keys and values"
    cached, again = multiplications(config, new, n - new), multiplications(config, n)
    return figure, (
        f"“{words[-1]}” is read: {new} new {keys} in each head, {n - new} from the cache, {cached} "
        f"multiplications. Without the cache it would be {again}. Next comes “{text[-1]}”."
    )


def head_row(
    head: tuple[int, int],
    row: int,
    sentence: str,
    model: Transformer,
    roles: Mapping[str, str] = _NOTHING_SAID,
    examples: Sequence[str] = (),
) -> tuple[Figure, str]:
    r"""Draw the weights of a head for a sentence, with one row as bars.

    Parameters
    ----------
    head : (int, int)
        Layer and head, both counted from 1.
    row : int
        The row to show, from 1.
    sentence : str
        Words of the vocabulary with spaces between.
    model : Transformer
    roles : mapping of str to str
        What to call heads beside their number, as in ``{"layer 2, head 1": "induction"}``.
    examples : sequence of str
        Other sentences, which the figure on a page offers.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If a word is not in the vocabulary.

    Examples
    --------
    >>> from attn_lib.model import trained_model
    >>> _, text = head_row((1, 2), 2, "the cats sleep", trained_model())
    >>> print(text.replace(". ", ".\n"))
    Layer 1, head 2.
    Row 2, “cats”, gives 0.00 to the, 1.00 to cats, 0.00 to sleep.
    Before rounding, the row sums to 1.00 and column 2 to 1.02.
    """
    layer, number = head
    name = f"layer {layer}, head {number}"
    weights = forward(model, encode(sentence))[f"layer{layer}.weights"][number - 1]
    figure, text = weights_row(weights, sentence.split(), row)
    role = f" ({roles[name]})" if name in roles else ""
    return figure, f"{name.capitalize()}{role}. {text}"


def changed_model(
    change: str,
    variants: Mapping[str, Variant],
    sentence: str,
    tests: Sequence[Sentence],
    said: Mapping[str, str] = _NOTHING_SAID,
    examples: Sequence[str] = (),
) -> tuple[Figure, str]:
    r"""Draw which words the model expects next, beside a model in which something is changed.

    Parameters
    ----------
    change : str
        One of `variants`.
    variants : mapping of str to Variant
        The first is the right model.
    sentence : str
        Words of the vocabulary with spaces between.
    tests : sequence of Sentence
        With words that can be known. The text says how many of them are answered right.
    said : mapping of str to str
        What to call a change, or what it does. Default: its name.
    examples : sequence of str
        Other sentences, which the figure on a page offers.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If a word of the sentence is not in the vocabulary.

    Examples
    --------
    >>> from attn_lib.model import draw_sentences, trained_model, without_head
    >>> variants = {
    ...     "nothing": Variant(trained_model()),
    ...     "layer 2, head 1": Variant(without_head(trained_model(), 2, 1)),
    ... }
    >>> tests = draw_sentences(2, np.random.default_rng(0), "recall", held_out=True)
    >>> _, text = changed_model("layer 2, head 1", variants, "ada tea bob milk ada", tests)
    >>> print(text.replace("; ", ";\n").replace(". ", ".\n"))
    layer 2, head 1.
    After “ada tea bob milk ada” comes “tea” with 0.30;
    in the right model, “tea” with 1.00.
    Right answers: recall 1 of 6.
    """
    right, now = (
        _next_shares(v, sentence) for v in (next(iter(variants.values())), variants[change])
    )
    largest = np.fmax(right, np.nan_to_num(now))
    best = np.argsort(-largest, kind="stable")[:_COMPARED]
    places = np.arange(len(best))
    with course_style():
        figure = new_figure(height=3.0)
        axes = figure.add_subplot()
        axes.barh(places - 0.2, right[best], 0.38, color=style.MUTED, label="right model")
        axes.barh(places + 0.2, np.nan_to_num(now[best]), 0.38, color=style.KEY, label="changed")
        axes.set_yticks(places, [WORDS[i] for i in best])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("share as the next word")
        axes.legend(loc="lower right", fontsize=10)
        axes.set_title(change, loc="left")
    counts = _right_answers(variants[change], tests)
    answered = ", ".join(f"{skill} {n} of {of}" for skill, (n, of) in counts.items())
    name = f"{change}: {said[change].rstrip('.')}" if change in said else change
    expected = "NaN" if np.isnan(now).any() else _likeliest(now)
    return figure, (
        f"{name}. After “{sentence}” comes {expected}; in the right model, {_likeliest(right)}. "
        f"Right answers: {answered}."
    )


def _likeliest(shares: Array) -> str:
    return f"“{WORDS[shares.argmax()]}” with {decimal_text(shares.max())}"


def _next_shares(variant: Variant, sentence: str) -> Array:
    """Return the share of each word as the next one, (n_words,)."""
    ids = encode(sentence)
    if variant.reading == "whole":
        logits = forward(variant.model, ids, parts=variant.parts)["logits"]
    else:
        past: Trace | None = None
        for id in ids:
            past = forward(variant.model, [id], past=past, parts=variant.parts)
            logits = past["logits"]
    return softmax(logits[-1].astype(float))


def _right_answers(variant: Variant, tests: Sequence[Sentence]) -> dict[str, tuple[int, int]]:
    """Return, for each skill, how many answers are right and how many there are."""
    counts: dict[str, tuple[int, int]] = {}
    for sentence in tests:  # one by one, so that no text has padding
        model, parts, reading = variant
        logits = answer_logits(model, [sentence], parts=parts, reading=reading)
        share = shares_right(logits, [sentence])[sentence.skill]
        right, asked = counts.get(sentence.skill, (0, 0))
        n = len(sentence.answers)
        counts[sentence.skill] = (right + round(n * share), asked + n)
    return counts
