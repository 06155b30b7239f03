"""Results in place of targets and mistakes: what the visible tests of the exercises compare with.

A copy of attn_lib without answers has these results in `answers.json`, beside this module. Its
modules `attn_lib.course.targets` and `attn_lib.course.mistakes` take their names from here.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from attn_lib.course.stored import StoredCalls

#: The file with the results: ``targets`` by name, the ``mistakes`` that can appear in visible
#: tests, and for each target their ``spellings``.
ANSWERS = "answers.json"


@functools.cache
def answers() -> dict[str, Any]:
    """Return the content of the file."""
    # In Colab attn_lib is imported from its wheel, so the file is inside a zip file.
    return json.loads((files("attn_lib.course.targets") / ANSWERS).read_text(encoding="utf-8"))


@functools.cache
def stored_targets() -> dict[str, Callable[..., Any]]:
    """Return what stands for `attn_lib.course.targets.TARGETS`."""
    return {name: stored(name, results) for name, results in answers()["targets"].items()}


def stored(name: str, results: dict[str, Any]) -> Callable[..., Any]:
    """Return a function with these results, which counts as an answer of attn_lib.

    Examples
    --------
    >>> half = stored("half", StoredCalls.of("half", lambda x: x / 2, [(4,)]).results)
    >>> half(4)
    2.0
    """
    calls = StoredCalls(name, results)

    def function(*args: object) -> object:
        return calls(*args)

    function.__name__ = name
    return function


def target_named(name: str) -> Callable[..., Any]:
    """Return a target: the ``__getattr__`` of the package of targets."""
    if name.startswith("__") or name not in stored_targets():
        raise AttributeError(
            f"attn_lib.course.targets has no {name} in this copy of attn_lib, which has no answers."
        )
    return stored_targets()[name]
