"""The commands ``release``, ``grade`` and ``sample-class`` of ``python -m grader``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader import classroom, course, export, release, sample_class, summary

DESCRIPTION = (
    "The instructor's side of the exercises: release the learners' notebooks, grade what was "
    "submitted, or try all of it on the sample class."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 when all of it succeeded."""
    parser = argparse.ArgumentParser(prog="python -m grader", description=DESCRIPTION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_release(commands)
    _add_grade(commands)
    _add_sample_class(commands)
    options = parser.parse_args(arguments)
    return options.run(options)


def _add_release(commands) -> None:
    command = commands.add_parser("release", help="make exercises/ from solutions/")
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="default: all")
    command.add_argument("--force", action="store_true", help="replace notebooks with work in them")
    command.set_defaults(run=_release)


def _release(options: argparse.Namespace) -> int:
    status = 0
    for assignment in options.assignments or course.assignments():
        try:
            print(release.release(assignment, force=options.force))
        except (FileExistsError, course.NbGraderFailed) as problem:
            print(problem, file=sys.stderr)
            status = 1
    return status


def _add_grade(commands) -> None:
    command = commands.add_parser("grade", help="autograde submissions and write feedback")
    command.add_argument("assignment", metavar="ASSIGNMENT", choices=course.assignments())
    command.add_argument(
        "--submitted",
        type=Path,
        default=course.ROOT / "submitted",
        help="the folder with STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb in it (default: %(default)s)",
    )
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT,
        help="where gradebook, feedback and grades.csv go (default: %(default)s)",
    )
    command.set_defaults(run=_grade)


def _grade(options: argparse.Namespace) -> int:
    if not options.submitted.is_dir():
        print(f"expected a folder of submissions, found no {options.submitted}.", file=sys.stderr)
        return 1
    with _Progress() as progress:
        results = classroom.grade(
            options.assignment, options.submitted, options.into, progress=progress
        )
    cells = course.graded_cells(options.assignment)
    export.write_csv(results, cells, options.into / "grades.csv")
    return _report(results)


def _add_sample_class(commands) -> None:
    command = commands.add_parser("sample-class", help="write and grade the sample class")
    command.add_argument(
        "--into",
        type=Path,
        default=sample_class.CLASSROOM,
        help="the class's folder (default: %(default)s)",
    )
    command.set_defaults(run=_sample_class)


def _sample_class(options: argparse.Namespace) -> int:
    with _Progress() as progress:
        results = sample_class.run(into=options.into, progress=progress)
    return _report(results)


def _report(results: Sequence[classroom.Result]) -> int:
    print(summary.table(results))
    print()
    print(summary.sentence(summary.figures(results)))
    return int(any(result.problem for result in results))


class _Progress:
    """One line on a terminal that says what is being graded; nothing where it is not a terminal."""

    def __enter__(self) -> Callable[[str], None]:
        return self.show if sys.stderr.isatty() else lambda line: None

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            self.show("")

    def show(self, line: str) -> None:
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
