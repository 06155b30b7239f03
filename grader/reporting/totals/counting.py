"""How the total of a student follows from the scores in several assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Work(NamedTuple):
    """A student's score in an assignment that counts."""

    assignment: str
    score: float  #: after the late penalty; 0 for what has no grade
    max_score: float
    weight: float

    @property
    def share(self) -> float:
        """The score as a share of the maximum score."""
        return self.score / self.max_score


class Counted(NamedTuple):
    """A total, and what it was counted without."""

    total: float | None  #: in percent; None if no assignment counts
    dropped: tuple[str, ...]  #: the assignments that were dropped


def count(works: Sequence[Work], drop_lowest: int = 0) -> Counted:
    """Return the weighted mean of the shares, in percent, without the lowest ones.

    The lowest shares are dropped first, and of equal shares the one with the greatest weight, so
    that dropping never lowers a total. At least one assignment always counts.

    Parameters
    ----------
    works : sequence of Work
        Those of one student, without the excused ones. Weights and maximum scores are positive.
    drop_lowest : int
        How many to drop.

    Examples
    --------
    >>> works = [Work("masking", 9, 12, 2), Work("complexity", 5, 10, 1), Work("quiz", 4, 4, 1)]
    >>> count(works)
    Counted(total=75.0, dropped=())
    >>> count(works, drop_lowest=1).dropped
    ('complexity',)
    """
    if not works:
        return Counted(None, ())
    ranked = sorted(works, key=lambda work: (work.share, -work.weight, work.assignment))
    number = min(drop_lowest, len(works) - 1)
    kept = ranked[number:]
    total = sum(work.weight * work.share for work in kept) / sum(work.weight for work in kept)
    return Counted(100 * total, tuple(sorted(work.assignment for work in ranked[:number])))
