"""Feedback as files that learning platforms, or a mail merge, return to the students.

Pages are returned as they were written. Canvas shows what comes back under the name of the notebook
that was handed in, so there it is that notebook, graded; see `grader.nbgrader_hooks.downloads`.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.course import configuration, graded_notebook
from grader.files import replace_folder, write_atomically
from grader.gradebook.reading import Entry
from grader.reporting import right_numbers
from grader.reporting.export import neutral
from grader.reporting.feedback import page_of
from grader.reporting.feedback_page import ClearHiddenTests, points_text
from grader.reporting.results import Result

#: The file in the folder for a mail merge.
STUDENTS = "students.csv"

#: Files in a zip archive have this time, so that the same pages make the same archive.
_TIME = (1980, 1, 1, 0, 0, 0)

_READABLE = 0o100644  # an ordinary file


def written_pages(
    assignment: str, folder: Path, results: Iterable[Result]
) -> list[tuple[Result, bytes]]:
    """Return the pages that have been written, each with the result of its student."""
    found = []
    for result in results:
        page = page_of(folder, assignment, result.student)
        if result.entry is not None and page.is_file():
            found.append((result, page.read_bytes()))
    return found


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive of files, given by name. The same files make the same archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        for name in sorted(files):
            member = zipfile.ZipInfo(name, _TIME)
            member.external_attr = _READABLE << 16
            writer.writestr(member, files[name], zipfile.ZIP_DEFLATED)
    write_atomically(path, archive.getvalue())


def write_mail_folder(
    folder: Path, assignment: str, pages: Sequence[tuple[Result, bytes]]
) -> list[str]:
    """Replace a folder by one with the pages and a CSV file for a mail merge.

    A line of the file has a student's id, names, address and points, and the page's path, from this
    folder and in full.

    Returns
    -------
    list of str
        The ids of students who are not in the file: the class list has no address for them, or
        a spreadsheet would calculate it, the id or the path.
    """
    head = ["id", "first_name", "last_name", "email", "points", "max_points", "page", "path"]
    rows: list[list[str | float]] = []
    files: dict[str, str | bytes] = {}
    left_out = []
    for result, page in pages:
        student, learner = result.student, result.learner
        name = f"pages/{student}/{assignment}.html"
        files[name] = page
        path = str(folder.resolve() / name)
        if not learner.email or any(neutral(x) != x for x in (student, learner.email, path)):
            left_out.append(student)
            continue
        names = [neutral(learner.first_name), neutral(learner.last_name)]
        totals = [result.score or 0.0, result.points or 0.0]
        rows.append([student, *names, learner.email, *totals, name, path])
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerows([head, *rows])
    replace_folder(folder, {STUDENTS: text.getvalue()} | files)
    return left_out


def returned_notebook(assignment: str, folder: Path, result: Result) -> bytes:
    """Return a student's graded notebook, with the points at its beginning, without hidden tests.

    Right numbers are left out as long as pages leave them out.

    Raises
    ------
    OSError, ValueError
        If the graded notebook cannot be read, or is none.
    """
    entry = result.entry
    if entry is None:
        raise ValueError("the work has no grade")
    path = graded_notebook(folder, assignment, result.student)
    data, config = path.read_bytes(), configuration()
    try:
        notebook = nbformat.reads(data.decode("utf-8"), as_version=4)
        notebook, _ = ClearHiddenTests(config=config).preprocess(notebook, {})
    except Exception as error:  # a damaged notebook raises errors of many classes
        raise ValueError(f"{path}: expected a graded notebook: {error}") from error
    remarks = list(result.remarks)
    if right_numbers.are_withheld(entry.due, config):
        remarks += right_numbers.leave_out(notebook)
    notebook.cells.insert(0, _summary(notebook, assignment, entry, result, remarks))
    return f"{json.dumps(notebook, ensure_ascii=False, indent=1)}\n".encode("utf-8", "replace")


def _summary(
    notebook: NotebookNode, assignment: str, entry: Entry, result: Result, remarks: Sequence[str]
) -> NotebookNode:
    """Return a text cell with the points and comments, in which nothing is taken for markup."""
    lines = [f"{assignment}: {result.score:g} of {result.points:g} points"]
    if entry.late_penalty:
        lines.append(f"{entry.late_penalty:g} points are taken off because the work came late")
    lines.append("")
    width = max(map(len, entry.points), default=0)
    for cell, points in entry.points.items():
        waits = cell in entry.to_read
        score = points_text(entry.scores.get(cell, 0.0), points, waits=waits)
        lines.append(f"{cell.ljust(width)}  {score}")
    lines += [f"\nComment on {cell}: {text}" for cell, text in entry.comments.items() if text]
    lines += [f"\n{remark}" for remark in remarks]
    text = "\n".join(lines)
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", text) or [""]))
    cell = nbformat.v4.new_markdown_cell(f"# Feedback\n\n{fence}text\n{text}\n{fence}")
    taken = {each.get("id") for each in notebook.cells}
    cell.id = next(
        name for number in range(len(taken) + 1) if (name := f"feedback-{number}") not in taken
    )
    if (notebook.nbformat, notebook.nbformat_minor) < (4, 5):
        del cell["id"]
    return cell
