"""A learner's id, and random draws that depend on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from attn_lib.course.mistakes import appearances
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
        f"{task}: none of {MOST_DRAWS} draws will do. If they cannot show a catalogued mistake, "
        "leave it out by its id; otherwise ask less of the numbers."
    )


def mistakes_show(
    asked: Mapping[str, Sequence[Any]],
    *,
    margin: float = HAND_MARGIN,
    invisible: Sequence[str] = (),
) -> bool:
    """Say whether each mistake at these targets changes the answer to these arguments.

    Parameters
    ----------
    asked : mapping
        The arguments by target, a key of `attn_lib.course.targets.TARGETS`.
    margin : float
        How far at least one number of the answer has to move.
    invisible : sequence of str
        Ids of the mistakes that need not show.

    Examples
    --------
    >>> mistakes_show({"score_range": (64,)}), mistakes_show({"score_range": (1,)})
    (True, False)
    """
    with np.errstate(all="ignore"):
        for target, args in asked.items():
            right = np.asarray(TARGETS[target](*args))
            for mistake, wrong in appearances(target):
                if mistake.id in invisible:
                    continue
                try:
                    answer = np.asarray(wrong(*args))
                except ValueError:  # its shapes do not multiply, which shows
                    continue
                if answer.shape == right.shape and not np.any(np.abs(answer - right) > margin):
                    return False
    return True
