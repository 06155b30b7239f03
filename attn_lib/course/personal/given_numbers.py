"""What learners are given of their numbers, as data: what the given cells of notebooks show."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.personal import (
    complexity,
    dot_products,
    from_text_to_next_word,
    masking,
    putting_it_together,
    quiz,
    softmax_saturation,
    variance_growth,
)
from attn_lib.course.stored import StoredCalls, encoded

Draw = Callable[[str], Any]

#: The functions that notebooks call with a learner's id in cells that learners see, by module.
DRAWS: Mapping[str, tuple[Draw, ...]] = {
    "complexity": (complexity.layer, complexity.two_blocks, complexity.running_scores),
    "dot_products": (dot_products.sizes, dot_products.two_keys, dot_products.weights_to_read),
    "from_text_to_next_word": (
        from_text_to_next_word.shuffled_note,
        from_text_to_next_word.rotary_pairs,
        from_text_to_next_word.disguise,
    ),
    "masking": (masking.empty_row, masking.mask_to_read, masking.unknown_attention),
    "putting_it_together": (
        putting_it_together.layer_sizes,
        putting_it_together.gradients_by_hand,
        putting_it_together.suspects,
    ),
    "quiz": (
        *(quiz.wide_scores, quiz.spread, quiz.batch_sizes, quiz.found_matrix, quiz.cost),
        *(quiz.causal_scores, quiz.claims),
    ),
    "softmax_saturation": (
        softmax_saturation.two_scores,
        softmax_saturation.weights_and_jacobians,
        softmax_saturation.random_scores,
    ),
    "variance_growth": (
        variance_growth.entries,
        variance_growth.head_sizes,
        variance_growth.measurement,
    ),
}


def given_to(learner_id: str, modules: Iterable[str] = tuple(DRAWS)) -> dict[str, Any]:
    """Return the numbers of one learner as `attn_lib.course.personal.handed_out` reads them.

    What a task asks for is not among them: of an unknown attention there are the outputs that the
    given cell compares, of disguised heads the maps without their places in the model.

    Parameters
    ----------
    learner_id : str
        See `attn_lib.course.personal.checked_id`.
    modules : iterable of str
        Keys of `DRAWS`. Default: all.

    Returns
    -------
    dict
        ``draws`` has a value for each function of the modules, ``calls`` results of functions
        that take such values; both can be written as JSON.

    Examples
    --------
    >>> given = given_to("ada", ["dot_products"])
    >>> sorted(given["draws"])
    ['dot_products.sizes', 'dot_products.two_keys', 'dot_products.weights_to_read']
    """
    draws: dict[str, Any] = {}
    calls: dict[str, Any] = {}
    for module in modules:
        for draw in DRAWS[module]:
            value = draw(learner_id)
            if draw is masking.unknown_attention:
                attend, n = value
                value = StoredCalls.of("attend", attend, _probes(n)), n
            elif draw is from_text_to_next_word.disguise:
                value, calls = _without_heads(value)
            draws[f"{module}.{draw.__name__}"] = encoded(value)
    return {"draws": draws, "calls": calls}


def _probes(n: int) -> list[tuple[NDArray[Any], ...]]:
    """Return the arguments with which the given cell of the task calls the unknown attention."""
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, n, 4))
    probes: list[tuple[NDArray[Any], ...]] = [(q, k, v)]
    for j in range(n):
        changed_k, changed_v = k.copy(), v.copy()
        changed_k[j], changed_v[j] = rng.normal(size=(2, 4))
        probes.append((q, changed_k, changed_v))
    return probes


def _without_heads(texts: from_text_to_next_word.Disguise) -> tuple[Any, dict[str, Any]]:
    """Return a disguise without the heads it disguises, and what functions give for it."""
    shown = [name for name in texts._fields if name != "heads"]
    given = namedtuple("Disguise", shown)(*(getattr(texts, name) for name in shown))
    results = {}
    for function, others in (
        (from_text_to_next_word.maps, [(texts.orders,), (texts.sentence,)]),
        (from_text_to_next_word.parts_of_logits, [()]),
    ):
        stored = StoredCalls(function.__name__, {})
        for other in others:
            stored.record(lambda _, *rest, of=function: of(texts, *rest), (given, *other))
        results[f"from_text_to_next_word.{function.__name__}"] = stored.results
    return given, results
