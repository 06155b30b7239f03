"""Grades as a CSV file, for a spreadsheet or a learning platform.

Defends against: names, remarks and reasons that a spreadsheet would calculate as formulas; they get
an apostrophe in front.

Does not defend against: ids that look like formulas. Platforms find a student by the id, so it is
written as it is; `read_as_formulas` returns such ids, and the commands print them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from grader.files import write_atomically

if TYPE_CHECKING:
    from grader.gradebook.reading import Learner
    from grader.reporting.results import Result

#: A spreadsheet reads a cell that begins with one of these characters as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")

# Where semicolons or tabs separate cells, a cell may begin in the middle of a text.
_INNER_START = re.compile(
    '(?:(?<=;)|(?<=.[\t\r\n]))(?=[\\s"]*[=+@\uff1d\uff0b\uff0d\uff20-])', re.DOTALL
)

BYTE_ORDER_MARK = "\ufeff"

Row = Sequence[str | float]


def path_of(folder: Path, assignment: str, file_format: str = "csv") -> Path:
    """Return where the grades of an assignment go by default.

    Examples
    --------
    >>> path_of(Path("class"), "quiz").name, path_of(Path("class"), "quiz", "moodle").name
    ('grades-quiz.csv', 'grades-quiz-moodle.csv')
    """
    suffix = "" if file_format == "csv" else f"-{file_format}"
    return folder / f"grades-{assignment}{suffix}.csv"


class Sheet(NamedTuple):
    """The rows of a file."""

    head: list[Row]
    students: list[Row]  #: one for each student


def neutral(text: str) -> str:
    """Return the text, with an apostrophe wherever a spreadsheet would read on as a formula.

    Examples
    --------
    >>> neutral("=1+1"), neutral("a;=1+1"), neutral("Ada")
    ("'=1+1", "a;'=1+1", 'Ada')
    """
    text = _INNER_START.sub("'", text)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


class HasIds(Protocol):
    """A student, as a file of grades names one."""

    @property
    def student(self) -> str:
        """The id of the class list."""

    @property
    def learner(self) -> Learner:
        """What the class list says, with the id of the platform."""


def read_as_formulas(results: Sequence[HasIds]) -> list[str]:
    """Return the ids in a file of grades that a spreadsheet would read as formulas."""
    ids = (text for result in results for text in (result.student, result.learner.lms_user_id))
    return [text for text in ids if neutral(text) != text]


def write_csv(
    results: Sequence[Result],
    cells: Sequence[str],
    path: Path,
    *,
    column: str = "",
    file_format: str = "csv",
) -> int:
    """Write a line for each student. Texts are quoted; all but ids cannot act as formulas.

    Parameters
    ----------
    results : sequence of Result
    cells : sequence of str
        The cells that are worth points, in the notebook's order.
    path : Path
        The file.
    column : str
        The heading of the column with the score, in formats for learning platforms.
    file_format : str
        One of `FORMATS`.

    Returns
    -------
    int
        The number of students in the file.
    """
    if file_format == "csv":
        return write_sheet(_everything(results, cells), path, file_format)
    return write_sheet(_for_platform(results, column, file_format), path, file_format)


def write_sheet(sheet: Sheet, path: Path, file_format: str) -> int:
    """Write the rows of a file, and return the number of students in it.

    The file of "csv" begins with a byte-order mark, without which Excel reads letters such as é
    wrongly. Those for platforms do not: a platform needs none.
    """
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerows((*sheet.head, *sheet.students))
    write_atomically(path, (BYTE_ORDER_MARK if file_format == "csv" else "") + text.getvalue())
    return len(sheet.students)


def _everything(results: Sequence[Result], cells: Sequence[str]) -> Sheet:
    """Return names, score, status, remarks and the score of each cell.

    The score is empty if a person still has to give it, and 0 if the cell was not handed in.
    """
    columns = ["student", "last_name", "first_name"]
    facts = ["score", "points", "late_penalty", "status", "mistakes", "remarks"]
    rows: list[Row] = []
    for result in results:
        entry = result.entry
        first, last = result.learner.first_name, result.learner.last_name
        totals = [number(x) for x in (result.score, result.points)]
        penalty = number(entry.late_penalty if entry else None)
        texts = [result.status, " ".join(result.mistakes), " ".join(result.remarks)]
        scores = [number(entry.scores.get(cell)) if entry else "" for cell in cells]
        names = [neutral(last), neutral(first)]
        rows.append([result.student, *names, *totals, penalty, *map(neutral, texts), *scores])
    return Sheet([[*columns, *facts, *cells]], rows)


class ScoreLine(NamedTuple):
    """A student's line in a file for a platform."""

    student: str
    learner: Learner
    score: float | None  #: None if there is no grade
    feedback: str = ""  #: where the platform takes a text with the grade


def canvas(lines: Sequence[ScoreLine], column: str, max_score: float) -> Sheet:
    """Return what *Import Grades* of Canvas reads; it finds students by ID or SIS login ID.

    The second row has the maximum score. The cell of a student without a grade is empty, so the
    import changes nothing for that student.
    """
    head: list[Row] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column],
        ["    Points Possible", "", "", "", "", float(max_score)],
    ]
    rows: list[Row] = []
    for student, learner, score, _ in lines:
        first, last, lms_user_id, _ = learner
        name = ", ".join(part for part in (last, first) if part) or student
        rows.append([neutral(name), lms_user_id, "", student, "", number(score)])
    return Sheet(head, rows)


def moodle(lines: Sequence[ScoreLine], column: str, _: float) -> Sheet:
    """Return what *Import > CSV file* of Moodle reads, with students mapped by their username.

    Students without a grade are left out, since Moodle removes a grade if the cell is empty.
    """
    head: list[Row] = [["username", "lastname", "firstname", column, f"{column} feedback"]]
    rows: list[Row] = [
        [student, *_names(learner), number(score), neutral(feedback)]
        for student, learner, score, feedback in lines
        if score is not None
    ]
    return Sheet(head, rows)


def blackboard(lines: Sequence[ScoreLine], column: str, _: float) -> Sheet:
    """Return what *Upload* of Blackboard's grade centre reads, which knows students by username.

    Students without a grade are left out.
    """
    head: list[Row] = [["Last Name", "First Name", "Username", column]]
    rows: list[Row] = [
        [*_names(learner), student, number(score)]
        for student, learner, score, _ in lines
        if score is not None
    ]
    return Sheet(head, rows)


def brightspace(lines: Sequence[ScoreLine], column: str, _: float) -> Sheet:
    """Return what *Import* of Brightspace's grades reads, which knows students by username.

    It asks for no names, and for a sign at the end of each line. Students without a grade are left
    out.
    """
    head: list[Row] = [["Username", f"{column} Points Grade", "End-of-Line Indicator"]]
    rows: list[Row] = [
        [student, number(score), "#"] for student, _, score, _ in lines if score is not None
    ]
    return Sheet(head, rows)


def _names(learner: Learner) -> tuple[str, str]:
    return neutral(learner.last_name), neutral(learner.first_name)


#: The formats for platforms, by name.
PLATFORMS: dict[str, Callable[[Sequence[ScoreLine], str, float], Sheet]] = {
    "blackboard": blackboard,
    "brightspace": brightspace,
    "canvas": canvas,
    "moodle": moodle,
}

#: All formats of a file of grades.
FORMATS = ("csv", *PLATFORMS)


def _for_platform(results: Sequence[Result], column: str, file_format: str) -> Sheet:
    max_score = max((result.points for result in results if result.points is not None), default=0.0)
    lines = [
        ScoreLine(result.student, result.learner, result.score, " ".join(result.remarks))
        for result in results
    ]
    return PLATFORMS[file_format](lines, column, max_score)


def number(value: float | None) -> float | str:
    """Return a number without the rounding errors of sums, or "" for None."""
    return "" if value is None else float(f"{value:.10g}")
