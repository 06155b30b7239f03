"""Where each plain test cell of an assignment is executed: outside the sandbox, or inside it.

The model answers decide. A test cell that they pass with stand-ins for their functions is executed
outside, where no learner's code can read or change it. A test cell that needs the answers' own
objects, such as an instance of a class, is executed inside, in the learner's process, as nbgrader
itself would do it. There a learner's code could read it, or claim that it passed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import determine_grade

from grader.judging.assignment_source import Source
from grader.judging.course_tests import is_course_test
from grader.judging.live import Live
from grader.judging.plain.code import (
    classes_in,
    imports_in,
    names_changed,
    names_needed,
    names_used,
    names_used_in_functions,
    why_inside,
)
from grader.judging.plain.state import own_state
from grader.judging.plain.tests import PlainTests
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox
from grader.submission.wording import listed

FAILS_OUTSIDE = "the model answers do not pass it outside"
FAILS = "the model answers do not pass it"

_found: dict[str, Placement] = {}  # by a digest of all that it depends on


@dataclass(frozen=True)
class Placement:
    """Where the test cells of one notebook are executed."""

    outside: tuple[str, ...]  #: by name, in the notebook's order
    inside: Mapping[str, str]  #: the reason, by name
    changing: frozenset[str]  #: those outside in which the model answers change arguments
    #: Files beside the notebook that the model answers write. Tests outside do not have them.
    written: frozenset[str]
    #: By test cell outside, what it uses that learners' code could replace.
    replaceable: Mapping[str, tuple[str, ...]]

    def lines(self) -> list[str]:
        """Return a sentence on the tests outside, and one on each inside."""
        said = []
        if self.outside:
            said.append(f"tests outside the sandbox: {listed(self.outside)}.")
        for name, used in self.replaceable.items():
            said.append(
                f"{name} uses {listed(used)}, which learners' code could replace: define "
                f"{'it' if len(used) == 1 else 'them'} in the test, or in a locked cell that uses "
                "no answer."
            )
        for name, why in self.inside.items():
            place = f"test inside the sandbox, where learners' code could read it: {name}"
            said.append(f"{place}, because {why.rstrip('.')}.")
        return said


NOWHERE = Placement((), {}, frozenset(), frozenset(), {})


def has_plain_tests(source: Source) -> bool:
    """Say whether a notebook has test cells that do not use the checks of this course."""
    return any(source.is_test(cell) and not is_course_test(cell) for cell in source.model.cells)


def placement_of(
    source: Source, files: Mapping[str, bytes], limits: Limits, sandbox: Sandbox
) -> Placement:
    """Return where to execute the test cells of a notebook. It is found once in each process.

    Parameters
    ----------
    source : Source
        The instructor's notebook.
    files : mapping
        What lies beside it, by path.
    limits : Limits
        Of a submission.
    sandbox : Sandbox
        Where the model answers run.

    Raises
    ------
    grader.sandbox.sandbox.SandboxUnavailable
        If no sandbox can be started here.
    """
    if not has_plain_tests(source):
        return NOWHERE
    parts = [(name, hashlib.sha256(content).digest()) for name, content in sorted(files.items())]
    digest = hashlib.sha256(repr((source.file, parts, limits)).encode()).hexdigest()
    if digest not in _found:
        _found[digest] = _Trial(source, files, limits, sandbox).placement()
    return _found[digest]


class _Trial:
    """Executes the model answers with the test cells outside or inside, and moves cells inside."""

    def __init__(
        self, source: Source, files: Mapping[str, bytes], limits: Limits, sandbox: Sandbox
    ) -> None:
        self.source, self.files, self.limits, self.sandbox = source, files, limits, sandbox
        self.cells = [cell for cell in source.model.cells if cell.cell_type == "code"]
        self.tests = [c for c in self.cells if source.is_test(c) and not is_course_test(c)]
        self.inside: dict[str, str] = {}
        self.changing: set[str] = set()
        self.written: set[str] = set()
        self.replaceable: dict[str, tuple[str, ...]] = {}
        self.failed: set[str] = set()  # tests that the model answers do not pass anywhere
        #: By a test inside that fails, what was inside before tests were moved for its sake.
        self._begun: dict[str, dict[str, str]] = {}

    def placement(self) -> Placement:
        self._look_at_the_text()
        while self._moves_more_inside():
            pass
        names = [_name(cell) for cell in self.tests]
        return Placement(
            tuple(name for name in names if name not in self.inside),
            {name: self.inside[name] for name in names if name in self.inside},
            frozenset(self.changing) - self.inside.keys(),
            frozenset(self.written),
            {name: used for name, used in self.replaceable.items() if name not in self.inside},
        )

    def _look_at_the_text(self) -> None:
        called = {n for cell in self._others() for n in names_used_in_functions(cell.source)}
        bound = {name for cell in self._others() for name in names_changed(cell.source)}
        for test in self.tests:
            changed = names_changed(test.source)
            imported = set(imports_in(NotebookNode(cells=[test])))
            after = self._others_after(test)
            read = called | {name for cell in after for name in names_used(cell.source)}
            written = {name for cell in after for name in names_changed(cell.source)}
            shared = ((changed - imported) & (read | written)) | (changed & read - bound)
            why = why_inside(test.source)
            if not why and shared:
                why = f"it changes {min(shared)}, which other cells use"
            if why:
                self.inside[_name(test)] = why

    def _moves_more_inside(self) -> bool:
        """Execute the model answers once; say whether that moved any test cell inside."""
        before, written = dict(self.inside), set(self.written)
        failing: list[tuple[NotebookNode, str]] = []
        earlier = ""  # the first error in a cell that is no test
        files = {name: content for name, content in self.files.items() if name not in written}
        with own_state(), Live(self.sandbox, self.limits, self.files) as live:
            look = _FilesWritten(live, self.files)
            plain = PlainTests(live, self.source, files, self.limits)
            for count, cell in enumerate(self.cells, start=1):
                if is_course_test(cell):
                    continue
                if not self.source.is_test(cell):
                    earlier = earlier or _error_in(live.execute(str(count), cell.source))
                    plain.give(cell)
                elif _name(cell) not in self.inside and not self._passes_outside(cell, plain):
                    live.execute(str(count), cell.source)
                elif _name(cell) in before:
                    outputs = live.execute(str(count), cell.source, has_mark=True)
                    if (
                        _name(cell) not in self.failed
                        and not _has_all_points(cell, outputs)
                        and not self._move_what_it_needs(cell)
                    ):
                        failing.append((cell, _failure(outputs, earlier)))
            self.written |= look.written()
        if failing and self.inside == before and self.written == written:
            self._move_what_may_change_its_state(*failing[0])
        return self.inside != before or self.written != written

    def _passes_outside(self, cell: NotebookNode, plain: PlainTests) -> bool:
        known = plain.trusted | self.source.answers
        if needed := self._defined_inside(cell) & names_needed(cell.source) - known:
            why = f"it uses {min(needed)}, which a test cell inside defines"
        elif not _has_all_points(cell, outputs := plain.judge(cell, 0)) or plain.calls.unread:
            why = f"{FAILS_OUTSIDE}: {self._outside_problem(cell, plain, outputs)}"
            plain.forget(names_changed(cell.source))
        else:
            if plain.calls.have_changed:
                self.changing.add(_name(cell))
            if plain.replaceable:
                self.replaceable[_name(cell)] = tuple(sorted(plain.replaceable))
            return True
        self.inside[_name(cell)] = why
        return False

    def _outside_problem(
        self, cell: NotebookNode, plain: PlainTests, outputs: list[NotebookNode]
    ) -> str:
        """Return what kept the model answers from passing a test cell outside."""
        if plain.calls.unread:
            return f"an object of type {plain.calls.unread[0]} cannot leave the sandbox"
        classes = {name for other in self._others() for name in classes_in(other.source)}
        if used := classes & names_needed(cell.source):
            return f"it uses the class {min(used)}, which cannot leave the sandbox"
        if plain.calls.stopped:
            return plain.calls.stopped
        return _error_in(outputs) or "it gives fewer points there"

    def _defined_inside(self, cell: NotebookNode) -> set[str]:
        return {
            name
            for test in self._before(cell)
            if _name(test) in self.inside
            for name in names_changed(test.source)
        }

    def _move_what_it_needs(self, cell: NotebookNode) -> bool:
        """Move inside the test cells that define what a test cell inside needs; say if any do."""
        found = False
        for test in self._before(cell):
            shared = names_changed(test.source) & names_needed(cell.source)
            if _name(test) not in self.inside and shared:
                self.inside[_name(test)] = f"it defines {min(shared)}, which {_name(cell)} uses"
                found = True
        return found

    def _move_what_may_change_its_state(self, cell: NotebookNode, why: str) -> None:
        """Move inside the test before it that is nearest; if that was the last one, undo it all.

        A test outside that changes a value of the notebook, such as a list, changes a copy.
        """
        begun = self._begun.setdefault(_name(cell), dict(self.inside))
        nearest = next(
            (t for t in reversed(self._before(cell)) if _name(t) not in self.inside), None
        )
        if nearest is None:
            self.inside = begun | {_name(cell): why}
            self.failed.add(_name(cell))
        else:
            self.inside[_name(nearest)] = f"{_name(cell)} fails without what it changes"

    def _before(self, cell: NotebookNode) -> list[NotebookNode]:
        number = next(number for number, test in enumerate(self.tests) if test is cell)
        return self.tests[:number]

    def _others_after(self, test: NotebookNode) -> list[NotebookNode]:
        place = next(number for number, cell in enumerate(self.cells) if cell is test)
        return [cell for cell in self.cells[place:] if not self.source.is_test(cell)]

    def _others(self) -> list[NotebookNode]:
        return [cell for cell in self.cells if not self.source.is_test(cell)]


class _FilesWritten:
    """Finds which of the given files the model answers write, in a session of their own."""

    def __init__(self, live: Live, files: Mapping[str, bytes]) -> None:
        self._live, self._files = live, sorted(files)
        self._folder = self._said("print(os.getcwd())").strip()
        self._said(f"for f in {self._paths()}: os.utime(f, (0, 0))")

    def written(self) -> set[str]:
        times = f"[not os.path.exists(f) or os.path.getmtime(f) != 0 for f in {self._paths()}]"
        said = self._said(f"print(*map(int, {times}))").split()
        return {name for name, new in zip(self._files, said, strict=False) if new == "1"}

    def _paths(self) -> list[str]:
        return [f"{self._folder}/{name}" for name in self._files]

    def _said(self, code: str) -> str:
        """Return what code prints that leaves no name behind."""
        if not self._files:
            return ""
        code = f"exec({f'import os{chr(10)}{code}'!r}, {{}})"
        outputs = self._live.execute("files", code)
        return "".join(output.text for output in outputs if output.output_type == "stream")


def _name(cell: NotebookNode) -> str:
    return cell.metadata.nbgrader.grade_id


def _error_in(outputs: list[NotebookNode]) -> str:
    """Return the first error in the outputs of a cell in one line, or ""."""
    errors = (output for output in outputs if output.output_type == "error")
    texts = (" ".join(f"{error.ename}: {error.evalue}".split()) for error in errors)
    return next(texts, "").removesuffix(":").rstrip(".")


def _failure(outputs: list[NotebookNode], earlier: str) -> str:
    """Return why no place is right for a test cell, with the first error in the cells before it."""
    before = f". Before it, a cell failed with {earlier}" if earlier else ""
    return f"{FAILS}: {_error_in(outputs) or 'they get fewer points'}{before}"


def _has_all_points(cell: NotebookNode, outputs: list[NotebookNode]) -> bool:
    """Say whether nbgrader gives a test cell with these outputs all its points."""
    cell = NotebookNode(cell, outputs=outputs)
    try:
        score, most = determine_grade(cell)
    except ValueError:  # more points than there are
        return False
    return score == most
