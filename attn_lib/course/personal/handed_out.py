"""Learners' numbers as they were handed out, in place of the rule that draws them.

An instructor who keeps a secret salt hands out numbers as data: `numbers.json` in this package.
There the modules of this package give those numbers, to learners of the class list only. In the
sandbox of the grader, `use` gives the numbers of one learner.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from attn_lib.course.personal.ids import checked_id
from attn_lib.course.stored import StoredCalls, decoded

PACKAGE = "attn_lib.course.personal"
#: The file with the numbers: by `key_of` an id, what `given_numbers.given_to` returns for it.
NUMBERS = "numbers.json"

#: What was given to `use`.
_given: dict[str, Any] = {}


def key_of(learner_id: str) -> str:
    """Return the key of a learner's numbers in the file, which does not show the id.

    Examples
    --------
    >>> key_of("Ada") == key_of(" ada ")
    True
    """
    return hashlib.sha256(checked_id(learner_id).encode()).hexdigest()[:24]


def are_handed_out() -> bool:
    """Say whether this copy of attn_lib has handed-out numbers, and no rule that draws them."""
    return bool(_file())


def check_known(learner_id: str) -> None:
    """Raise an error if numbers were handed out, but none for this id.

    Raises
    ------
    ValueError
        If there are none.
    """
    if are_handed_out() and key_of(learner_id) not in _file():
        raise ValueError(
            f"learner_id: expected the id under which you are on the class list, got "
            f"{learner_id!r}. Correct it, or ask whoever teaches."
        )


def drawn_by(module: str) -> Callable[[str], Callable[..., Any]]:
    """Return the ``__getattr__`` of a module of this package that has handed-out numbers only.

    Parameters
    ----------
    module : str
        Its name, without the package.
    """

    def named(name: str) -> Callable[..., Any]:
        function = _functions().get(f"{module}.{name}")
        if function is None:
            raise AttributeError(
                f"{PACKAGE}.{module} has no {name} in this copy of attn_lib, which has no answers."
            )
        return function

    return named


def use(numbers: str) -> None:
    """Give these numbers instead of drawing any, from now on in this process.

    Parameters
    ----------
    numbers : str
        JSON in the form of the file `NUMBERS`.
    """
    _given.update(json.loads(numbers))
    _functions.cache_clear()
    package = importlib.import_module(PACKAGE)
    for name, function in _functions().items():
        module, _, attribute = name.partition(".")
        for holder in (importlib.import_module(f"{PACKAGE}.{module}"), package):
            if hasattr(holder, attribute):
                setattr(holder, attribute, function)


@functools.cache
def _file() -> Mapping[str, Any]:
    # In Colab attn_lib is imported from its wheel, so the file is inside a zip file.
    file = files(PACKAGE) / NUMBERS
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    """Return the functions of all modules, by module and name."""
    found: dict[str, Callable[..., Any]] = {}
    results: dict[str, dict[str, Any]] = {}
    for given in (*_file().values(), *_given.values()):
        for name in given["draws"]:
            found[name] = functools.partial(_drawn, name)
        for name, calls in given["calls"].items():
            results.setdefault(name, {}).update(calls)
    return found | {name: StoredCalls(name, calls) for name, calls in results.items()}


def _drawn(name: str, learner_id: str) -> object:
    key = key_of(learner_id)
    given = _given.get(key) or _file().get(key)
    if given is None:
        check_known(learner_id)
        raise ValueError(f"{name}: expected an id with numbers, got {learner_id!r}.")
    return decoded(given["draws"][name])
