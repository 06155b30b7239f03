"""Plain test cells, such as ``assert squares(2) == [1, 4]``, executed in the judge's process.

A learner's function is a stand-in that can be called: arguments and result cross by value, an error
by its type and its text. So no code of a learner can read the test, change it, or claim that it
passed. `grader.judging.plain.placement` decides which test cells can be executed so.

Defends against: an answer that looks at the test or its caller, or that changes what the test uses.

Does not defend against: a result that is chosen by the arguments alone.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import functools
import io
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_locked, is_solution

from attn_lib.course.notebooks.cells import without_hidden_tests
from attn_lib.course.notebooks.magics import is_python
from grader.judging.assignment_source import Source
from grader.judging.bounds import TookTooMuch, bounded
from grader.judging.live import Live
from grader.judging.outputs import error_output, new_output, result_output, stopped_output, writable
from grader.judging.plain.code import (
    imports_in,
    names_changed,
    names_made,
    names_needed,
    names_used,
    names_used_in_functions,
    stars_in,
    why_inside,
)
from grader.judging.plain.functions import Calls, RemoteFunction, Stopped
from grader.judging.plain.state import FOLDER
from grader.sandbox.inside.limits import Limits

_MAX_TEXT = 4000  # characters of an error's text


class PlainTests:
    """Executes the plain test cells of one submission, with a namespace that they share.

    Parameters
    ----------
    live : Live
        The submission's code.
    source : Source
        The instructor's notebook. Test cells may rely on what its cells import.
    files : mapping
        What lies beside the instructor's notebook, by path. Test cells may read it.
    limits : Limits
        Of the submission.
    """

    def __init__(
        self,
        live: Live,
        source: Source,
        files: Mapping[str, bytes],
        limits: Limits,
    ) -> None:
        self._live = live
        self._source = source
        self._files = files
        self._limits = limits
        self.calls = Calls()
        #: What the last test cell used of the notebook that is neither locked nor an answer.
        self.replaceable: set[str] = set()
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._used: set[str] = set()  # by all test cells so far: a later one may call their helpers

    # Both are found when the first plain test needs them: notebooks of this course have none.
    @functools.cached_property
    def _answers(self) -> frozenset[str]:
        return self._source.answers - _only_imported(self._source)

    @functools.cached_property
    def _imports(self) -> dict[str, str]:
        return imports_in(self._source.stub)

    @functools.cached_property
    def _starred(self) -> dict[str, Any]:
        """What the assignment's cells import with a star, and do not define otherwise."""
        code = [cell for cell in self._source.model.cells if cell.cell_type == "code"]
        made = {name for cell in code for name in names_made(cell.source)}
        found = _imported_by(stars_in(self._source.stub))
        return {name: value for name, value in found.items() if name not in made}

    @property
    def trusted(self) -> set[str]:
        """The names that test cells outside and given cells have defined here."""
        return set(self._names)

    def forget(self, names: Iterable[str]) -> None:
        """Remove what a test cell has defined here."""
        for name in names:
            self._names.pop(name, None)

    def give(self, cell: NotebookNode) -> None:
        """Define here what a locked cell defines without a learner's work, such as a constant.

        A test can then rely on it, whatever a learner's code makes of that name.
        """
        if not is_locked(cell) or not is_python(cell.source):
            return
        with contextlib.suppress(TookTooMuch), bounded(self._limits), _folder_with(self._files):
            for statement in ast.parse(cell.source).body:
                self._define(statement)

    def _define(self, statement: ast.stmt) -> None:
        text = ast.unparse(statement)
        used, changed = names_used(text), names_changed(text)
        self._import(used)
        needs = used - changed - self._names.keys() - set(dir(builtins))
        later = names_used_in_functions(text) & self._answers
        if isinstance(statement, ast.FunctionDef) and needs <= later:
            self._used |= needs  # stand-ins, when a test cell calls it
            needs = set()
        if not (needs or changed & self._answers or why_inside(text)):
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                exec(text, self._names)
                return
        self.forget(changed)  # what they are now is read from the sandbox

    def judge(
        self, cell: NotebookNode, count: int, *, may_change: bool = True
    ) -> list[NotebookNode]:
        """Execute a test cell and return its outputs, from which nbgrader reads the points.

        An answer may pass a test only because it changes the arguments, with which the test then
        computes what it expects. So if the model answers do not change them, it has to pass both
        with and without that change.

        Parameters
        ----------
        cell : NotebookNode
        count : int
            The number of the cell's execution.
        may_change : bool
            Whether the model answers change arguments in this cell.
        """
        own = NotebookNode(cells=[cell])
        for statement in (*imports_in(own).values(), *stars_in(own)):
            # A learner's later code may rely on what a test imports, as in a notebook.
            self._live.execute(f"import in {cell.metadata.nbgrader.grade_id}", statement)
        self.calls.change, self.calls.have_changed, self.calls.unread = True, False, []
        self.calls.ends_loops = "StopIteration" in names_used(cell.source)
        before = dict(self._names)
        kept = _copies(before)
        outputs = self._execute(cell, count)
        if self.calls.have_changed and not may_change:
            for name, value in kept.items():
                if self._names.get(name) is before[name]:
                    self._names[name] = value
            self.calls.change = False
            again = self._execute(cell, count)
            outputs = min(outputs, again, key=functools.partial(_mark, cell))
        if self.calls.unread and _has_failed(outputs):
            self._live.remarks.append(
                f"The test {cell.metadata.nbgrader.grade_id} could not look at an object of type "
                f"{self.calls.unread[0]}, since only plain values leave the sandbox. Look at the "
                "answer yourself."
            )
        return outputs

    def _execute(self, cell: NotebookNode, count: int) -> list[NotebookNode]:
        name = cell.metadata.nbgrader.grade_id
        body, last = _compiled(cell.source, name)
        said, warned, shown, failure = io.StringIO(), io.StringIO(), "", None
        self.calls.stopped, answers = "", {}
        with (
            warnings.catch_warnings(),  # shows anew what another submission has been warned of
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(warned),
            _folder_with(self._files),
        ):
            try:
                answers = self._answers_for(cell)
                self._names.update(answers)
                with bounded(self._limits):
                    exec(body, self._names)
                    value = eval(last, self._names) if last else None
                    shown = "" if value is None else writable(repr(value))
            except Stopped as stopped:
                failure = stopped_output(str(stopped))
            except TookTooMuch as stopped:
                failure = stopped_output(f"judging it was stopped because {stopped}")
                self._live.remarks.append(
                    f"The cell {name} has no points: judging it was stopped because {stopped}."
                )
            except (Exception, SystemExit) as error:
                failure = _error(error, cell.source, name, self._source.hidden_marks)
            finally:
                for known, stand_in in answers.items():
                    if self._names.get(known) is stand_in:  # else it is the test's own by now
                        self._names.pop(known, None)
        if failure is None and self.calls.stopped:
            failure = stopped_output(self.calls.stopped)
        outputs = [
            new_output("stream", name=stream, text=text)
            for stream, printed in (("stdout", said), ("stderr", warned))
            if (text := writable(printed.getvalue()))
        ]
        if failure is not None:
            outputs.append(failure)
        elif shown:
            outputs.append(result_output({"text/plain": shown}, count))
        return self._live.fit(outputs)

    def _answers_for(self, cell: NotebookNode) -> dict[str, Any]:
        """Return stand-ins for the names that a test cell needs; import the modules it needs."""
        source = cell.source
        self._used |= names_needed(source)
        self._import(self._used)
        for name, value in _imported_by(stars_in(NotebookNode(cells=[cell]))).items():
            self._names.setdefault(name, value)
        asked = {
            name
            for name in self._used - self._names.keys()
            if name in self._answers or not hasattr(builtins, name)
        }
        answers = self._live.stand_ins(asked, self._function, exact=True)
        self.replaceable = answers.keys() & names_needed(source) - self._source.answers
        named = names_used(source)
        return {
            name: (self.calls if name in named else Calls()).read(value)
            for name, value in answers.items()
        }

    def _function(self, live: Live, name: str) -> RemoteFunction:
        return RemoteFunction(live, name, self.calls)

    def _import(self, names: set[str]) -> None:
        """Import those of the names that the assignment's own cells import."""
        for bound, statement in self._imports.items():
            if bound in names and bound not in self._names and bound not in self._answers:
                with contextlib.suppress(Exception):  # then the test itself says what is missing
                    exec(statement, self._names)
        for name in (names - self._names.keys()) & self._starred.keys():
            self._names[name] = self._starred[name]


def _only_imported(source: Source) -> set[str]:
    """Return the names that the model answers only import, as other cells do too."""
    answers = [cell for cell in source.model.cells if is_solution(cell)]
    made = {
        name for cell in answers if cell.cell_type == "code" for name in names_made(cell.source)
    }
    return imports_in(source.stub).keys() - made


def _imported_by(statements: Iterable[str]) -> dict[str, Any]:
    """Return what import statements import. One that fails is left to the cell that has it."""
    found: dict[str, Any] = {}
    for statement in statements:
        with contextlib.suppress(Exception):
            exec(statement, found)
    found.pop("__builtins__", None)
    return found


def _copies(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies of those values that a learner's function may change, of all that are named."""
    copies = {}
    for name, value in names.items():
        if name != "__builtins__" and isinstance(value, (list, dict, set, np.ndarray)):
            with contextlib.suppress(Exception):  # of an object in it that cannot be copied
                copies[name] = copy.deepcopy(value)
    return copies


def _mark(cell: NotebookNode, outputs: list[NotebookNode]) -> float:
    """Return the points that nbgrader gives a test cell with these outputs."""
    try:
        return determine_grade(NotebookNode(cell, outputs=outputs))[0] or 0.0
    except ValueError:  # more points than there are
        return 0.0


def _has_failed(outputs: list[NotebookNode]) -> bool:
    return any(output.output_type == "error" for output in outputs)


@contextlib.contextmanager
def _folder_with(files: Mapping[str, bytes]) -> Iterator[None]:
    """Let test cells find the assignment's files in the folder in which they are executed."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        sys.path.insert(0, folder)
        try:
            with contextlib.chdir(folder):
                yield
        finally:
            sys.path.remove(folder)


def _compiled(source: str, name: str) -> tuple[CodeType, CodeType | None]:
    """Return the statements of a test cell, and its last expression if that has a result."""
    tree = ast.parse(source)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not _is_silent(source):
        last = tree.body.pop()
    file = f"<{name}>"
    return (
        compile(tree, file, "exec"),
        compile(ast.Expression(last.value), file, "eval") if isinstance(last, ast.Expr) else None,
    )


def _is_silent(source: str) -> bool:
    """Say whether a semicolon at the end of a cell hides its result."""
    return source.rstrip().endswith(";")


def _error(
    error: BaseException, source: str, name: str, hidden_marks: tuple[str, str]
) -> NotebookNode:
    """Return the error of a test cell, with the line if that is not hidden."""
    kind, text = type(error).__name__, ""
    with contextlib.suppress(Exception):  # an integer in it may have too many digits to be shown
        text = writable(str(error))[:_MAX_TEXT]
    lines = [f"{kind}: {text}" if text else kind]
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == f"<{name}>" and frame.lineno:
            line = source.splitlines()[frame.lineno - 1].strip()
            if line in map(str.strip, without_hidden_tests(source, hidden_marks).splitlines()):
                lines.insert(-1, f"line {frame.lineno}: {line}")
    return error_output(kind, text, lines)
