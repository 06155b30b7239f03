"""Summarise the results of a class in a table, a few figures and sentences."""

from __future__ import annotations

import difflib
import statistics
import textwrap
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from grader import times
from grader.gradebook.reading import Learner
from grader.gradebook.roster import Imported, Roster
from grader.printable import printable
from grader.reporting.export import HasIds, read_as_formulas
from grader.reporting.results import Result
from grader.running.digests import ASSIGNMENT, CODE, ENVIRONMENT, SETTINGS
from grader.submission.wording import listed

if TYPE_CHECKING:
    from grader.reporting.totals.term import Term

#: Characters of a status in the table. A longer one is printed in full below the table.
MAX_STATUS_WIDTH = 60

#: How many names a sentence lists.
MAX_NAMES = 20

HEADINGS = ("student", "points", "status", "mistakes named")


def table(results: Sequence[Result]) -> str:
    """Return a table with a line for each student: score, status and the mistakes named."""
    rows = [HEADINGS]
    for result in results:
        points = "" if result.score is None else f"{result.score:g} of {result.points:g}"
        status = textwrap.shorten(printable(result.status), MAX_STATUS_WIDTH, placeholder=" …")
        rows.append((printable(result.student), points, status, ", ".join(result.mistakes)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def remarks(results: Sequence[Result]) -> str:
    """Return a line for each remark, and for each status too long for the table."""
    return "\n".join(
        f"{printable(result.student)}: {printable(text)}"
        for result in results
        for text in ([result.status] * (len(result.status) > MAX_STATUS_WIDTH) + [*result.remarks])
    )


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """Return the figures on a class for `sentence` and for ``make course``.

    Returns
    -------
    dict
        ``graded``, ``failed``, ``full_marks``, ``to_read``: numbers of submissions that were
        graded, that failed, that lost no point, and that have an answer to read. ``points``: the
        maximum score. ``mean``: the mean score so far.
    """
    graded = [result for result in results if not result.reason]
    scores = [result.score for result in graded if result.score is not None]
    points = [result.points for result in graded if result.points is not None]
    return {
        "graded": len(graded),
        "failed": len(results) - len(graded),
        "full_marks": sum(result.lost == 0 for result in graded),
        "to_read": sum(bool(result.entry.to_read) for result in graded if result.entry),
        "points": max(points, default=0),
        "mean": round(statistics.mean(scores), 2) if scores else 0,
    }


def facts(result: Result) -> dict[str, Any]:
    """Return what is known of a submission, for JSON. What there is not, such as a score, is None.

    Returns
    -------
    dict
        ``state`` is one of graded, to read and failed; ``not_judged`` says why a newer file has no
        grade; ``scores`` is by cell, and ``to_read`` has the cells that a person has to score.
    """
    entry = result.entry
    state = "failed" if result.reason or entry is None else "to read" if entry.to_read else "graded"
    return {
        "student": result.student,
        "state": state,
        "reason": result.reason,
        "not_judged": result.not_judged,
        "score": result.score,
        "points": result.points,
        "late_penalty": entry.late_penalty if entry else None,
        "seconds_late": entry.seconds_late if entry else None,
        "scores": entry.scores if entry else {},
        "to_read": entry.to_read if entry else [],
        "mistakes": list(result.mistakes),
        "missing": list(result.missing),
        "remarks": list(result.remarks),
    }


def sentence(facts: dict[str, Any]) -> str:
    """Return the figures as sentences."""
    text = (
        f"{counted(facts['graded'], 'submission')} graded, {facts['full_marks']} lost no point, "
        f"mean {facts['mean']:g} of {facts['points']:g} points."
    )
    if facts["to_read"]:
        text += (
            f" {facts['to_read']} {_have(facts['to_read'])} a written answer that waits to be read."
        )
    if facts["failed"]:
        text += f" {facts['failed']} could not be graded."
    return text


def counted(number: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "page"), counted(3, "page")
    ('1 page', '3 pages')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def exported(results: Sequence[Result], lines: int, file: object) -> str:
    """Return what a file of grades contains, and what to know before importing it.

    Parameters
    ----------
    results : sequence of Result
        The results that were exported.
    lines : int
        The number of students in the file.
    file : object
        The file's name.
    """
    failed = [result.student for result in results if result.reason]
    texts = [f"{counted(lines, 'student')} in {file}."]
    if failed:
        fate = "Left out" if lines < len(results) else "Listed without points"
        texts.append(f"{fate}, because the work has no grade: {len(failed)} ({named(failed)}).")
    return "\n".join(filter(None, [*texts, _not_final(results, "export")]))


def totals(term: Term, file: object) -> str:
    """Return what a file of totals contains, and what to know before using it."""
    waiting = [one.student for one in term.students if one.to_read]
    uncounted = [one.student for one in term.students if one.total is None]
    number = counted(len(term.max_scores), "assignment")
    texts = [f"Totals of {counted(len(term.students), 'student')} over {number} in {file}."]
    for what, names in (
        ("Not counted, because they have no weight", term.not_counted),
        ("Not counted, because they are not graded yet", term.not_graded),
        ("Without a total, because no assignment counts for them", uncounted),
        ("Not final, because answers wait to be read", waiting),
    ):
        if names:
            texts.append(f"{what}: {len(names)} ({named(names)}).")
    return "\n".join(texts)


def returned(
    results: Sequence[Result], number: int, place: object, told: Mapping[str, Sequence[str]]
) -> str:
    """Return how many students get feedback by a file or folder, and what is told of some.

    Parameters
    ----------
    results : sequence of Result
        The results of the students who were asked for.
    number : int
        How many students' feedback is there.
    place : object
        The file or folder.
    told : mapping
        Students by what is told of them, such as why they are left out.
    """
    texts = [f"Feedback for {counted(number, 'student')} in {place}."]
    texts += [
        f"{what}: {len(students)} ({named(students)})."
        for what, students in told.items()
        if students
    ]
    return "\n".join(filter(None, [*texts, _not_final(results, "return")]))


def _not_final(results: Sequence[Result], command: str) -> str:
    """Return a sentence on answers that wait to be read, before a command is given again, or ""."""
    waiting = figures(results)["to_read"]
    if not waiting:
        return ""
    return (
        f"{waiting} {_have(waiting)} an answer that waits to be read, so the "
        "points are not final. Read the answers in formgrader, give the command grade once "
        f"more, then {command} again."
    )


def formulas(results: Sequence[HasIds]) -> str:
    """Return a sentence on the ids that a spreadsheet would read as formulas, or ""."""
    ids = read_as_formulas(results)
    if not ids:
        return ""
    return (
        f"A spreadsheet takes {counted(len(ids), 'id')} for a formula ({named(ids)}). Platforms "
        "need ids as they are, so the file has them unchanged: import its columns as text, and do "
        "not open it by a double click."
    )


def roster(file: str, read: Roster, entered: Imported, *, dry: bool) -> str:
    """Return sentences on a class list that was entered in the gradebook.

    Parameters
    ----------
    file : str
        The file's name.
    read, entered
        What `grader.gradebook.roster` read and entered.
    dry : bool
        Whether nothing was changed.
    """
    new = len(entered.new)
    are = "would be" if dry else "is" if new == 1 else "are"
    text = (
        f"{counted(len(read.learners), 'learner')} in {printable(file)}: {new} {are} new, "
        f"{len(entered.changed)} changed."
    )
    if entered.others:
        text += (
            f"\nIn the gradebook, but not in the file: {named(entered.others)}. `nbgrader db "
            "student remove ID --force` removes one with all scores."
        )
    return text


#: What has changed since submissions were graded, in words, by `grader.running.digests`.
_CHANGES = {
    ASSIGNMENT: "the assignment's notebook in solutions",
    CODE: "the code of the course",
    ENVIRONMENT: "Python or its packages",
    SETTINGS: "limits, isolation or salt",
}


def outdated(number: int, changed: Sequence[str], *, kept: bool) -> str:
    """Return sentences on finished submissions that were graded with another course.

    Examples
    --------
    >>> print(outdated(21, ["code"], kept=True))
    Changed since submissions were graded: the code of the course. 21 finished submissions keep
    their grades, unless something new was handed in.
    >>> print(outdated(4, ["code"], kept=False).splitlines()[-1])  # no option is broken in two
    --keep-grades.
    """
    what = f"Changed since submissions were graded: {listed([_CHANGES[name] for name in changed])}."
    these = f"{counted(number, 'finished submission')}"
    if kept:
        their = "keeps its grade" if number == 1 else "keep their grades"
        fate = f"{these} {their}, unless something new was handed in."
    else:
        fate = (
            f"{these} {'is' if number == 1 else 'are'} judged again. To keep grades as they are, "
            "stop this with Ctrl-C and give the command with --keep-grades."
        )
    return textwrap.fill(f"{what} {fate}", 96, break_on_hyphens=False)


def absent(known: Sequence[str], handed_in: Sequence[str], excused: Collection[str] = ()) -> str:
    """Return a sentence on the students in the gradebook who handed in nothing, or "".

    Examples
    --------
    >>> absent(["ada", "ben", "zoe"], ["ben"])
    'Nothing was handed in by 2 of the class: ada, zoe.'
    >>> absent(["ada", "ben", "zoe"], ["ben"], excused=["zoe"])
    'Nothing was handed in by 1 of the class: ada. Excused: zoe.'
    >>> absent(["Ada", "ada"], ["ada"])
    'Nothing was handed in by 1 of the class: Ada. Is it the same person? Ada and ada.'
    """
    without = sorted(set(known) - set(handed_in))
    names = [name for name in without if name not in excused]
    sentences = []
    if names:
        sentences.append(f"Nothing was handed in by {len(names)} of the class: {named(names)}.")
    others = {_plain(name): name for name in handed_in}
    alike = [(name, others[_plain(name)]) for name in names if _plain(name) in others]
    if alike:
        pairs = "; ".join(f"{named([one])} and {named([other])}" for one, other in alike)
        sentences.append(f"Is it the same person? {pairs}.")
    if len(names) < len(without):
        sentences.append(f"Excused: {named([name for name in without if name in excused])}.")
    return " ".join(sentences)


def not_listed(names: Sequence[str], learners: Mapping[str, Learner]) -> str:
    """Return a sentence on folders that are not on the class list, with whom they may mean, or "".

    Examples
    --------
    >>> learners = {"s17": Learner("Ada", "Lovelace", "101"), "soren": Learner()}
    >>> print(not_listed(["101", "S17", "Sören", "zoe"], learners).splitlines()[0])
    Not graded, because not on the class list: 101 (s17?), S17 (s17?), Sören (soren?), zoe.
    """
    if not names:
        return ""
    alike: dict[str, str] = {}
    for student, learner in learners.items():
        first, last = learner.first_name, learner.last_name
        for known in (student, learner.lms_user_id, f"{first} {last}", f"{last} {first}"):
            alike.setdefault(_plain(known), student)
    ids = {_plain(student): student for student in learners}
    found = []
    for name in names[:MAX_NAMES]:
        # Names of people are many and alike, so only ids are compared letter by letter.
        close = difflib.get_close_matches(_plain(name), ids, n=1, cutoff=0.75)
        near = alike.get(_plain(name)) or next((ids[one] for one in close), "")
        found.append(printable(name) + (f" ({printable(near)}?)" if near else ""))
    more = ", …" if len(names) > MAX_NAMES else ""
    return (
        f"Not graded, because not on the class list: {', '.join(found)}{more}.\n"
        "Rename the folder to the id in the list, or put the learner on the list and import it "
        "again. --add-students makes a student of every such folder."
    )


def _plain(name: str) -> str:
    """Return an id in a form that is the same for capitals and for composed letters."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


def not_judged(results: Sequence[Result]) -> str:
    """Return a sentence on the students who keep an earlier grade, or ""."""
    students = [result.student for result in results if result.not_judged]
    if not students:
        return ""
    return (
        f"{len(students)} could not be judged again and {_have(len(students))} the grade of an "
        f"earlier file: {named(students)}. Give the command again."
    )


def above_maximum(results: Sequence[Result]) -> str:
    """Return a sentence on scores that are greater than the maximum of their task, or "".

    Extra credit that was given for an earlier file stays when a better one is handed in.
    """
    found = [
        f"{result.student} ({cell}: {score:g} of {result.entry.points[cell]:g})"
        for result in results
        if result.entry
        for cell, score in result.entry.above_maximum.items()
    ]
    if not found:
        return ""
    return (
        f"Above the maximum by extra credit: {named(found)}. If it was given for an earlier file, "
        "take it back in formgrader."
    )


def left_out(reasons: Mapping[str, str]) -> str:
    """Return a line for each entry of the folder of submissions that was left out, or "".

    Examples
    --------
    >>> left_out({"ada.ipynb": "it is not a folder"})
    'Left out, because it is not a folder: ada.ipynb.'
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(reasons.items()):
        by_reason.setdefault(reason, []).append(name)
    return "\n".join(
        f"Left out, because {printable(reason)}: {named(names)}."
        for reason, names in by_reason.items()
    )


def named(students: Sequence[str]) -> str:
    """Return the names separated by commas, only the first `MAX_NAMES` if there are more.

    Examples
    --------
    >>> named(["ada", "ben"])
    'ada, ben'
    """
    shown = map(printable, students[:MAX_NAMES])
    return ", ".join(shown) + (", …" if len(students) > MAX_NAMES else "")


def deadline(due: datetime | None, zone: str, results: Sequence[Result]) -> str:
    """Return sentences on the deadline and on late submissions, or "" without a deadline."""
    if due is None:
        return ""
    late = [result.entry for result in results if result.entry and result.entry.seconds_late]
    text = f"Due {times.format_time(due, zone)}."
    if late:
        penalised = sum(entry.late_penalty > 0 for entry in late)
        text += f" {counted(len(late), 'submission')} came late, {penalised} with a penalty."
    return text
