"""A learner's id, and random draws that depend on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from attn_lib.course.mistakes import appearances
from attn_lib.course.mistakes.core import Function
from attn_lib.course.targets import TARGETS

#: How far apart a right and a wrong answer to a task by hand have to lie: ten times the last
#: of the three decimals that are asked for.
HAND_MARGIN = 0.01

#: Characters of an id: more are none, and would take long to look at.
MOST_CHARACTERS = 200

#: More draws than a suitable set of numbers ever takes.
MOST_DRAWS = 10_000

Numbers = TypeVar("Numbers")


def checked_id(learner_id: str) -> str:
    """Return the id in the form the numbers are drawn from.

    Parameters
    ----------
    learner_id : str
        The learner's id. Case and surrounding space do not matter.

    Raises
    ------
    TypeError
        If it is not a string.
    ValueError
        If it has no letter and no digit: it is empty, or still the placeholder. If it is
        longer than any id, or holds half a character.

    Examples
    --------
    >>> checked_id(" Ada ")
    'ada'
    """
    if not isinstance(learner_id, str):
        raise TypeError(f"learner_id: expected a string, got {learner_id!r}; put it in quotes.")
    if len(learner_id) > MOST_CHARACTERS:
        raise ValueError(
            f"learner_id: expected your id, got {len(learner_id)} characters; fill it in."
        )
    learner_id = learner_id.strip().casefold()
    if any("\ud800" <= character <= "\udfff" for character in learner_id):
        raise ValueError(
            f"learner_id: expected your id, got {learner_id!r} with half a character; type it anew."
        )
    if not any(character.isalnum() for character in learner_id):
        raise ValueError(
            f"learner_id: expected your id, got {learner_id!r} without a letter or digit; "
            "fill it in."
        )
    return learner_id


def personal_rng(learner_id: str, task: str) -> np.random.Generator:
    """Return a random generator that depends on nothing but the two names.

    Parameters
    ----------
    learner_id : str
        See `checked_id`.
    task : str
        What the numbers are for, so that two tasks do not get the same ones.

    Examples
    --------
    >>> a = personal_rng("ada", "two-keys").integers(-3, 4, size=4)
    >>> b = personal_rng(" Ada ", "two-keys").integers(-3, 4, size=4)
    >>> bool((a == b).all())
    True
    """
    digest = hashlib.sha256(f"{task}\n{checked_id(learner_id)}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def first_suitable(
    learner_id: str,
    task: str,
    draw: Callable[[np.random.Generator], Numbers],
    suitable: Callable[[Numbers], bool],
) -> Numbers:
    """Return the first draw that suits a task.

    Parameters
    ----------
    learner_id, task : str
        See `personal_rng`.
    draw : callable
        Takes a random generator, returns the numbers.
    suitable : callable
        Takes the numbers, says whether they will do.

    Raises
    ------
    RuntimeError
        If none of `MOST_DRAWS` draws will do.

    Examples
    --------
    >>> first_suitable("ada", "even", lambda rng: rng.integers(10), lambda n: n % 2 == 0) % 2
    np.int64(0)
    """
    rng = personal_rng(learner_id, task)
    for _ in range(MOST_DRAWS):
        numbers = draw(rng)
        if suitable(numbers):
            return numbers
    raise RuntimeError(
        f"{task}: none of {MOST_DRAWS} draws will do. If they cannot show a mistake that the task "
        "names, take its id out there; otherwise ask less of the numbers."
    )


def mistakes_show(
    asked: Mapping[str, Sequence[Any]],
    named: Mapping[str, Sequence[str]],
    *,
    margin: float = HAND_MARGIN,
) -> bool:
    """Say whether each of the named mistakes changes the answer to these arguments.

    Only the named mistakes count, so a learner's numbers stay what they are when the catalogue
    grows. A NaN in a wrong answer counts as no change: nobody gets it by hand.

    Parameters
    ----------
    asked : mapping
        The arguments by target, a key of `attn_lib.course.targets.TARGETS`.
    named : mapping
        For each of these targets, the ids of the mistakes that have to show there.
    margin : float
        How far at least one number of the answer has to move.

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
                except ValueError:  # its shapes do not multiply, which shows
                    continue
                if answer.shape == right.shape and not np.any(np.abs(answer - right) > margin):
                    return False
    return True


def wrong_functions(target: str, named: Sequence[str]) -> list[Function]:
    """Return the wrong function that each named mistake makes at a target.

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
    known = {mistake.id: wrong for mistake, wrong in appearances(target)}
    if unknown := [name for name in named if name not in known]:
        raise ValueError(
            f"{target}: expected ids of mistakes that can appear there ({', '.join(known)}), "
            f"got {', '.join(map(repr, unknown))}; correct the id, or name the mistake at a "
            "target where it can appear."
        )
    return [known[name] for name in named]
