"""Grade two large classes: one is killed half-way and resumed, one runs on a Dask cluster.

    .venv/bin/python benchmarks/large_classes.py            # print
    .venv/bin/python benchmarks/large_classes.py --write    # and write it to LARGE_CLASSES.md

Both classes consist of learners as in `benchmarks/grading.py`. The memory is that of the command
and all processes it has started, measured from outside ten times a second.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import psutil

from attn_lib.figures.tables import table
from grader.running import journal

sys.path.insert(0, str(Path(__file__).parent))
from grading import CORES, ROOT, gradebook, grader, write_class

RESULTS = Path(__file__).with_name("LARGE_CLASSES.md")
ASSIGNMENT = "dot-products"
MIB = 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--killed", type=int, default=1000, help="submissions of the killed run")
    parser.add_argument("--cluster", type=int, default=10_000, help="submissions on the cluster")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with tempfile.TemporaryDirectory() as folder:
        report = (
            "# Grading large classes\n\nWritten by `benchmarks/large_classes.py --write`. The "
            "assignment is dot-products, isolation is on, and the times are from the start of the "
            f"command to its end.\n\n- Date: {date.today().isoformat()}\n"
            f"- Cores: {CORES}, {platform.machine()}\n- Python: {platform.python_version()}\n\n"
            f"{killed_half_way(Path(folder) / 'killed', options.killed)}\n\n"
            f"{on_a_cluster(Path(folder) / 'cluster', options.cluster)}\n"
        )
    print(report)
    if options.write:
        RESULTS.write_text(report, encoding="utf-8")


def killed_half_way(folder: Path, number: int) -> str:
    """Compare a run that is killed and resumed with an uninterrupted one."""
    write_class(ASSIGNMENT, number, folder)
    whole, halves = folder / "whole", folder / "halves"
    alone = Watched(folder, whole).until_done()
    first = Watched(folder, halves).until_done(at=number // 2, do=psutil.Process.kill)
    before = len(gradebook(halves))
    second = Watched(folder, halves).until_done()
    same = set(gradebook(whole)) == set(gradebook(halves)) and notebooks(whole) == notebooks(halves)
    rows = [
        ["uninterrupted", alone.done, *alone.row()],
        ["until SIGKILL", first.done, *first.row()],
        ["resumed", second.done, *second.row()],
    ]
    return (
        f"## {number} submissions, killed half-way\n\n"
        f"{table(['run', 'graded in this run', *Watched.HEADER], rows)}\n\n"
        f"When it was killed, {before} of {len(gradebook(whole))} grades were in the gradebook. At "
        f"the end, gradebook and graded notebooks are {'the same' if same else 'NOT THE SAME'}."
    )


def on_a_cluster(folder: Path, number: int) -> str:
    """Grade on two Dask workers and kill one of them half-way."""
    write_class(ASSIGNMENT, number, folder)
    with cluster(2) as (address, programs):
        watched = Watched(folder, folder / "graded", ["--scheduler", address], programs)
        watched.until_done(at=number // 2, do=lambda _: kill_worker(programs))
    grades = gradebook(folder / "graded")
    students = {row[0] for row in grades}
    return (
        f"## {number:,} submissions on a Dask cluster of two workers, one killed half-way\n\n"
        f"{table(['graded', *Watched.HEADER], [[watched.done, *watched.row()]])}\n\n"
        f"{len(students):,} students have {len(grades):,} grades in the gradebook, which is "
        "SQLite. The memory is that of the command, the scheduler, the workers and their sandboxes."
    )


def notebooks(folder: Path) -> dict[str, str]:
    """Return the graded notebooks without cell ids, which are random."""
    return {
        path.parts[-3]: re.sub(r'"id": "[0-9a-f]{8}"', '"id"', path.read_text(encoding="utf-8"))
        for path in folder.glob("autograded/*/*/*.ipynb")
    }


@dataclass
class Watched:
    """A running command, with its progress and its memory."""

    HEADER = (
        *("seconds", "ms each", "status", "peak memory, MiB", "largest process, MiB"),
        *("after 10 %, MiB", "after 90 %, MiB"),
    )

    folder: Path
    into: Path
    options: list[str] = field(default_factory=list)
    beside: list[subprocess.Popen] = field(default_factory=list)
    done: int = 0
    seconds: float = 0.0
    status: int = 0
    totals: list[tuple[int, float]] = field(default_factory=list)
    largest: float = 0.0

    def until_done(
        self, at: float = float("inf"), do: Callable[[psutil.Process], None] = lambda program: None
    ) -> Watched:
        """Run the command to its end; call `do` on it once `at` submissions are graded."""
        line = [*grader("autograde", ASSIGNMENT, self.folder)[:-1], str(self.into), *self.options]
        before = self._recorded()
        with tempfile.TemporaryFile() as said:
            begun = time.perf_counter()
            program = subprocess.Popen(line, cwd=ROOT, stdout=said, stderr=said)
            while program.poll() is None:
                time.sleep(0.1)
                self.done = self._recorded() - before
                self._measure([program, *self.beside])
                if self.done >= at:
                    do(psutil.Process(program.pid))
                    at = float("inf")
            self.seconds, self.status = time.perf_counter() - begun, program.returncode
            self.done = self._recorded() - before
            if self.status not in (0, -signal.SIGKILL):
                said.seek(0)
                sys.exit(f"{' '.join(line)}:\n{said.read()[-2000:].decode()}")
        return self

    def _recorded(self) -> int:
        record = journal.path_in(self.into, ASSIGNMENT)
        return len(record.read_bytes().splitlines()) if record.exists() else 0

    def row(self) -> list[str]:
        return [
            f"{self.seconds:.0f}",
            f"{1000 * self.seconds / max(1, self.done):.0f}",
            str(self.status),
            f"{max(total for _, total in self.totals):.0f}",
            f"{self.largest:.0f}",
            f"{self._memory_about(0.1):.0f}",
            f"{self._memory_about(0.9):.0f}",
        ]

    def _memory_about(self, share: float) -> float:
        """Return the peak memory at the time when about this share was graded.

        Results are recorded in batches of fifty, so a share is met only approximately.
        """
        done = share * max(done for done, _ in self.totals)
        return max(total for at, total in self.totals if 0.75 * done - 50 <= at <= 1.05 * done)

    def _measure(self, programs: list[subprocess.Popen]) -> None:
        """Add up the unshared memory; forks share most of theirs."""
        total = 0.0
        for program in programs:
            for process in _family(program.pid):
                with contextlib.suppress(psutil.Error):
                    memory = process.memory_full_info()
                    total += memory.uss / MIB
                    self.largest = max(self.largest, memory.rss / MIB)
        self.totals.append((self.done, total))


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """Start a scheduler and workers as separate processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    programs = [_dask("scheduler", "--host", "127.0.0.1", "--port", port)]
    try:
        programs += [_dask("worker", address, "--nthreads", "1") for _ in range(workers)]
        yield address, programs
    finally:
        for program in reversed(programs):
            program.terminate()
        for program in programs:
            program.wait(60)


def _dask(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_worker(programs: list[subprocess.Popen]) -> None:
    """Kill the worker process, not its nanny, which then starts a replacement."""
    nanny = psutil.Process(programs[-1].pid)
    worker = next(child for child in nanny.children() if "spawn_main" in " ".join(child.cmdline()))
    worker.kill()


if __name__ == "__main__":
    main()
