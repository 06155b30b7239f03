"""What the commands of ``python -m grader`` do and print, and the exit status of each.

A function imports what it needs when it is called, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from grader import course
from grader.command_line.output import Progress, print_json, say
from grader.errors import GraderError
from grader.files import is_by_machine
from grader.printable import printable
from grader.sandbox.inside.limits import NONE

if TYPE_CHECKING:
    from pathlib import Path

    from grader.command_line.grading import Graded
    from grader.reporting.report.standing import Standing
    from grader.reporting.results import Result
    from grader.running.pipeline import Run, Workers

#: The exit statuses other than 0, which means that everything succeeded.
SOME_FAILED, NOT_DONE, SKIPPED, STOPPED, NOT_READ = 1, 2, 3, 130, 141

#: For which assignments a total was counted in another way: lists in JSON.
TOTALS_FACTS = ("dropped", "excused", "missing", "failed", "to_read")

#: The names in JSON of what `doctor` says of each part.
DOCTOR_FACTS = ("name", "ok", "sentence")


class NothingSubmitted(GraderError):
    """Raised when there is no submission to grade."""


class NothingToReturn(GraderError):
    """Raised when no student has feedback that can be returned."""


class NothingGraded(GraderError):
    """Raised by a command that shows results when there are none."""


class NoFolder(GraderError):
    """Raised when a folder or file that was named does not exist."""


def release_exercises(options: argparse.Namespace) -> int:
    """Release learners' notebooks and return the exit status."""
    from grader.releasing import release, start_page

    exit_status = 0
    for assignment in options.assignments or course.assignments():
        try:
            say(release.release(assignment, force=options.force))
        except GraderError as problem:
            say(problem, error=True)
            exit_status = SOME_FAILED
    if not options.assignments:
        say(start_page.write_start_page())
    return exit_status


def make_bundle(options: argparse.Namespace) -> int:
    """Make the learners' archive and return the exit status.

    Raises
    ------
    grader.releasing.bundle.BundleFailed
        If the archive cannot be made.
    """
    from grader.gradebook import reading
    from grader.nbgrader_hooks.settings import configured_salt
    from grader.releasing import bundle

    salt = configured_salt()
    learners = reading.learners(course.configuration().CourseDirectory.db_url) if salt else {}
    say(bundle.bundle(options.book, options.into, salt, list(learners), options.editions))
    return 0


def import_roster(options: argparse.Namespace) -> int:
    """Check a class list and enter it in the gradebook; return the exit status.

    Raises
    ------
    NoFolder
        If there is no such file.
    grader.gradebook.roster.BadRoster
        If the file is no class list.
    """
    from grader.gradebook import roster
    from grader.reporting import summary

    if not options.file.is_file():
        raise NoFolder(f"expected a class list, found no {options.file}.")
    read = roster.read_roster(options.file.read_bytes())
    entered = roster.enter_roster(
        gradebook_address(options),
        read,
        course_id=course.configuration().CourseDirectory.get("course_id", ""),
        dry=options.check,
    )
    say(
        "\n".join(
            [
                *read.repairs,
                *read.left_out,
                summary.roster(options.file.name, read, entered, dry=options.check),
            ]
        )
    )
    return SOME_FAILED if read.left_out else 0


def grade(options: argparse.Namespace, *, everything: bool) -> int:
    """Autograde, write feedback and grades too if `everything`; return the exit status.

    Raises
    ------
    NothingSubmitted
        If there is no submission to grade.
    GraderError
        If the class cannot be graded: see `grader.running.pipeline.autograde`.
    """
    if options.force and options.keep_grades:
        options.parser.error("expected one of --force and --keep-grades, got both")
    submitted = _submitted(options)
    with contextlib.ExitStack() as stack:
        control = None
        if not options.scheduler:
            from grader.running import early_start

            control = stack.enter_context(early_start.start_early(options.isolation))
        from grader.running import cluster_workers, local_workers, pipeline

        run = pipeline.Run(
            options.assignment,
            submitted,
            options.into,
            student=options.student,
            force=options.force,
            db_url=gradebook_address(options),
            isolation=options.isolation,
            add_students=options.add_students,
            keep_grades=options.keep_grades,
        )
        if not run.students():
            raise NothingSubmitted(f"{options.student!r} matches no folder in {submitted}.")
        workers: pipeline.Workers
        if options.scheduler:
            workers = cluster_workers.ClusterWorkers(options.scheduler, local_workers.JUDGE_JOB)
        else:
            workers = pipeline.local_workers(run, options.workers, control=control)
        return _grade_run(run, workers, everything, options.data)


def with_submissions(options: argparse.Namespace) -> set[str]:
    """Return the assignments to which anybody has submitted.

    Raises
    ------
    NothingSubmitted
        If there are none.
    """
    submitted = _submitted(options)
    found = {name for name in course.assignments() if any(submitted.glob(f"*/{name}"))}
    if not found:
        raise NothingSubmitted(f"expected folders STUDENT/ASSIGNMENT in {submitted}, found none.")
    return found


def _submitted(options: argparse.Namespace) -> Path:
    submitted: Path = options.submitted or course.submitted_folder()
    if not submitted.is_dir():
        raise NothingSubmitted(
            f"expected a folder of submissions, found no {submitted}. Collect first: the guide for "
            "instructors says how."
        )
    return submitted


def _grade_run(
    run: Run, workers: Workers, everything: bool, data: list[dict[str, Any]] | None = None
) -> int:
    """Grade, and print the results or add them to `data`; return the exit status."""
    from grader.command_line import grading
    from grader.gradebook import reading
    from grader.reporting import export, results, summary
    from grader.reporting.totals.term import Totals
    from grader.running import pipeline

    _warn_of(run.isolation)

    def before(outdated: pipeline.Outdated) -> None:
        sentence = summary.outdated(outdated.number, outdated.changed, kept=run.keep_grades)
        say(f"{sentence}\n", error=data is not None)

    with Progress() as progress:
        if everything:
            graded = grading.grade(run, workers, progress, before)
        else:
            students = pipeline.autograde(run, workers, progress, before)
            found = results.results(run.db_url, run.into, run.assignment, students)
            graded = grading.Graded(found)
    sentences = [
        summary.not_judged(graded.results),
        summary.above_maximum(graded.results),
        _deadline(run.db_url, run.assignment, graded.results),
    ]
    students = [result.student for result in graded.results]
    learners = reading.learners(run.db_url)
    not_listed = sorted({*run.students()} - {*students})
    sentences.append(summary.not_listed(not_listed, learners))
    if run.student == "*":
        excused = course.options(Totals).excused.get(run.assignment, ())
        sentences.append(summary.absent(list(learners), students, excused))
        sentences.append(summary.left_out(run.left_out()))
    if everything:
        page = run.into / "feedback" / "STUDENT" / run.assignment / f"{run.assignment}.html"
        sentences.append(summary.formulas(graded.results))
        grades = export.path_of(run.into, run.assignment)
        sentences.append(f"Grades: {grades}. Feedback: {page}")
    if data is None:
        _print_results(graded, sentences)
    else:
        data.append(
            {
                "assignment": run.assignment,
                **summary.figures(graded.results),
                "students": [summary.facts(result) for result in graded.results],
                "not_listed": not_listed,
                "without_feedback": graded.without_feedback,
                "messages": [text for text in sentences if text],
            }
        )
    return SOME_FAILED if not_listed else _status(graded)


def write_feedback(options: argparse.Namespace) -> int:
    """Write pages of feedback and return the exit status.

    Raises
    ------
    NothingGraded
        If the students that were asked for have no graded work.
    """
    from grader.reporting import feedback, summary

    found = _results(options)
    with Progress() as progress:
        problems = feedback.write_feedback(
            options.assignment, options.into.resolve(), found, progress=progress
        )
    for student, problem in problems.items():
        say(f"{printable(student)}: {printable(problem)}", error=True)
    pages = sum(result.entry is not None for result in found) - len(problems)
    folder = options.into / "feedback"
    _tell(
        options,
        f"{summary.counted(pages, 'page')} in {folder}.",
        {"pages": pages, "folder": str(folder), "without_feedback": problems},
    )
    return SOME_FAILED if problems else 0


def write_grades(options: argparse.Namespace) -> int:
    """Export the grades as CSV and return the exit status.

    Raises
    ------
    NothingGraded
        If the students that were asked for have no graded work.
    """
    from grader.reporting import export, summary

    found = _results(options)
    path = _output(options, export.path_of(options.into, options.assignment, options.format))
    lines = export.write_csv(
        found,
        course.graded_cells(options.assignment),
        path,
        column=options.column or options.assignment,
        file_format=options.format,
    )
    text = "\n".join(filter(None, [summary.exported(found, lines, path), summary.formulas(found)]))
    _tell(options, text, {"file": str(path), "lines": lines, "messages": text.splitlines()[1:]})
    return 0


def write_totals(options: argparse.Namespace) -> int:
    """Write the students' totals over the term as CSV and return the exit status.

    Raises
    ------
    NothingGraded
        If no assignment that counts has been graded, or no student is as asked for.
    grader.course.ConfigurationFailed
        If an option of ``c.Totals`` names something that does not exist.
    """
    from dataclasses import replace

    from grader.reporting import export, summary
    from grader.reporting.totals import sheets
    from grader.reporting.totals.term import Totals, term

    _check_class(options)
    totals = term(gradebook_address(options), options.into.resolve(), course.options(Totals))
    asked = [one for one in totals.students if course.matches_student(one.student, options.student)]
    if not totals.max_scores or not asked:
        whose = "" if options.student == "*" else f" of {options.student!r}"
        raise NothingGraded(
            f"expected assignments{whose} that are graded and count, found none in {options.into}. "
            "`python -m grader grade ASSIGNMENT` grades what was submitted."
        )
    totals = replace(totals, students=asked)
    path = _output(options, export.path_of(options.into, "total", options.format))
    sheet = sheets.sheet(totals, options.column, options.format)
    export.write_sheet(sheet, path, options.format)
    text = "\n".join(filter(None, [summary.totals(totals, path), summary.formulas(asked)]))
    if options.json:
        students = [
            {
                "student": one.student,
                "total": one.total,
                "scores": dict(one.scores),
                **{what: list(getattr(one, what)) for what in TOTALS_FACTS},
            }
            for one in totals.students
        ]
        print_json(
            0,
            file=str(path),
            points=dict(totals.max_scores),
            students=students,
            messages=text.splitlines()[1:],
        )
    else:
        say(text)
    return 0


def return_feedback(options: argparse.Namespace) -> int:
    """Write what returns each student's feedback, and return the exit status.

    Raises
    ------
    NothingGraded
        If the students that were asked for have no graded work.
    NothingToReturn
        If there is no feedback to return to any of them.
    GraderError
        If a platform's names are needed and nothing was collected from a platform.
    """
    from grader.reporting import returning, summary

    found = _results(options)
    assignment, folder = options.assignment, options.into.resolve()
    pages = returning.written_pages(assignment, folder, found)
    with_page = {result.student for result, _ in pages}
    told: dict[str, list[str]] = {
        "Without a page of feedback": [
            result.student for result in found if result.student not in with_page
        ]
    }
    place = options.into / f"return-{assignment}-{options.format}"
    if options.format == "mail":
        number = len(pages)
        if pages:
            what = (
                f"Not in {returning.STUDENTS}, because the class list has no email address, or a "
                "spreadsheet would calculate what has to stand there"
            )
            told[what] = returning.write_mail_folder(place, assignment, pages)
    else:
        place = place.with_name(f"{place.name}.zip")
        files, of_platform = _files_for_platform(options, pages)
        number = len(files)
        told |= of_platform
        if files:
            returning.write_zip(place, files)
    text = summary.returned(found, number, place, told)
    if not number:
        _, _, why = text.partition("\n")
        raise NothingToReturn(
            f"expected feedback that can be returned, found none. `python -m grader feedback "
            f"{assignment}` writes the pages.\n{why}"
        )
    if options.json:
        told = {what: students for what, students in told.items() if students}
        print_json(0, assignment=assignment, place=str(place), number=number, told=told)
    else:
        say(text)
    return 0


def _files_for_platform(
    options: argparse.Namespace, pages: Sequence[tuple[Result, bytes]]
) -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """Return the files for a platform by name, and students by what is said of them."""
    from grader.nbgrader_hooks import downloads
    from grader.reporting import returning

    names, where = downloads.downloads(
        options.assignment, gradebook_address(options), options.downloads
    )
    files: dict[str, bytes] = {}
    in_groups: list[str] = []
    unnamed: list[str] = []
    unread: list[str] = []
    for result, page in pages:
        download = names.get(result.student)
        if options.format == "moodle":
            name = download and download.page_for_moodle(options.assignment, result.student)
        else:
            name = download and download.notebook_for_canvas()
        if not name:
            unnamed.append(result.student)
        elif options.format == "moodle":
            files[name] = page
        elif name not in files:  # members of a group have one file in Canvas
            try:
                files[name] = returning.returned_notebook(
                    options.assignment, options.into.resolve(), result
                )
            except (OSError, ValueError) as problem:
                if is_by_machine(problem):
                    raise
                unread.append(result.student)
        if name in files and download and download.of_group:
            in_groups.append(result.student)
    platform = options.format.capitalize()
    what, shown = ("file", "pages") if options.format == "moodle" else ("notebook", "notebook")
    return files, {
        f"{platform}'s archive in {where} has no {what} that leads to them": unnamed,
        "The graded notebook cannot be read": unread,
        f"{platform} shows the {shown} of a group to all its members": in_groups,
    }


def write_report(options: argparse.Namespace) -> int:
    """Write the report on the class and return the exit status.

    Raises
    ------
    NothingGraded
        If the students that were asked for have no graded work.
    """
    from grader.reporting.report import lecture

    known = _standing(options).results.get(options.assignment, {})
    asked = _asked(options)
    found = [result for student, result in known.items() if asked(student)] or _results(options)
    path = _output(options, options.into / f"report-{options.assignment}.html")
    deadline = _deadline(gradebook_address(options), options.assignment, found)
    lecture.write_report(
        options.assignment,
        found,
        path,
        _standing(options),
        options.into.resolve(),
        deadline,
        asked,
    )
    _tell(options, str(path), {"file": str(path)})
    return 0


def write_student_pages(options: argparse.Namespace) -> dict[str, Any]:
    """Write a page for each student over the term, and return what was written, for JSON."""
    from grader.reporting import summary
    from grader.reporting.report import student_pages
    from grader.reporting.report.people import LIST

    number = student_pages.write_student_pages(
        _standing(options), options.into.resolve(), _asked(options)
    )
    path = options.into / LIST
    if not options.json:
        say(f"{path} and {summary.counted(number, 'page')} in {path.with_suffix('')}")
    return {"students": {"file": str(path), "pages": number}}


def _standing(options: argparse.Namespace) -> Standing:
    """Return how the class stands in the term, which is read once for all assignments."""
    from grader.reporting.report.standing import read_standing

    _check_class(options)
    if "standing" not in options.shared:
        found = read_standing(gradebook_address(options), options.into.resolve())
        options.shared["standing"] = found
    standing: Standing = options.shared["standing"]
    return standing


def _asked(options: argparse.Namespace) -> Callable[[str], bool]:
    return lambda student: course.matches_student(student, options.student)


def extend(options: argparse.Namespace) -> int:
    """Give students more time for an assignment and return the exit status.

    Raises
    ------
    grader.gradebook.writing.UnknownStudent
        If one of them is not in the gradebook.
    """
    from datetime import timedelta

    from grader import times
    from grader.gradebook import reading, writing

    given = {unit: getattr(options, unit) for unit in ("days", "hours", "minutes")}
    if not any(number is not None for number in given.values()):
        options.parser.error(
            "expected --days, --hours or --minutes; --days 0 takes back what was given before"
        )
    _check_class(options)
    db_url, config = gradebook_address(options), course.configuration()
    source = course.read_solution_notebook(options.assignment)
    more = timedelta(**{unit: number or 0 for unit, number in given.items()})
    with writing.GradebookWriter(db_url, options.assignment, source, config) as writer:
        for student in options.students:
            writer.extend(student, more)
            due = reading.due_for(db_url, options.assignment, student)
            if due:
                until = f"Due {times.format_time(due, times.zone_of(config))}"
                say(f"{printable(student)}: {until} for {options.assignment}.")
            else:
                say(
                    f"{printable(student)}: No deadline for {options.assignment}. The extra time "
                    "is kept, and counts from the deadline as soon as it has one."
                )
    return 0


def copy_gradebook(options: argparse.Namespace) -> int:
    """Copy the gradebook into another database and return the exit status.

    Raises
    ------
    grader.gradebook.copying.NotCopied
        If there is nothing in the gradebook, or something in the other one.
    """
    from grader.gradebook import copying
    from grader.reporting import summary

    _check_class(options)
    counts = copying.copy_gradebook(gradebook_address(options), options.target)
    what = [summary.counted(number, noun[:-1]) for noun, number in counts.items()]
    say(
        f"{', '.join(what)} copied to {copying.shown(options.target)}. The old gradebook is as it "
        "was. To use the new one, name it in c.CourseDirectory.db_url in nbgrader_config.py."
    )
    return 0


def grade_sample_class(options: argparse.Namespace) -> int:
    """Write and grade the sample class and return the exit status.

    Raises
    ------
    GraderError
        If the class cannot be graded: see `grader.running.pipeline.autograde`.
    """
    _prepare_workers()
    from grader.command_line import sample_class
    from grader.running.local_workers import CannotWork

    if options.isolation:
        _warn_of(options.isolation)
    try:
        with Progress() as progress:
            graded = sample_class.grade_sample_class(
                into=options.into, isolation=options.isolation, progress=progress
            )
    except CannotWork as problem:
        if not options.skip_without_sandbox:
            raise
        say(f"The sample class was not graded, because learners' code cannot be shut in: {problem}")
        return SKIPPED
    return _print_results(graded)


def grade_other_course(options: argparse.Namespace) -> int:
    """Autograde an assignment of any nbgrader course and return the exit status.

    Raises
    ------
    GraderError
        If there is no such course or assignment, nobody has handed in, or no sandbox can be
        started here.
    """
    from grader.command_line.other_course import OtherCourse

    _warn_of(options.isolation)
    other = OtherCourse(options.folder, options.isolation)
    tell: Callable[[str], None] = (lambda line: None) if options.json else say
    lines = []
    for line in other.placement(options.assignment):
        lines.append(line)
        tell(printable(line))
    scores = []
    if not options.placement:
        tell("")
        for score in other.autograde(options.assignment, options.student, force=options.force):
            scores.append(score)
            outcome = f"failed: {printable(score.problem)}" if score.problem else score.text
            tell(f"{printable(score.student)}: {outcome}")
            for remark in score.remarks:
                tell(f"    {printable(remark)}")
    status = SOME_FAILED if any(score.problem for score in scores) else 0
    if options.json:
        students = [
            {
                "student": score.student,
                "score": score.score,
                "points": score.most,
                "to_read": score.waits,
                "reason": score.problem,
                "remarks": [*score.remarks],
            }
            for score in scores
        ]
        print_json(status, assignment=options.assignment, placement=lines, students=students)
    return status


def examine_machine(options: argparse.Namespace) -> int:
    """Print whether each part of the sandbox works here and return the exit status."""
    from grader.sandbox import doctor

    checks = doctor.checks()
    status = 0 if all(ok for _, ok, _ in checks) else SOME_FAILED
    if options.json:
        print_json(status, checks=[dict(zip(DOCTOR_FACTS, found, strict=True)) for found in checks])
        return status
    for name, ok, sentence in checks:
        say(f"{'ok  ' if ok else 'FAIL'}  {name}: {sentence}")
    return status


def _prepare_workers() -> None:
    """Start the workers' imports now, so that they overlap with the imports of this process."""
    from grader.running import local_workers

    local_workers.start_fork_server(local_workers.JUDGE_JOB)


def _output(options: argparse.Namespace, default: Path) -> Path:
    """Return the file to write, whose folder exists."""
    path: Path = options.output or default
    if not path.parent.is_dir():
        raise NoFolder(
            f"expected a folder for {path.name}, found no {path.parent}. Make it, or name another "
            "file with --output."
        )
    return path


def with_results(options: argparse.Namespace) -> set[str]:
    """Return the assignments that have graded work.

    Raises
    ------
    NothingGraded
        If there are none.
    """
    from grader.gradebook import reading
    from grader.running import journal

    _check_class(options)
    found = reading.submitted_assignments(gradebook_address(options))
    found |= {name for name in course.assignments() if journal.path_in(options.into, name).exists()}
    if not found & {*course.assignments()}:
        raise NothingGraded(f"expected graded work in {options.into}, found none.")
    return found


def _check_class(options: argparse.Namespace) -> None:
    if not options.into.is_dir():
        raise NoFolder(f"expected the folder of a class that was graded, found no {options.into}.")


def _results(options: argparse.Namespace) -> list[Result]:
    """Return the results of the students that `options` ask for, at least one."""
    from grader.reporting import results

    _check_class(options)
    found = [
        result
        for result in results.results(
            gradebook_address(options), options.into.resolve(), options.assignment
        )
        if course.matches_student(result.student, options.student)
    ]
    if not found:
        whose = "" if options.student == "*" else f" by {options.student!r}"
        raise NothingGraded(
            f"expected graded work on {options.assignment}{whose} in {options.into}, found none. "
            f"`python -m grader grade {options.assignment}` grades what was submitted."
        )
    return found


def gradebook_address(options: argparse.Namespace) -> str:
    """Return the address of the gradebook that `options` name, or of the default one."""
    from grader.gradebook import reading

    if options.db:
        return options.db
    if options.into.resolve() == course.ROOT:
        return course.configuration().CourseDirectory.db_url
    return reading.sqlite_url(options.into)


def known_address(options: argparse.Namespace) -> str:
    """Return the address of the gradebook, or "" for a command that uses none."""
    return gradebook_address(options) if "db" in options else ""


def _deadline(db_url: str, assignment: str, found: Sequence[Result]) -> str:
    from grader import times
    from grader.gradebook import reading
    from grader.reporting import summary

    zone = times.zone_of(course.configuration())
    return summary.deadline(reading.due(db_url, assignment), zone, found)


def _warn_of(isolation: str) -> None:
    if isolation == NONE:
        say(
            "WARNING: isolation is none. Learners' code runs unprotected, as your user: it can "
            "read and change whatever you can.",
            error=True,
        )


def _print_results(graded: Graded, sentences: Sequence[str] = ()) -> int:
    """Print the results of a class, then the sentences; return the exit status."""
    from grader.reporting import summary

    say(summary.table(graded.results))
    if remarks := summary.remarks(graded.results):
        say(f"\n{remarks}")
    say("")
    say(summary.sentence(summary.figures(graded.results)))
    for text in filter(None, sentences):
        say(text)
    for student, problem in graded.without_feedback.items():
        say(f"{printable(student)}: {printable(problem)}", error=True)
    return _status(graded)


def _status(graded: Graded) -> int:
    failed = graded.without_feedback or any(
        result.reason or result.not_judged for result in graded.results
    )
    return SOME_FAILED if failed else 0


def _tell(options: argparse.Namespace, text: str, facts: dict[str, Any]) -> None:
    """Print a text on an assignment, or keep the facts for the JSON document."""
    if options.data is None:
        say(text)
    else:
        options.data.append({"assignment": options.assignment, **facts})
