"""Tells whose assignment a notebook is, by the ids of its cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from grader.submission.errors import Unreadable

#: The ids of the cells of each assignment in a course.
CellIds = Mapping[str, Collection[str]]


def check_assignment(
    handed_in: Collection[str], wanted: Collection[str], assignments: Callable[[], CellIds]
) -> None:
    """Raise `Unreadable` if a notebook is plainly that of another assignment.

    Assignments may share ids, such as ``imports``, which say nothing. Of the ids that only one of
    two assignments has, another assignment's notebook has none of the wanted one's, and most of
    the other's.

    Parameters
    ----------
    handed_in : collection of str
        The ids of the cells that were handed in.
    wanted : collection of str
        The ids of the assignment's cells.
    assignments : callable
        Returns the ids of every assignment of the course. It is called only if ids were handed in
        that are not wanted.

    Raises
    ------
    Unreadable
        With the name of the other assignment.

    Examples
    --------
    >>> course = {"masking": ["imports", "causal", "padded"], "quiz": ["imports", "why"]}
    >>> check_assignment(course["quiz"], course["quiz"], lambda: course)
    >>> check_assignment(course["masking"], course["quiz"], lambda: course)
    Traceback (most recent call last):
    grader.submission.errors.Unreadable: expected this assignment's notebook, found that of ...
    """
    found, ours = set(handed_in), set(wanted)
    if not found - ours:
        return
    for name, ids in assignments().items():
        theirs = set(ids) - ours
        if 2 * len(found & theirs) > len(theirs) and not found & (ours - set(ids)):
            raise Unreadable(
                f"expected this assignment's notebook, found that of {name}: it has "
                f"{len(found & theirs)} of the {len(theirs)} cells that only {name} has, and none "
                "of those that only this assignment has. Hand in the right notebook"
            )
