"""Which handed-in cell is which of the assignment's cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.submission.expecting import ANSWER, TEXT, Expected, defined, visible
from grader.submission.reading import CODE, Cell

#: The share of lines that an edited cell and its original have to have in common.
ALIKE = 0.75

BY_ID = "ids"
BY_TEXT = "text"
BY_NAMES = "names"
BY_PLACE = "place"


@dataclass
class Matching:
    """The handed-in cells, by number, that were taken for each cell of the assignment."""

    cells: dict[int, list[int]] = field(default_factory=dict)  #: by the expected cell's number
    how: dict[int, str] = field(default_factory=dict)  #: what it was recognised by, if not marks
    owners: dict[int, int] = field(default_factory=dict)  #: the expected cell of a handed-in one

    def take(self, number: int, cell: int, how: str = "") -> None:
        """Take a handed-in cell for an expected one."""
        self.cells.setdefault(number, []).append(cell)
        self.owners[cell] = number
        if how:
            self.how[number] = how


def match(cells: Sequence[Cell], expected: Sequence[Expected]) -> Matching:
    """Recognise the assignment's cells among those that were handed in.

    By nbgrader's marks, else by the format's id, else by the text, else an answer by the names
    it defines, else an edited cell by its likeness, else an answer by its place. Each rule sees
    only what those before it left over. More than one cell can have the same marks; every
    other rule takes one.
    """
    return _Matcher(cells, expected).match()


class _Matcher:
    def __init__(self, cells: Sequence[Cell], expected: Sequence[Expected]) -> None:
        self.cells = cells
        self.expected = expected
        self.matching = Matching()
        # Once each: there may be many cells, and long ones.
        self.texts = [visible(cell.text) for cell in cells]
        self.lengths = [text.count("\n") + 1 for text in self.texts]
        self.defined = [defined(c.text) if c.kind == CODE else frozenset() for c in cells]

    def match(self) -> Matching:
        self._by_marks()
        self._one_each(BY_ID, lambda want: want.id != "", self._of_this_id)
        self._one_each(BY_TEXT, lambda _: True, self._of_this_text)
        self._one_each(BY_NAMES, lambda want: bool(want.asked_for), self._that_defines)
        self._one_each(BY_TEXT, lambda want: want.role != TEXT, self._alike)
        self._one_each(BY_PLACE, lambda want: want.role == ANSWER, self._in_this_place)
        return self.matching

    def _by_marks(self) -> None:
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
        # All empty answers look alike, and are then told apart by their place.
        elsewhere = equal[0] if want.role != ANSWER else None
        return next((i for i in equal if i in near), elsewhere)

    def _that_defines(self, number: int) -> int | None:
        asked_for, near = self.expected[number].asked_for, self._gap(number)
        best, most = None, 0
        for index in self._free():
            found = len(self.defined[index] & asked_for)
            # Far from its place it has to define all: a name or two may be used twice.
            enough = index in near or found == len(asked_for)
            if found and enough and found >= most:
                best, most = index, found
        return best

    def _alike(self, number: int) -> int | None:
        wanted = visible(self.expected[number].released)
        length = len(wanted.split("\n"))
        for index in self._gap(number):
            # Counting common lines takes a while; a text of another length has too few.
            if (
                index not in self.matching.owners
                and length / 2 <= self.lengths[index] <= length * 2
                and _in_common(self.texts[index], wanted) >= ALIKE
            ):
                return index
        return None

    def _in_this_place(self, number: int) -> int | None:
        """Return the cell behind the one that stands before it, or else the only one around."""
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
        """Return the handed-in cells between the nearest recognised ones before and after it."""
        taken = self.matching.cells
        before = next((max(taken[n]) for n in range(number - 1, -1, -1) if n in taken), -1)
        after = next(
            (min(taken[n]) for n in range(number + 1, len(self.expected)) if n in taken), None
        )
        if after is None or after <= before:  # it was moved: up to whatever comes next
            after = min((i for i in self.matching.owners if i > before), default=len(self.cells))
        return range(before + 1, after)


def _in_common(one: str, other: str) -> float:
    """Return the share of lines, empty ones aside, that stand in both texts.

    Examples
    --------
    >>> _in_common("a\\nb\\nc", "a\\n\\nb")
    0.8
    """
    ones, others = (Counter(filter(None, text.split("\n"))) for text in (one, other))
    lines = ones.total() + others.total()
    return 2 * (ones & others).total() / lines if lines else 0.0
