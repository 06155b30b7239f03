"""Compare this course's grading time with stock nbgrader's, and show where the time goes.

    .venv/bin/python benchmarks/grading.py            # print
    .venv/bin/python benchmarks/grading.py --write    # and write it to benchmarks/GRADING.md

Both grade the same honest class on the same cores. The time is from the start of the command to
its end. The two gradebooks are compared row by row.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import nbformat
import numpy as np
from nbgrader.utils import is_solution

from attn_lib.figures.tables import table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("GRADING.md")
ASSIGNMENTS = ("dot-products", "masking")
SUBMISSIONS = 40  # of each assignment
CORES = 2
SHARE_ANSWERED = 0.8

#: Stock nbgrader: without our judge and repairs, with the same folders.
STOCK = """
c = get_config()
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.Execute.timeout = 30
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS, help="of each assignment")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with tempfile.TemporaryDirectory() as folder:
        report = side_by_side(Path(folder), options.submissions)
    print(report)
    if options.write:
        RESULTS.write_text(report, encoding="utf-8")


def side_by_side(folder: Path, submissions: int) -> str:
    """Return the comparison with stock nbgrader as Markdown."""
    rows, totals = [], {"stock": 0.0, "ours": 0.0}
    for assignment in ASSIGNMENTS:
        stock, ours = folder / "stock" / assignment, folder / "ours" / assignment
        one = folder / "one" / assignment
        for room in (stock, ours, one):
            write_class(assignment, submissions, room)
            # As after a release, each gradebook contains the assignment before grading starts.
            (room / "nbgrader_config.py").write_text(STOCK, encoding="utf-8")
            run(["nbgrader", "generate_assignment", assignment], room)
        seconds = {
            "stock": timed(["nbgrader", "autograde", assignment], stock),
            "ours": timed(grader("autograde", assignment, ours), ROOT),
        }
        alone = timed([*grader("autograde", assignment, one), "--workers", "1"], ROOT)
        differing = set(gradebook(stock)) ^ set(gradebook(ours))
        for name, value in seconds.items():
            totals[name] += value.wall
        rows.append(
            [
                assignment,
                submissions,
                f"{seconds['stock'].wall:.1f}",
                f"{seconds['ours'].wall:.1f}",
                f"{seconds['stock'].wall / seconds['ours'].wall:.1f}",
                f"{alone.wall / seconds['ours'].wall:.2f}",
                f"{seconds['ours'].cpu / submissions:.3f}",
                f"{seconds['stock'].cpu / submissions:.3f}",
                f"{seconds['ours'].memory:.0f}",
                len(differing),
            ]
        )
        print(*rows[-1], flush=True)
    header = [
        *("assignment", "submissions", "stock, s", "ours, s", "stock ÷ ours"),
        *("one worker ÷ two", "ours, CPU s each", "stock, CPU s each"),
        *("our largest process, MiB", "gradebook rows that differ"),
    ]
    together = totals["stock"] / totals["ours"]
    return (
        "# Grading time compared with stock nbgrader\n\n"
        "Written by `benchmarks/grading.py --write`. Times are from the start of the command to "
        "its end; isolation is on.\n\n"
        f"- Date: {date.today().isoformat()}\n- Cores: {CORES}, {platform.machine()}\n"
        f"- Python: {platform.python_version()}\n\n{table(header, rows)}\n\n"
        f"In total, stock nbgrader takes {together:.1f} times as long.\n\n"
        f"## Where the time of one submission goes\n\n{where_the_time_goes()}\n"
    )


def write_class(assignment: str, number: int, folder: Path) -> None:
    """Write a class in which each learner has answered most tasks; the same class at each call."""
    source = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    right = {cell.id: cell.source for cell in source.cells if is_solution(cell)}
    released = ROOT / "exercises" / assignment / f"{assignment}.ipynb"
    shutil.copytree(ROOT / "solutions" / assignment, folder / "solutions" / assignment)
    rng = np.random.default_rng(0)
    for student in range(number):
        notebook = nbformat.read(released, as_version=4)
        for cell in notebook.cells:
            if cell.id == "learner-id":
                cell.source = f'learner_id = "learner-{student}"'
            elif cell.id in right and rng.random() < SHARE_ANSWERED:
                cell.source = right[cell.id]
        path = folder / "submitted" / f"learner-{student}" / assignment / f"{assignment}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)


def where_the_time_goes() -> str:
    """Return the milliseconds of each step of one submission, as a Markdown table."""
    from grader.judging.assignment_source import read_source
    from grader.judging.judge import judge_submission
    from grader.sandbox.inside.limits import Limits
    from grader.sandbox.sandbox import Sandbox
    from grader.submission import repair

    source = (ROOT / "solutions/dot-products/dot-products.ipynb").read_bytes()
    limits = Limits()
    options = {"assignment": "dot-products", "student": "ada", "limits": limits}
    begun = time.perf_counter()
    with Sandbox(limits) as sandbox:
        sandbox.session().kill()
        warm = time.perf_counter() - begun

        def judged() -> None:
            judge_submission(source, source, sandbox=sandbox, **options)

        steps = {
            "one submission in total": judged,
            "including: read and repair": lambda: repair(source, read_source(source).stub),
            "including: start a session": lambda: sandbox.session().kill(),
        }
        rows = [[name, f"{1000 * median_of(step):.0f}"] for name, step in steps.items()]
    rows.append(["once per worker: start the warm process", f"{1000 * warm:.0f}"])
    return table(["step", "ms"], rows)


def median_of(step, rounds: int = 15) -> float:
    step()
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds))


class Used:
    """Resources that a command used: wall time, CPU time and peak memory of a process."""

    def __init__(self, wall: float, cpu: float, memory: float) -> None:
        self.wall, self.cpu, self.memory = wall, cpu, memory


def timed(command: list[str], folder: Path) -> Used:
    """Run a command and return its wall time, CPU time and the memory of its largest process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    run(command, folder)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Used(wall, cpu, after.ru_maxrss / 1024)


def run(command: list[str], folder: Path) -> None:
    scripts = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        # Containers often tell Python to compile all modules that are not installed each time.
        "PYTHONDONTWRITEBYTECODE": "",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def grader(command: str, assignment: str, folder: Path) -> list[str]:
    submitted = str(folder / "submitted")
    return [
        *(sys.executable, "-m", "grader", command, assignment),
        *("--submitted", submitted, "--into", str(folder)),
    ]


def gradebook(folder: Path) -> list[tuple[object, ...]]:
    """Return every grade: student, cell, points, and whether it still needs manual grading."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        return list(
            database.execute(
                "select s.student_id, b.name, g.auto_score, g.manual_score, g.needs_manual_grade"
                " from grade g join base_cell b on b.id = g.cell_id"
                " join submitted_notebook n on n.id = g.notebook_id"
                " join submitted_assignment s on s.id = n.assignment_id"
            )
        )


if __name__ == "__main__":
    main()
