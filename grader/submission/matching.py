"""Matches the handed-in cells with the cells of the assignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from attn_lib.course.notebooks.cells import visible
from grader.submission.expecting import ANSWER, TEXT, Expected, defined
from grader.submission.reading import CODE, Cell

#: The share of lines that an edited cell must have in common with the original.
MIN_COMMON = 0.75

BY_ID = "ids"
BY_TEXT = "text"
BY_NAMES = "names"
BY_PLACE = "place"


@dataclass
class Matching:
    """Which handed-in cells were matched with each cell of the assignment, by index."""

    cells: dict[int, list[int]] = field(default_factory=dict)  #: handed-in cells, by expected cell
    how: dict[int, str] = field(default_factory=dict)  #: the rule, if not nbgrader's metadata
    owners: dict[int, int] = field(default_factory=dict)  #: the expected cell, by handed-in cell

    def take(self, number: int, cell: int, how: str = "") -> None:
        """Match a handed-in cell with an expected one."""
        self.cells.setdefault(number, []).append(cell)
        self.owners[cell] = number
        if how:
            self.how[number] = how


def match(cells: Sequence[Cell], expected: Sequence[Expected]) -> Matching:
    """Find the assignment's cells among the handed-in ones.

    The rules, each applied to the cells that the rules before it left unmatched: nbgrader's
    metadata; the notebook format's id; equal text; for an answer, the names it defines; similar
    text; for an answer, its place. Several cells can have the same nbgrader metadata, and all of
    them are matched; every other rule matches one cell.
    """
    return _Matcher(cells, expected).match()


class _Matcher:
    def __init__(self, cells: Sequence[Cell], expected: Sequence[Expected]) -> None:
        self.cells = cells
        self.expected = expected
        self.matching = Matching()
        # Computed once: there may be many cells, and long ones.
        self.texts = [visible(cell.text) for cell in cells]
        self.lengths = [text.count("\n") + 1 for text in self.texts]
        self.defined = [defined(c.text) if c.kind == CODE else frozenset() for c in cells]

    def match(self) -> Matching:
        self._by_grade_id()
        self._one_each(BY_ID, lambda want: want.id != "", self._of_this_id)
        self._one_each(BY_TEXT, lambda _: True, self._of_this_text)
        self._one_each(BY_NAMES, lambda want: bool(want.asked_for), self._that_defines)
        self._one_each(BY_TEXT, lambda want: want.role != TEXT, self._alike)
        self._one_each(BY_PLACE, lambda want: want.role == ANSWER, self._in_this_place)
        return self.matching

    def _by_grade_id(self) -> None:
        numbers = {
            want.name: number for number, want in enumerate(self.expected) if want.role != TEXT
        }
        for index, cell in enumerate(self.cells):
            if cell.grade_id in numbers:
                self.matching.take(numbers[cell.grade_id], index)

    def _one_each(
        self,
        how: str,
        concerns: Callable[[Expected], bool],
        find: Callable[[int], int | None],
    ) -> None:
        for number, want in enumerate(self.expected):
            if number not in self.matching.cells and concerns(want):
                index = find(number)
                if index is not None:
                    self.matching.take(number, index, how)

    def _of_this_id(self, number: int) -> int | None:
        wanted = self.expected[number].id
        return next((i for i in self._free() if self.cells[i].id == wanted), None)

    def _of_this_text(self, number: int) -> int | None:
        want = self.expected[number]
        texts = {visible(want.cell.source), visible(want.released)}
        equal = [i for i in self._free() if self.texts[i] in texts]
        if not equal or not want.released.strip():
            return None
        near = self._gap(number)
        # Unanswered cells can have equal text; only their place tells them apart.
        elsewhere = equal[0] if want.role != ANSWER else None
        return next((i for i in equal if i in near), elsewhere)

    def _that_defines(self, number: int) -> int | None:
        asked_for, near = self.expected[number].asked_for, self._gap(number)
        best, max_found = None, 0
        for index in self._free():
            found = len(self.defined[index] & asked_for)
            # Outside its place, a cell must define all names: other cells may use some of them.
            enough = index in near or found == len(asked_for)
            if found and enough and found >= max_found:
                best, max_found = index, found
        return best

    def _alike(self, number: int) -> int | None:
        wanted = visible(self.expected[number].released)
        length = len(wanted.split("\n"))
        for index in self._gap(number):
            # Counting common lines is slow, and texts of very different lengths have too few.
            if (
                index not in self.matching.owners
                and length / 2 <= self.lengths[index] <= length * 2
                and _in_common(self.texts[index], wanted) >= MIN_COMMON
            ):
                return index
        return None

    def _in_this_place(self, number: int) -> int | None:
        """Return the cell right after the preceding expected one, or the gap's only candidate."""
        kind, near = self.expected[number].cell.cell_type, self._gap(number)
        fit = [
            index
            for index in near
            if index not in self.matching.owners
            and self.cells[index].kind == kind
            and self.cells[index].text.strip()
        ]
        behind, before = number - 1 in self.matching.cells, number + 1 in self.matching.cells
        if fit and behind and fit[0] == near[0]:
            return fit[0]
        return fit[0] if len(fit) == 1 and (behind or before) else None

    def _free(self) -> list[int]:
        return [i for i in range(len(self.cells)) if i not in self.matching.owners]

    def _gap(self, number: int) -> range:
        """Return the indices between the nearest matched cells before and after this one."""
        taken = self.matching.cells
        before = next((max(taken[n]) for n in range(number - 1, -1, -1) if n in taken), -1)
        after = next(
            (min(taken[n]) for n in range(number + 1, len(self.expected)) if n in taken), None
        )
        if after is None or after <= before:  # cells were moved: end at the next matched cell
            after = min((i for i in self.matching.owners if i > before), default=len(self.cells))
        return range(before + 1, after)


def _in_common(one: str, other: str) -> float:
    r"""Return the share of lines that two texts have in common, not counting empty lines.

    Examples
    --------
    >>> _in_common("a\nb\nc", "a\n\nb")
    0.8
    """
    ones, others = (Counter(filter(None, text.split("\n"))) for text in (one, other))
    lines = ones.total() + others.total()
    return 2 * (ones & others).total() / lines if lines else 0.0
