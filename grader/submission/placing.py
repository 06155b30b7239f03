"""Puts the assignment's cells back in their places among the learner's cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.submission.expecting import ANSWER, TEST, TEXT, Expected
from grader.submission.reading import Cell
from grader.submission.wording import Remarks


@dataclass
class Entry:
    """A cell of the repaired notebook."""

    number: int | None  # of the expected cell; None for the learner's own cells
    cell: Cell | None  # as handed in; None if it was not handed in


def put_in_place(
    entries: list[Entry], expected: Sequence[Expected], remarks: Remarks
) -> list[Entry]:
    """Insert missing cells, and move given cells and tests that are on the wrong side of answers.

    The learner's cells keep their order. A given cell must come before the answers that follow it
    in the assignment, and a test after the answers that precede it.
    """
    settled = {e.number for e in entries if e.number is not None and _has_role(e, expected, ANSWER)}
    in_order = _longest_in_order([e.number for e in entries if e.number in settled])
    for number, want in enumerate(expected):
        if want.role == TEXT or number in settled:
            continue
        at = next((i for i, entry in enumerate(entries) if entry.number == number), None)
        entry = entries.pop(at) if at is not None else Entry(number, None)
        mates = {n for n in settled if expected[n].block == want.block}
        # If a whole task was moved, leave it there.
        fixed = mates | (in_order if mates <= in_order else set())
        low, high = _bounds(number, want, entries, fixed, mates)
        if at is None:
            _remark_on_missing(want, remarks)
        if at is not None and low < at <= high:
            place = at
        else:
            place = _best_place(number, want, entries, low, high)
        if at is not None and place != at:
            remarks.add(
                want.name,
                "had been moved; it was put back in its place.",
                "had been moved; they were put back in their places.",
            )
        entries.insert(place, entry)
        settled.add(number)
        if mates <= in_order:
            in_order.add(number)
    return entries


def _bounds(
    number: int, want: Expected, entries: Sequence[Entry], fixed: set[int], mates: set[int]
) -> tuple[int, int]:
    """Return the indices that the cell must come after and before.

    `fixed` are the cells that it must be in order with; `mates` are those of the same task, which
    take precedence.
    """
    places = {entry.number: i for i, entry in enumerate(entries)}
    for names in (fixed, mates):
        low = max((places[n] for n in names if n < number), default=-1)
        high = min((places[n] for n in names if n > number), default=len(entries))
        if low < high:
            return low, high
    # The answers of its task are out of order: tests go after all, given cells before all.
    return (low, len(entries)) if want.role == TEST else (-1, high)


def _best_place(number: int, want: Expected, entries: Sequence[Entry], low: int, high: int) -> int:
    """Return the index to insert at: as late as possible for tests, as early for other cells."""
    if want.role == TEST:
        later = (
            i for i in range(low + 1, high) if (n := entries[i].number) is not None and n > number
        )
        return next(later, high)
    earlier = (
        i for i in range(high - 1, low, -1) if (n := entries[i].number) is not None and n < number
    )
    return next(earlier, low) + 1


def _remark_on_missing(want: Expected, remarks: Remarks) -> None:
    if want.role == ANSWER:
        remarks.add(want.name, "was not handed in.", "were not handed in.")
    else:
        remarks.add(
            want.name,
            "was not handed in; it was put back.",
            "were not handed in; they were put back.",
        )


def _has_role(entry: Entry, expected: Sequence[Expected], role: str) -> bool:
    return entry.number is not None and expected[entry.number].role == role


def _longest_in_order(numbers: Sequence[int]) -> set[int]:
    """Return the longest increasing subsequence, as a set.

    Examples
    --------
    >>> sorted(_longest_in_order([1, 2, 9, 3, 4]))
    [1, 2, 3, 4]
    """
    rising: list[list[int]] = []  # the longest subsequence that ends at each number
    for number in numbers:
        before = [sequence for sequence in rising if sequence[-1] < number]
        longest = max(before, key=len) if before else []
        rising.append([*longest, number])
    longest = max(rising, key=len) if rising else []
    return set(longest)
