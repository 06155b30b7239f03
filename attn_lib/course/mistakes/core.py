"""The catalogue itself: what an entry contains, and how to add one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from attn_lib.course.targets import TARGETS

Function = Callable[..., Any]


@dataclass(frozen=True)
class Mistake:
    """One wrong implementation and how to recognise it."""

    id: str
    target: str  #: the key in `TARGETS` of the function it imitates
    wrong: Function
    sentence: str  #: what it gets wrong
    section: str  #: the place in the book that explains it, as page#heading
    scaled: Function | None = None  #: the wrong scaled scores that it leads to, if it does
    also: Function | None = None  #: another way to write it, which agrees for arrays of two axes


_CATALOGUE: dict[str, Mistake] = {}


def catalogue(target: str | None = None) -> list[Mistake]:
    """Return every catalogued mistake, or those that imitate `target`.

    The modules come in the order that `attn_lib.course.mistakes` sets; the mistakes of a module
    come in the order of its source.

    Parameters
    ----------
    target : str, optional
        A key of `TARGETS`.

    Raises
    ------
    ValueError
        If there is no such target.

    Examples
    --------
    >>> [mistake.id for mistake in catalogue("score_matrix")]
    ['keys-times-queries', 'cosine-scores', 'scores-already-scaled']
    """
    if target is not None:
        _check_target(target, "catalogue")
    return [m for m in _CATALOGUE.values() if target in (None, m.target)]


def mistake(
    id: str,
    target: str,
    sentence: str,
    section: str,
    scaled: Function | None = None,
    also: Function | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that adds the decorated function to the catalogue.

    Parameters
    ----------
    id, target, sentence, section, scaled, also
        As in `Mistake`.

    Raises
    ------
    ValueError
        If there is no such target, or if another entry has this id.
    """
    _check_target(target, "mistake")
    if id in _CATALOGUE:
        raise ValueError(f"mistake: expected an id of its own, got {id!r} again; rename one.")

    def register(wrong: Function) -> Function:
        _CATALOGUE[id] = Mistake(id, target, wrong, sentence, section, scaled, also)
        return wrong

    return register


def put_in_order(modules: Sequence[ModuleType]) -> None:
    """Sort the catalogue by these modules, whatever the order of their imports.

    Parameters
    ----------
    modules : sequence of module
        Every module whose mistakes are in the catalogue, the first one first.

    Raises
    ------
    ValueError
        If a mistake comes from another module.
    """
    places = {module.__name__: place for place, module in enumerate(modules)}
    homes = {mistake.wrong.__module__ for mistake in _CATALOGUE.values()}
    if others := homes - places.keys():
        raise ValueError(
            f"put_in_order: expected every module with mistakes, {', '.join(sorted(others))} is "
            "missing; name it where it belongs in attn_lib/course/mistakes/__init__.py."
        )
    # sorted is stable, so the mistakes of one module stay in the order of its source.
    entries = sorted(_CATALOGUE.values(), key=lambda entry: places[entry.wrong.__module__])
    _CATALOGUE.clear()
    _CATALOGUE.update((entry.id, entry) for entry in entries)


def _check_target(target: str, caller: str) -> None:
    if target not in TARGETS:
        raise ValueError(
            f"{caller}: expected one of {', '.join(TARGETS)} as target, got {target!r}."
        )
