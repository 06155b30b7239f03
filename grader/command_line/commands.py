"""The commands of ``python -m grader`` and their options; `actions` carries them out."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader import course
from grader.command_line import actions, output, problems
from grader.command_line.parsing import Parser, Version, meant
from grader.command_line.several import each
from grader.errors import GraderError
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Parser]

DESCRIPTION = (
    "The instructor's side of the exercises: release the learners' notebooks, grade submissions, "
    "report on the class, or try all of this on the sample class."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of this process.

    Returns
    -------
    int
        0: everything succeeded. 1: some submissions or notebooks failed; the output names them.
        2: the command could not be carried out. 130: it was stopped with Ctrl-C. 141: the program
        that read the output has ended.
    """
    try:
        try:
            return _carried_out(parsed(arguments))
        finally:
            output.flush()
    except output.NobodyReads:
        # What is still to be written when Python ends would fail again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return actions.NOT_READ


def _carried_out(options: argparse.Namespace) -> int:
    try:
        status: int = options.action(options)
        return status
    except KeyboardInterrupt:
        output.say("stopped; the same command continues from here.", error=True)
        return actions.STOPPED
    except output.NobodyReads:
        raise
    except GraderError as problem:
        output.say(problem, error=True)
        return actions.NOT_DONE
    except Exception as error:
        sentence = problems.sentence_on(error, actions.known_address(options))
        if not sentence:
            raise
        output.say(sentence, error=True)
        return actions.NOT_DONE


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return a command's options, with the function that carries it out as ``action``.

    Raises
    ------
    SystemExit
        With status 2 for words that are no command, after a message with what may have been meant,
        and with status 0 after ``--help`` and ``--version``.
    """
    parser = Parser(prog="python -m grader", description=DESCRIPTION)
    parser.add_argument("--version", action=Version, help="show what is installed, and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        _add_release,
        _add_bundle,
        _add_roster,
        _add_grade,
        _add_autograde,
        _add_feedback,
        _add_export,
        _add_totals,
        _add_return,
        _add_report,
        _add_extend,
        _add_copy_gradebook,
        _add_course,
        _add_sample_class,
        _add_doctor,
    ):
        add(commands)
    words = sys.argv[1:] if arguments is None else list(arguments)
    name = next((word for word in words if not word.startswith("-")), None)
    if name is not None and name not in commands.choices:
        parser.error(
            f"expected one of {', '.join(commands.choices)}, got {name!r}"
            + meant(name, commands.choices)
        )
    return parser.parse_args(words)


def _command(commands: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    """Add a command whose summary is shown in the list of commands and in its own help."""
    description = f"{summary[0].upper()}{summary[1:]}."
    return commands.add_parser(name, help=summary, description=description)


def _add_release(commands: Commands) -> None:
    command = _command(commands, "release", "make exercises/ from solutions/")
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="default: all")
    command.add_argument("--force", action="store_true", help="replace notebooks with work in them")
    command.set_defaults(action=actions.release_exercises)


def _add_bundle(commands: Commands) -> None:
    command = _command(commands, "bundle", "make the learners' archive in dist/")
    command.add_argument(
        "--book",
        type=Path,
        default=course.ROOT / "_build" / "html",
        help="the folder with the built book (default: %(default)s)",
    )
    command.add_argument(
        "--editions",
        type=Path,
        default=course.ROOT / "_editions",
        help="the folder with the book's PDF and EPUB, if they are made (default: %(default)s)",
    )
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT / "dist",
        help="where the archive goes (default: %(default)s)",
    )
    command.set_defaults(action=actions.make_bundle)


def _add_roster(commands: Commands) -> None:
    command = _command(commands, "roster", "check a class list and enter it in the gradebook")
    command.add_argument("file", type=Path, metavar="FILE", help="a CSV file with a column id")
    command.add_argument("--check", action="store_true", help="only check it, and change nothing")
    _add_gradebook(command)
    command.set_defaults(action=actions.import_roster)


def _add_grade(commands: Commands) -> None:
    command = _command(commands, "grade", "autograde, write feedback and a file of grades")
    _add_grading_options(command)
    command.set_defaults(action=each(partial(actions.grade, everything=True)))


def _add_autograde(commands: Commands) -> None:
    command = _command(commands, "autograde", "judge submissions and enter their scores")
    _add_grading_options(command)
    command.set_defaults(action=each(partial(actions.grade, everything=False)))


def _add_grading_options(command: argparse.ArgumentParser) -> None:
    _add_assignments(command)
    command.add_argument(
        "--submitted",
        type=Path,
        help="the folder with STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb in it (default: that of "
        "c.CourseDirectory.submitted_directory in nbgrader_config.py)",
    )
    _add_class_options(command)
    command.add_argument(
        "--force",
        action="store_true",
        help="judge again what has not changed since it was graded; continues if it was stopped",
    )
    command.add_argument(
        "--keep-grades",
        action="store_true",
        help="judge only what was handed in since; grades stay even if the assignment, the course "
        "or the environment has changed",
    )
    command.add_argument(
        "--add-students",
        action="store_true",
        help="also grade folders that are not on the class list, and make students of them",
    )
    command.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help="number of processes that judge (default: one for each core)",
    )
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="judge on a Dask cluster, such as tcp://HOST:8786"
    )
    _add_isolation(command)


def _add_class_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--student", default="*", metavar="GLOB", help="one student's id, or a pattern with * and ?"
    )
    _add_gradebook(command)


def _add_gradebook(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT,
        help="where gradebook, graded notebooks and feedback are (default: %(default)s)",
    )
    command.add_argument(
        "--db",
        metavar="URL",
        help="the gradebook's database (default: the one in nbgrader_config.py, or gradebook.db in "
        "the folder of --into if you give one)",
    )


def _add_isolation(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--isolation",
        default="",
        choices=[BUBBLEWRAP, NONE],
        help="where learners' code runs; none: unprotected, as your user (default: as in "
        "nbgrader_config.py)",
    )


def _add_assignment(command: argparse.ArgumentParser) -> None:
    names = ", ".join(course.assignments())
    command.add_argument(
        "assignment", metavar="ASSIGNMENT", type=_assignment, help=f"one of {names}"
    )


def _add_feedback(commands: Commands) -> None:
    command = _command(commands, "feedback", "write each student's page of feedback")
    _add_assignments(command)
    _add_class_options(command)
    command.set_defaults(action=each(actions.write_feedback))


def _add_export(commands: Commands) -> None:
    from grader.reporting import export

    command = _command(commands, "export", "write the grades as CSV")
    _add_assignments(command)
    _add_class_options(command)
    command.add_argument(
        "--format", choices=sorted(export.FORMATS), default="csv", help="default: %(default)s"
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="default: grades-ASSIGNMENT.csv or grades-ASSIGNMENT-FORMAT.csv in --into",
    )
    command.add_argument(
        "--column",
        metavar="NAME",
        help="for platforms, the heading of the column with the points, as 'Homework 1 (4711)' in "
        "Canvas (default: the assignment's name)",
    )
    command.set_defaults(action=each(actions.write_grades))


def _add_totals(commands: Commands) -> None:
    from grader.reporting import export

    command = _command(commands, "totals", "write each student's total over the term as CSV")
    _add_class_options(command)
    command.add_argument(
        "--format", choices=sorted(export.FORMATS), default="csv", help="default: %(default)s"
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="default: grades-total.csv or grades-total-FORMAT.csv in --into",
    )
    command.add_argument(
        "--column",
        metavar="NAME",
        default="Term total",
        help="for platforms, the heading of the column with the totals (default: %(default)s)",
    )
    _add_json(command)
    command.set_defaults(action=actions.write_totals)


def _add_return(commands: Commands) -> None:
    command = _command(commands, "return", "write a file that returns feedback to the students")
    _add_assignment(command)
    _add_class_options(command)
    command.add_argument(
        "--format",
        choices=["canvas", "mail", "moodle"],
        required=True,
        help="moodle: pages, to upload as feedback files in a zip; canvas: graded notebooks, to "
        "upload as submissions; mail: a folder with the pages and a CSV file for a mail merge",
    )
    command.add_argument(
        "--downloads",
        type=Path,
        metavar="FOLDER",
        help="the folder in which zip_collect made the folder downloaded (default: the course's)",
    )
    _add_json(command)
    command.set_defaults(action=actions.return_feedback)


def _add_report(commands: Commands) -> None:
    command = _command(commands, "report", "write pages on how the class and each student did")
    _add_assignments(command)
    _add_class_options(command)
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report-ASSIGNMENT.html in --into"
    )
    command.set_defaults(action=each(actions.write_report, actions.write_student_pages))


def _add_extend(commands: Commands) -> None:
    command = _command(commands, "extend", "give students more time for an assignment")
    _add_assignment(command)
    command.add_argument("students", nargs="+", metavar="STUDENT", help="the student's id")
    for unit in ("days", "hours", "minutes"):
        command.add_argument(
            f"--{unit}",
            type=_not_negative,
            metavar="N",
            help="after the deadline; replaces what was given before",
        )
    _add_gradebook(command)
    command.set_defaults(action=actions.extend)


def _add_copy_gradebook(commands: Commands) -> None:
    command = _command(commands, "copy-gradebook", "copy the gradebook into an empty database")
    command.add_argument(
        "target", metavar="URL", help="such as postgresql+psycopg://USER@HOST/gradebook"
    )
    _add_gradebook(command)
    command.set_defaults(action=actions.copy_gradebook)


def _add_course(commands: Commands) -> None:
    command = _command(commands, "course", "autograde an assignment of any nbgrader course")
    command.add_argument(
        "folder", type=Path, metavar="FOLDER", help="the folder with its nbgrader_config.py"
    )
    command.add_argument("assignment", metavar="ASSIGNMENT", help="one of that course")
    command.add_argument(
        "--student", default="*", metavar="GLOB", help="one student's id, or a pattern with * and ?"
    )
    command.add_argument(
        "--force", action="store_true", help="judge again what has been graded before"
    )
    command.add_argument(
        "--placement",
        action="store_true",
        help="only say which tests run outside the sandbox, and which inside",
    )
    _add_isolation(command)
    _add_json(command)
    command.set_defaults(action=actions.grade_other_course)


def _add_sample_class(commands: Commands) -> None:
    command = _command(commands, "sample-class", "write and grade the sample class")
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT / "_class",
        help="the class's folder (default: %(default)s)",
    )
    _add_isolation(command)
    command.add_argument(
        "--skip-without-sandbox",
        action="store_true",
        help=f"where no sandbox can be, say so and end with status {actions.SKIPPED}",
    )
    command.set_defaults(action=actions.grade_sample_class)


def _add_doctor(commands: Commands) -> None:
    command = _command(commands, "doctor", "check whether the sandbox works on this machine")
    _add_json(command)
    command.set_defaults(action=actions.examine_machine)


def _add_assignments(command: argparse.ArgumentParser) -> None:
    names = ", ".join(course.assignments())
    command.add_argument(
        "assignments",
        metavar="ASSIGNMENT",
        nargs="*",
        type=_assignment,
        help=f"one or more of {names}",
    )
    command.add_argument("--all", action="store_true", help="every assignment with work in it")
    _add_json(command)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--json", action="store_true", help="print what was found as one JSON document"
    )


def _assignment(name: str) -> str:
    names = course.assignments()
    if name not in names:
        raise argparse.ArgumentTypeError(
            f"expected one of {', '.join(names)}, got {name!r}{meant(name, names)}"
        )
    return name


def _not_negative(text: str) -> int:
    return _at_least(0, text)


def _positive(text: str) -> int:
    return _at_least(1, text)


def _at_least(least: int, text: str) -> int:
    with contextlib.suppress(ValueError):
        if (number := int(text)) >= least:
            return number
    raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, got {text}")
