"""The catalogue itself: what an entry says, and how one is added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    scaled: Function | None = None  #: how it shows in the scaled scores, if it does
    also: Function | None = None  #: another way to write it, the same on two axes


_CATALOGUE: dict[str, Mistake] = {}


def catalogue(target: str | None = None) -> list[Mistake]:
    """Return every catalogued mistake, or those that imitate `target`.

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
    """Return a decorator that enters the function below it into the catalogue.

    Parameters
    ----------
    id, target, sentence, section, scaled, also
        As in `Mistake`.

    Raises
    ------
    ValueError
        If there is no such target, or an entry of this id already.
    """
    _check_target(target, "mistake")
    if id in _CATALOGUE:
        raise ValueError(f"mistake: expected an id of its own, got {id!r} again; rename one.")

    def register(wrong: Function) -> Function:
        _CATALOGUE[id] = Mistake(id, target, wrong, sentence, section, scaled, also)
        return wrong

    return register


def _check_target(target: str, caller: str) -> None:
    if target not in TARGETS:
        raise ValueError(
            f"{caller}: expected one of {', '.join(TARGETS)} as target, got {target!r}."
        )
