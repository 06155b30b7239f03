"""Builds the repaired notebook: learner's cells in their order, the assignment's in place."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence

import nbformat
from nbformat import NotebookNode

from grader.submission.expecting import ANSWER, GIVEN, TEXT, Expected, defined, same
from grader.submission.matching import BY_ID, BY_NAMES, BY_PLACE, BY_TEXT, Matching
from grader.submission.placing import Entry, put_in_place
from grader.submission.reading import CODE, RAW, Cell
from grader.submission.wording import Remarks, listed

#: Source of an answer cell that was not handed in. The stub would redefine names that the learner
#: may have defined in another cell.
NOT_HANDED_IN = "# This cell was not handed in."

#: Fields of nbgrader's metadata that a learner has no reason to change.
METADATA_FIELDS = ("points", "grade", "solution", "locked", "task")


#: How a remark names each way of recognising a cell: singular and plural.
RECOGNISED = {
    BY_ID: ("its id", "their ids"),
    BY_TEXT: ("its text", "their texts"),
    BY_NAMES: ("the names it defines", "the names they define"),
    BY_PLACE: ("its place", "their places"),
}


def arrange(
    cells: Sequence[Cell],
    expected: Sequence[Expected],
    matching: Matching,
    source: NotebookNode,
) -> tuple[NotebookNode, list[str], list[str]]:
    """Return the repaired notebook, remarks, and the answers that were not handed in.

    Parameters
    ----------
    cells : sequence of Cell
        The cells that were handed in.
    expected : sequence of Expected
        The assignment's cells.
    matching : Matching
        Which handed-in cells belong to which expected ones.
    source : NotebookNode
        The instructor's notebook, for the metadata of the notebook itself.
    """
    remarks = Remarks()
    _remark_on_metadata(cells, expected, matching, remarks)
    entries = _resolve(cells, expected, matching, remarks)
    missing = [
        want.name
        for number, want in enumerate(expected)
        if want.role == ANSWER and number not in matching.cells
    ]
    entries = put_in_place(entries, expected, remarks)
    said = remarks.sentences({want.name: number for number, want in enumerate(expected)})
    if cells and not any(expected[number].role != TEXT for number in matching.cells):
        said.insert(
            0,
            "None of the assignment's cells was found in the notebook. "
            "Is it that of another assignment?",
        )
    notebook = NotebookNode(
        metadata=copy.deepcopy(source.metadata),
        nbformat=4,
        nbformat_minor=5,  # with ids of cells
        cells=_build(entries, expected),
    )
    return notebook, said, missing


def _remark_on_metadata(
    cells: Sequence[Cell],
    expected: Sequence[Expected],
    matching: Matching,
    remarks: Remarks,
) -> None:
    """Add remarks on cells whose nbgrader metadata was lost or changed."""
    for number in sorted(matching.cells):
        want, how = expected[number], matching.how.get(number)
        if want.role == TEXT:
            continue
        if how:
            one, many = RECOGNISED[how]
            remarks.add(
                want.name,
                f"had lost nbgrader's metadata; it was recognised by {one}.",
                f"had lost nbgrader's metadata; they were recognised by {many}.",
            )
            continue
        ours = want.cell.metadata.nbgrader
        theirs = [cells[index].metadata for index in matching.cells[number]]
        changed = [
            name
            for name in METADATA_FIELDS
            if any(other.get(name, ours.get(name)) != ours.get(name) for other in theirs)
        ]
        if changed:
            text = f"had other metadata ({listed(changed)}); the assignment's metadata was used."
            remarks.add(want.name, text, text)
    for index, cell in enumerate(cells):
        if cell.grade_id and index not in matching.owners:
            remarks.add(
                repr(cell.grade_id[:64]),
                "is not one of the assignment's; it was executed as the learner's own.",
                "are not the assignment's; they were executed as the learner's own.",
            )


def _resolve(
    cells: Sequence[Cell],
    expected: Sequence[Expected],
    matching: Matching,
    remarks: Remarks,
) -> list[Entry]:
    """Return the handed-in cells in order, at most one of them for each expected cell."""
    chosen, dropped = {}, set()
    for number, indices in matching.cells.items():
        want = expected[number]
        keep = _kept(want, [(index, cells[index]) for index in indices])
        chosen[number] = keep[0] if want.role == GIVEN else keep[-1]
        dropped |= set(indices) - set(keep)
        if len(indices) > 1:
            _remark_on_doubles(want, len(indices), len(keep), remarks)
    asked_for = frozenset().union(*(want.asked_for for want in expected))
    entries = []
    for index, cell in enumerate(cells):
        if index in dropped:
            want = expected[matching.owners[index]]
            if want.is_locked and _is_the_learners(want, cell, asked_for):
                entries.append(Entry(None, Cell(CODE, cell.text)))
            continue
        owner = matching.owners.get(index)
        if owner is None or chosen[owner] != index:
            entries.append(Entry(None, _as_own(cell, expected, owner)))
            continue
        want = expected[owner]
        if want.is_locked and not _is_untouched(want, cell):
            if _is_the_learners(want, cell, asked_for):
                entries.append(Entry(None, Cell(CODE, cell.text)))
                remarks.add(
                    want.name,
                    "differs from the assignment's; what was handed in was executed first, then "
                    "the assignment's own cell.",
                    "differ from the assignment's; what was handed in was executed first, then "
                    "the assignment's own cells.",
                )
            else:
                remarks.add(
                    want.name,
                    "differs from the assignment's, whose own cell was executed instead.",
                    "differ from the assignment's, whose own cells were executed instead.",
                )
        if want.role != TEXT and cell.kind != want.cell.cell_type:
            kind = {CODE: "code", RAW: "raw text"}.get(cell.kind, "text")
            back = "code" if want.cell.cell_type == "code" else "text"
            remarks.add(
                want.name,
                f"had been turned into {kind}; it was read as {back}.",
                f"had been turned into {kind}; they were read as {back}.",
            )
        entries.append(Entry(owner, cell))
    return entries


def _kept(want: Expected, found: Sequence[tuple[int, Cell]]) -> list[int]:
    """Return which of the cells with one id are kept.

    Of a locked cell, keep one copy. Of an answer, keep all cells but empty ones and copies: as in
    the learner's notebook, the last definition counts, and the halves of a split cell work
    together.
    """
    if want.is_locked:
        untouched = [index for index, cell in found if _is_untouched(want, cell)]
        touched = [index for index, cell in found if not _is_untouched(want, cell)]
        # The first given cell, which comes before the answers; the last test, which comes after.
        one = untouched[:1] if want.role == GIVEN else untouched[-1:]
        return one or touched[:1]
    if want.role == TEXT:
        return [index for index, _ in found]
    answered: dict[str, int] = {}
    for index, cell in found:
        if cell.text.strip() and not same(cell.text, want.cell.source):
            answered[cell.text] = index  # of equal cells, the last
    return sorted(answered.values()) or [found[-1][0]]


def _remark_on_doubles(want: Expected, number: int, kept: int, remarks: Remarks) -> None:
    if want.is_locked:
        remarks.add(
            want.name,
            "occurred more than once; one copy was executed.",
            "occurred more than once; one copy of each was executed.",
        )
    elif kept == 1:
        remarks.add(
            want.name,
            "occurred more than once, with one answer; copies of it and of the empty cell were "
            "dropped.",
            "occurred more than once, each with one answer; copies of it and of the empty cell "
            "were dropped.",
        )
    else:
        remarks.add(
            want.name,
            "occurred more than once, with different answers or in pieces; all were executed in "
            "order, and the last definition counts.",
            "occurred more than once, with different answers or in pieces; all were executed in "
            "order, and the last definition counts.",
        )


def _as_own(cell: Cell, expected: Sequence[Expected], number: int | None) -> Cell:
    """Return a cell as the learner's own, with the type of the answer it is a piece of."""
    if number is None:
        return cell
    return Cell(expected[number].cell.cell_type, cell.text, "", {}, cell.pictures)


def _is_untouched(want: Expected, cell: Cell) -> bool:
    return same(cell.text, want.released) or same(cell.text, want.cell.source)


def _is_the_learners(want: Expected, cell: Cell, asked_for: frozenset[str]) -> bool:
    """Return whether to execute a locked cell as the learner changed it; some editors allow that.

    At home it was executed, and an import or a helper in it may be what an answer needs. What was
    turned into text was not executed there, but it may hold an answer.
    """
    if _is_untouched(want, cell) or want.cell.cell_type != CODE:
        return False
    return cell.kind == CODE or bool((defined(cell.text) - defined(want.released)) & asked_for)


def _build(entries: Iterable[Entry], expected: Sequence[Expected]) -> list[NotebookNode]:
    """Return the notebook's cells, with unique ids."""
    entries = list(entries)
    used = {expected[e.number].id for e in entries if e.number is not None}
    used |= {want.id for want in expected}
    cells, own = [], 0
    for entry in entries:
        if entry.number is not None:
            cells.append(_assigned(entry.cell, expected[entry.number]))
            continue
        assert entry.cell is not None, "only an assignment's cell can be missing"
        cell_id = entry.cell.id
        while not cell_id or cell_id in used:
            own += 1
            cell_id = f"own-{own}"
        used.add(cell_id)
        cells.append(_new(entry.cell.kind, entry.cell.text, cell_id, entry.cell.pictures))
    return cells


def _assigned(cell: Cell | None, want: Expected) -> NotebookNode:
    """Return a cell of the assignment, with the learner's text if learners may edit it."""
    text: str = want.cell.source
    pictures: Mapping[str, object] = {}
    if cell is not None and want.role in (TEXT, ANSWER):
        pictures = cell.pictures
        # An unanswered cell must equal the stub exactly: nbgrader compares checksums.
        text = cell.text if not same(cell.text, text) else text
    elif (
        want.role == ANSWER
        and want.cell.cell_type == "code"
        and not want.cell.metadata.nbgrader.grade
    ):
        text = NOT_HANDED_IN
    built = _new(want.cell.cell_type, text, want.id or want.name, pictures)
    built.metadata = copy.deepcopy(want.cell.metadata)
    return built


def _new(kind: str, text: str, cell_id: str, pictures: object) -> NotebookNode:
    # nbformat's functions validate each cell, which takes longer than everything else here.
    cell = NotebookNode(id=cell_id, cell_type=kind, metadata=NotebookNode(), source=text)
    if kind == CODE:
        cell.update(execution_count=None, outputs=[])
    elif pictures:
        cell.attachments = nbformat.from_dict(pictures)
    return cell
