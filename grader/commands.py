"""The commands of ``python -m grader``: what each takes, does and says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader import course
from grader.limits import BUBBLEWRAP, NONE

DESCRIPTION = (
    "The instructor's side of the exercises: release the learners' notebooks, grade what was "
    "submitted, report on it, or try all of it on the sample class."
)

#: Exit statuses beside 0, when all of it succeeded.
SOME_FAILED, NOT_DONE, STOPPED = 1, 2, 130


class NothingGraded(RuntimeError):
    """Raised by a command that tells what grading found, where nothing was graded."""


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
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here.", file=sys.stderr)
        return STOPPED
    except Exception as problem:
        words = _in_words(problem)
        if not words:
            raise
        print(words, file=sys.stderr)
        return NOT_DONE


def _command(commands: Any, name: str, says: str) -> argparse.ArgumentParser:
    """Add a command; the list of all of them and its own help say the same of it."""
    description = f"{says[0].upper()}{says[1:]}."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=says, description=description)
    return parser


def _add_release(commands: Any) -> None:
    command = _command(commands, "release", "make exercises/ from solutions/")
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
    command = _command(commands, "bundle", "make the learners' archive in dist/")
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
    command = _command(commands, "grade", "autograde, write feedback and grades.csv")
    _add_grading_options(command)
    command.set_defaults(run=lambda options: _grade(options, everything=True))


def _add_autograde(commands: Any) -> None:
    command = _command(commands, "autograde", "judge submissions and enter their scores")
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
        "--db",
        metavar="URL",
        help="the gradebook's database (default: nbgrader_config.py's; with another folder in "
        "--into the gradebook.db there)",
    )


def _add_isolation(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--isolation",
        default="",
        choices=[BUBBLEWRAP, NONE],
        help="where learner code runs; none: unprotected, as you (default: nbgrader_config.py's)",
    )


def _add_assignment(command: argparse.ArgumentParser) -> None:
    names = course.assignments()
    command.add_argument(
        "assignment", metavar="ASSIGNMENT", choices=names, help=f"one of {', '.join(names)}"
    )


def _grade(options: argparse.Namespace, *, everything: bool) -> int:
    if not options.submitted.is_dir():
        print(f"expected a folder of submissions, found no {options.submitted}.", file=sys.stderr)
        return NOT_DONE
    if not options.scheduler:
        _get_workers_ready()
    from grader import cluster, pipeline, workers

    run = pipeline.Run(
        options.assignment,
        options.submitted,
        options.into,
        student=options.student,
        force=options.force,
        db_url=_gradebook(options),
        isolation=options.isolation,
    )
    judges: pipeline.Workers
    if options.scheduler:
        judges = cluster.ClusterWorkers(options.scheduler, workers.GRADE_JOB)
    else:
        judges = pipeline.local_workers(run, options.workers)
    if not run.students():
        print(f"{options.student!r} matches no folder in {options.submitted}.", file=sys.stderr)
        return NOT_DONE
    return _graded(run, judges, everything)


def _graded(run: Any, judges: Any, everything: bool) -> int:
    from grader import gradebook, grading, pipeline, results, summary

    _warn_of(run.isolation)
    with _Progress() as progress:
        if everything:
            graded = grading.grade(run, judges, progress)
        else:
            students = pipeline.autograde(run, judges, progress)
            found = results.results(run.db_url, run.into, run.assignment, students)
            graded = grading.Graded(found)
    told = [_deadline(run.db_url, run.assignment, graded.results)]
    if run.student == "*":
        students = [result.student for result in graded.results]
        told.append(summary.absent(gradebook.students(run.db_url), students))
    return _report_on(graded, told)


def _add_feedback(commands: Any) -> None:
    command = _command(commands, "feedback", "write each student's page of feedback")
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

    command = _command(commands, "export", "write the grades as CSV")
    _add_assignment(command)
    _add_class_options(command)
    command.add_argument(
        "--format", choices=sorted(export.FORMS), default="csv", help="default: %(default)s"
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="default: grades.csv or grades-FORMAT.csv in --into",
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
    command = _command(commands, "report", "write a page on how the class did")
    _add_assignment(command)
    _add_class_options(command)
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report-ASSIGNMENT.html in --into"
    )
    command.set_defaults(run=_write_report)


def _write_report(options: argparse.Namespace) -> int:
    from grader import report

    path = options.output or options.into / f"report-{options.assignment}.html"
    found = _results(options)
    deadline = _deadline(_gradebook(options), options.assignment, found)
    report.write_report(options.assignment, options.into.resolve(), found, path, deadline)
    print(path)
    return 0


def _add_sample_class(commands: Any) -> None:
    command = _command(commands, "sample-class", "write and grade the sample class")
    command.add_argument(
        "--into",
        type=Path,
        default=course.ROOT / "_class",
        help="the class's folder (default: %(default)s)",
    )
    _add_isolation(command)
    command.set_defaults(run=_sample_class)


def _sample_class(options: argparse.Namespace) -> int:
    _get_workers_ready()
    from grader import sample_class

    if options.isolation:
        _warn_of(options.isolation)
    with _Progress() as progress:
        graded = sample_class.run(into=options.into, isolation=options.isolation, progress=progress)
    return _report_on(graded)


def _add_doctor(commands: Any) -> None:
    command = _command(commands, "doctor", "say what of the sandbox works on this machine")
    command.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    from grader import doctor

    checks = doctor.checks()
    for name, ok, sentence in checks:
        print(f"{'ok  ' if ok else 'FAIL'}  {name}: {sentence}")
    return 0 if all(ok for _, ok, _ in checks) else SOME_FAILED


def _get_workers_ready() -> None:
    """Begin what judging needs: workers and this process import for two seconds, side by side."""
    from grader import workers

    workers.get_ready(workers.GRADE_JOB)


def _results(options: argparse.Namespace) -> list[Any]:
    """Return the results of the students that are asked for."""
    import fnmatch

    from grader import results

    found = [
        result
        for result in results.results(
            _gradebook(options), options.into.resolve(), options.assignment
        )
        if result.student == options.student or fnmatch.fnmatchcase(result.student, options.student)
    ]
    if not found:
        whose = "" if options.student == "*" else f" by {options.student!r}"
        raise NothingGraded(
            f"expected graded work on {options.assignment}{whose} in {options.into}, found none. "
            f"`python -m grader grade {options.assignment}` grades what was submitted."
        )
    return found


def _gradebook(options: argparse.Namespace) -> str:
    """Return the address of the gradebook that is meant."""
    from grader import gradebook

    if options.db:
        return options.db
    if options.into.resolve() == course.ROOT:
        return course.configuration().CourseDirectory.db_url
    return gradebook.database(options.into)


def _deadline(db_url: str, assignment: str, found: Sequence[Any]) -> str:
    from grader import gradebook, summary

    return summary.deadline(gradebook.due(db_url, assignment), found)


def _in_words(problem: Exception) -> str:
    """Say what keeps a command from being carried out, or "" where that is a fault of ours."""
    from sqlalchemy.exc import OperationalError, ProgrammingError

    from grader.gradebook_writer import LateRuleFailed, OtherCells
    from grader.journal import Busy
    from grader.workers import CannotWork

    if isinstance(problem, (NothingGraded, CannotWork, Busy, OtherCells, LateRuleFailed)):
        return str(problem)
    if isinstance(problem, (OperationalError, ProgrammingError)):
        return f"the gradebook could not be used: {str(problem.orig or problem).strip()}"
    return ""


def _warn_of(isolation: str) -> None:
    if isolation == NONE:
        print(
            "WARNING: isolation is none. Learners' code runs unprotected, as you: it can read and "
            "change whatever you can.",
            file=sys.stderr,
        )


def _report_on(graded: Any, told: Sequence[str] = ()) -> int:
    from grader import summary

    print(summary.table(graded.results))
    if remarks := summary.remarks(graded.results):
        print(f"\n{remarks}")
    print()
    print(summary.sentence(summary.figures(graded.results)))
    for text in filter(None, told):
        print(text)
    for student, problem in graded.without_feedback.items():
        print(f"{student}: {problem}", file=sys.stderr)
    failed = any(result.problem for result in graded.results) or graded.without_feedback
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
