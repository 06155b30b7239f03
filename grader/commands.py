"""The commands of ``python -m grader``: what each takes, does and says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader import course, settings

DESCRIPTION = (
    "The instructor's side of the exercises: release the learners' notebooks, grade what was "
    "submitted, report on it, or try all of it on the sample class."
)

#: Exit statuses beside 0, when all of it succeeded.
SOME_FAILED, NOT_DONE, STOPPED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0: all of it succeeded. 1: some submissions or notebooks failed, and are named. 2: the
    command could not be carried out. 130: it was stopped with Ctrl-C.
    """
    parser = argparse.ArgumentParser(prog="python -m grader", description=DESCRIPTION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        _add_release,
        _add_bundle,
        _add_grade,
        _add_autograde,
        _add_feedback,
        _add_export,
        _add_report,
        _add_sample_class,
        _add_doctor,
    ):
        add(commands)
    options = parser.parse_args(arguments)
    return options.run(options)


def _add_release(commands: Any) -> None:
    command = commands.add_parser("release", help="make exercises/ from solutions/")
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="default: all")
    command.add_argument("--force", action="store_true", help="replace notebooks with work in them")
    command.set_defaults(run=_release)


def _release(options: argparse.Namespace) -> int:
    from grader import release

    status = 0
    for assignment in options.assignments or course.assignments():
        try:
            print(release.release(assignment, force=options.force))
        except (FileExistsError, course.NbGraderFailed) as problem:
            print(problem, file=sys.stderr)
            status = SOME_FAILED
    return status


def _add_bundle(commands: Any) -> None:
    command = commands.add_parser("bundle", help="make the learners' archive in dist/")
    command.add_argument(
        "--book",
        type=Path,
        default=course.ROOT / "_build" / "html",
        help="the folder with the built book (default: %(default)s)",
    )
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT / "dist",
        help="where the archive goes (default: %(default)s)",
    )
    command.set_defaults(run=_bundle)


def _bundle(options: argparse.Namespace) -> int:
    from grader import bundle

    try:
        print(bundle.bundle(options.book, options.into))
    except (bundle.BundleFailed, course.NbGraderFailed) as problem:
        print(problem, file=sys.stderr)
        return NOT_DONE
    return 0


def _add_grade(commands: Any) -> None:
    command = commands.add_parser("grade", help="autograde, write feedback and grades.csv")
    _add_grading_options(command)
    command.set_defaults(run=lambda options: _grade(options, everything=True))


def _add_autograde(commands: Any) -> None:
    command = commands.add_parser("autograde", help="judge submissions and enter their scores")
    _add_grading_options(command)
    command.set_defaults(run=lambda options: _grade(options, everything=False))


def _add_grading_options(command: argparse.ArgumentParser) -> None:
    _add_assignment(command)
    command.add_argument(
        "--submitted",
        type=Path,
        default=course.ROOT / "submitted",
        help="the folder with STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb in it (default: %(default)s)",
    )
    _add_class_options(command)
    command.add_argument(
        "--force", action="store_true", help="grade again what is graded and has not changed"
    )
    command.add_argument(
        "--workers", type=_positive, metavar="N", help="processes that judge (default: one a core)"
    )
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="judge on a Dask cluster, such as tcp://HOST:8786"
    )
    _add_isolation(command)


def _add_class_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--student", default="*", metavar="GLOB", help="one student's id, or a pattern with * and ?"
    )
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT,
        help="where gradebook, graded notebooks and feedback are (default: %(default)s)",
    )
    command.add_argument(
        "--db", metavar="URL", help="the gradebook's database (default: gradebook.db in --into)"
    )


def _add_isolation(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--isolation",
        choices=[settings.BUBBLEWRAP, settings.NONE],
        help="where learner code runs; none: unprotected, as you (default: nbgrader_config.py's)",
    )


def _add_assignment(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", metavar="ASSIGNMENT", choices=course.assignments())


def _grade(options: argparse.Namespace, *, everything: bool) -> int:
    from grader import cluster, pipeline, workers

    if not options.submitted.is_dir():
        print(f"expected a folder of submissions, found no {options.submitted}.", file=sys.stderr)
        return NOT_DONE
    run = pipeline.Run(
        options.assignment,
        options.submitted,
        options.into,
        student=options.student,
        force=options.force,
        db_url=options.db,
        isolation=options.isolation,
    )
    if options.scheduler:
        judges = cluster.ClusterWorkers(options.scheduler, workers.GRADE_JOB)
    else:
        judges = pipeline.local_workers(run, options.workers)
    if not run.students():
        print(f"{options.student!r} matches no folder in {options.submitted}.", file=sys.stderr)
        return NOT_DONE
    return _told(lambda: _graded(run, judges, everything))


def _graded(run: Any, judges: Any, everything: bool) -> int:
    from grader import grading, pipeline, results

    _warn_of(run.isolation)
    with _Progress() as progress:
        if everything:
            graded = grading.grade(run, judges, progress)
        else:
            students = pipeline.autograde(run, judges, progress)
            found = results.results(run.db_url, run.into, run.assignment, students)
            graded = grading.Graded(found)
    return _report_on(graded.results, graded.without_feedback)


def _add_feedback(commands: Any) -> None:
    command = commands.add_parser("feedback", help="write each student's page of feedback")
    _add_assignment(command)
    _add_class_options(command)
    command.set_defaults(run=_feedback)


def _feedback(options: argparse.Namespace) -> int:
    from grader import feedback

    found = _results(options)
    with _Progress() as progress:
        problems = feedback.write_feedback(
            options.assignment, options.into.resolve(), found, progress=progress
        )
    for student, problem in problems.items():
        print(f"{student}: {problem}", file=sys.stderr)
    pages = sum(result.entry is not None for result in found) - len(problems)
    print(f"{pages} pages in {options.into / 'feedback'}.")
    return SOME_FAILED if problems else 0


def _add_export(commands: Any) -> None:
    from grader import export

    command = commands.add_parser("export", help="write the grades as CSV")
    _add_assignment(command)
    _add_class_options(command)
    command.add_argument(
        "--format", choices=sorted(export.FORMS), default="csv", help="default: %(default)s"
    )
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="default: grades.csv or grades-FORMAT.csv"
    )
    command.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from grader import export

    name = "grades.csv" if options.format == "csv" else f"grades-{options.format}.csv"
    path = options.output or options.into / name
    found = _results(options)
    export.write_csv(
        found,
        course.graded_cells(options.assignment),
        path,
        assignment=options.assignment,
        form=options.format,
    )
    print(f"{len(found)} students in {path}.")
    return 0


def _add_report(commands: Any) -> None:
    command = commands.add_parser("report", help="write a page on how the class did")
    _add_assignment(command)
    _add_class_options(command)
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report-ASSIGNMENT.html in --into"
    )
    command.set_defaults(run=_write_report)


def _write_report(options: argparse.Namespace) -> int:
    from grader import report

    path = options.output or options.into / f"report-{options.assignment}.html"
    report.write_report(options.assignment, options.into.resolve(), _results(options), path)
    print(path)
    return 0


def _add_sample_class(commands: Any) -> None:
    command = commands.add_parser("sample-class", help="write and grade the sample class")
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT / "_class",
        help="the class's folder (default: %(default)s)",
    )
    _add_isolation(command)
    command.set_defaults(run=lambda options: _told(lambda: _sample_class(options)))


def _sample_class(options: argparse.Namespace) -> int:
    from grader import sample_class

    if options.isolation:
        _warn_of(options.isolation)
    with _Progress() as progress:
        graded = sample_class.run(into=options.into, isolation=options.isolation, progress=progress)
    return _report_on(graded.results, graded.without_feedback)


def _add_doctor(commands: Any) -> None:
    command = commands.add_parser("doctor", help="say what of the sandbox works on this machine")
    command.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    from grader import doctor

    checks = doctor.checks()
    for name, ok, sentence in checks:
        print(f"{'ok  ' if ok else 'FAIL'}  {name}: {sentence}")
    return 0 if all(ok for _, ok, _ in checks) else SOME_FAILED


def _results(options: argparse.Namespace) -> list[Any]:
    """Return the results of the students that are asked for."""
    import fnmatch

    from grader import gradebook, results

    url = options.db or gradebook.database(options.into)
    return [
        result
        for result in results.results(url, options.into.resolve(), options.assignment)
        if result.student == options.student or fnmatch.fnmatchcase(result.student, options.student)
    ]


def _told(command: Callable[[], int]) -> int:
    """Run a command, and say in words what keeps it from being carried out."""
    from sqlalchemy.exc import OperationalError, ProgrammingError

    from grader.gradebook_writer import OtherCells
    from grader.journal import Busy
    from grader.workers import CannotWork

    try:
        return command()
    except (CannotWork, Busy, OtherCells) as problem:
        print(problem, file=sys.stderr)
    except (OperationalError, ProgrammingError) as problem:
        reason = str(problem.orig or problem).strip()
        print(f"the gradebook could not be used: {reason}", file=sys.stderr)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here.", file=sys.stderr)
        return STOPPED
    return NOT_DONE


def _warn_of(isolation: str) -> None:
    if isolation == settings.NONE:
        print(
            "WARNING: isolation is none. Learners' code runs unprotected, as you: it can read and "
            "change whatever you can.",
            file=sys.stderr,
        )


def _report_on(results: Sequence[Any], without_feedback: dict[str, str]) -> int:
    from grader import summary

    print(summary.table(results))
    if remarks := summary.remarks(results):
        print(f"\n{remarks}")
    print()
    print(summary.sentence(summary.figures(results)))
    for student, problem in without_feedback.items():
        print(f"{student}: {problem}", file=sys.stderr)
    failed = any(result.problem for result in results) or without_feedback
    return SOME_FAILED if failed else 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text}")
    return number


class _Progress:
    """One line on a terminal that says what is being graded; nothing where it is not a terminal."""

    def __enter__(self) -> Callable[[object], None]:
        return self.show if sys.stderr.isatty() else lambda line: None

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            self.show("")

    def show(self, line: object) -> None:
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
