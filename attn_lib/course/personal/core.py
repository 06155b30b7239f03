"""Random draws that depend only on the learner id and on the task."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.mistakes import appearances
from attn_lib.course.mistakes.core import Function
from attn_lib.course.personal.ids import checked_id
from attn_lib.course.targets import TARGETS

#: Minimum difference between the right and a wrong answer to a task done by hand. Such tasks ask
#: for three decimals; this is ten times the last one.
HAND_MARGIN = 0.01

#: Draws before `first_suitable` gives up; suitable numbers are found long before.
MAX_DRAWS = 10_000

#: Draws that `first_suitable_of_many` makes at once.
AT_ONCE = 250

Numbers = TypeVar("Numbers")

#: The secret that numbers depend on beside the id; see `salted`.
_salt = ""


@contextlib.contextmanager
def salted(salt: str) -> Iterator[None]:
    """Let numbers depend on a secret too, within this context.

    Who does not know it cannot compute the numbers of an id. This holds for the whole process.

    Parameters
    ----------
    salt : str
        The secret. If it is empty, numbers depend on id and task alone.

    Examples
    --------
    >>> with salted("a secret"):
    ...     drawn = personal_rng("ada", "two-keys").integers(10**9)
    >>> bool(drawn == personal_rng("ada", "two-keys").integers(10**9))
    False
    """
    global _salt
    before, _salt = _salt, salt
    try:
        yield
    finally:
        _salt = before


def is_salted() -> bool:
    """Return whether numbers depend on a secret now; see `salted`."""
    return bool(_salt)


def personal_rng(learner_id: str, task: str) -> np.random.Generator:
    """Return a random generator that depends only on the learner, the task and the salt.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.
    task : str
        A name for the numbers. Different names give different numbers.

    Examples
    --------
    >>> a = personal_rng("ada", "two-keys").integers(-3, 4, size=4)
    >>> b = personal_rng(" Ada ", "two-keys").integers(-3, 4, size=4)
    >>> bool((a == b).all())
    True
    """
    drawn_for = f"{task}\n{checked_id(learner_id)}".encode()
    if _salt:
        digest = hmac.digest(_salt.encode(), drawn_for, "sha256")
    else:
        digest = hashlib.sha256(drawn_for).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def first_suitable(
    learner_id: str,
    task: str,
    draw: Callable[[np.random.Generator], Numbers],
    suitable: Callable[[Numbers], bool],
) -> Numbers:
    """Return the first suitable draw for a task.

    Parameters
    ----------
    learner_id, task : str
        See `personal_rng`.
    draw : callable
        Takes a random generator, returns the numbers.
    suitable : callable
        Takes the numbers, returns whether they suit the task.

    Raises
    ------
    RuntimeError
        If none of `MAX_DRAWS` draws is suitable.

    Examples
    --------
    >>> first_suitable("ada", "even", lambda rng: rng.integers(10), lambda n: n % 2 == 0) % 2
    np.int64(0)
    """
    rng = personal_rng(learner_id, task)
    for _ in range(MAX_DRAWS):
        numbers = draw(rng)
        if suitable(numbers):
            return numbers
    raise _none_suitable(task)


def first_suitable_of_many(
    learner_id: str,
    task: str,
    draw: Callable[[np.random.Generator, int], tuple[NDArray[Any], ...]],
    possible: Callable[..., NDArray[np.bool_]],
    suitable: Callable[..., bool],
) -> tuple[NDArray[Any], ...]:
    """Return the first suitable draw for a task that most draws do not suit.

    Many draws are made at once. Conditions that NumPy computes for all of them at once cost far
    less than a condition on each draw.

    Parameters
    ----------
    learner_id, task : str
        See `personal_rng`.
    draw : callable
        Takes a random generator and how many draws to make, and returns arrays whose first axis is
        that of the draws.
    possible : callable
        Takes these arrays, returns an array of bools: False only for draws that do not suit.
    suitable : callable
        Takes the arrays of one possible draw, returns whether it suits the task.

    Raises
    ------
    RuntimeError
        If none of `MAX_DRAWS` draws is suitable.

    Examples
    --------
    >>> (found,) = first_suitable_of_many(
    ...     "ada",
    ...     "even",
    ...     lambda rng, number: (rng.integers(10, size=number),),
    ...     lambda drawn: drawn % 2 == 0,
    ...     lambda one: one > 4,
    ... )
    >>> found in (6, 8)
    True
    """
    rng = personal_rng(learner_id, task)
    for begun in range(0, MAX_DRAWS, AT_ONCE):
        drawn = draw(rng, min(AT_ONCE, MAX_DRAWS - begun))
        for index in np.flatnonzero(possible(*drawn)):
            numbers = tuple(part[index].copy() for part in drawn)
            if suitable(*numbers):
                return numbers
    raise _none_suitable(task)


def _none_suitable(task: str) -> RuntimeError:
    return RuntimeError(
        f"{task}: none of {MAX_DRAWS} draws is suitable. If no numbers can show one of the "
        "mistakes that they must show, remove its id; otherwise relax another condition."
    )


def mistakes_show(
    asked: Mapping[str, Sequence[Any]],
    named: Mapping[str, Sequence[str]],
    *,
    margin: float = HAND_MARGIN,
) -> bool:
    """Say whether each of the named mistakes changes the answer for these arguments.

    The mistakes are named, so that personal numbers do not change when the catalogue grows. A
    NaN in a wrong answer does not count as a change: nobody gets it by hand.

    Parameters
    ----------
    asked : mapping
        The arguments by target, a key of `attn_lib.course.targets.TARGETS`.
    named : mapping
        For each of these targets, the ids of the mistakes that must change its answer.
    margin : float
        At least one number of the answer has to change by more than this.

    Raises
    ------
    ValueError
        If the two mappings have different targets, or a named mistake cannot appear at its
        target.

    Examples
    --------
    >>> named = {"score_range": ["range-from-the-variance"]}
    >>> mistakes_show({"score_range": (64,)}, named), mistakes_show({"score_range": (1,)}, named)
    (True, False)
    """
    if asked.keys() != named.keys():
        raise ValueError(
            f"mistakes_show: expected mistakes named for {', '.join(asked)}, "
            f"got them for {', '.join(named)}; name some for each target asked for, and no other."
        )
    with np.errstate(all="ignore"):
        for target, args in asked.items():
            right = np.asarray(TARGETS[target](*args))
            for wrong in wrong_functions(target, named[target]):
                try:
                    answer = np.asarray(wrong(*args))
                except ValueError:  # the shapes do not multiply: the learner sees an error
                    continue
                if answer.shape == right.shape and not np.any(np.abs(answer - right) > margin):
                    return False
    return True


def wrong_functions(target: str, named: Sequence[str]) -> list[Function]:
    """Return the wrong form that each named mistake gives a target.

    Parameters
    ----------
    target : str
        A key of `attn_lib.course.targets.TARGETS`.
    named : sequence of str
        Ids of mistakes.

    Raises
    ------
    ValueError
        If there is no such target, or a named mistake cannot appear there.

    Examples
    --------
    >>> (transposed,) = wrong_functions("weights_shape", ["weights-shape-transposed"])
    >>> transposed((3, 7), (5, 7), (5, 2))
    array([5, 3])
    """
    known = _known(target)
    if unknown := [name for name in named if name not in known]:
        raise ValueError(
            f"{target}: expected ids of mistakes that can appear there ({', '.join(known)}), "
            f"got {', '.join(map(repr, unknown))}; correct the id, or name the mistake at a "
            "target where it can appear."
        )
    return [known[name] for name in named]


@functools.cache  # a draw asks for each target again
def _known(target: str) -> dict[str, Function]:
    return {mistake.id: wrong for mistake, wrong in appearances(target)}
