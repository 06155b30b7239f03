"""IPython without a terminal or a front end: it executes cells and collects their outputs.

Defends against: endless output. Text beyond the limit is dropped at once, so that it fills no
memory, and a note says so once.

Does not defend against: learner code that changes these objects. `grader.judging.outputs` filters
and limits all outputs again.
"""

from __future__ import annotations

import base64
import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any, cast

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from attn_lib.course.notebooks.magics import is_python, without_magics
from grader.sandbox.inside.deadline import OutOfTime, deadline
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.prompts import answer_nobody
from grader.sandbox.inside.tracebacks import hide_source, remove_hidden_frames

#: MIME types that are kept. HTML that a learner wrote is never shown.
KEPT_TYPES = ("text/plain", "image/png")

#: Magics that install packages: without a network they would try until the cell's time is over.
INSTALLERS = ("pip", "conda", "mamba", "micromamba", "uv")

#: What IPython changes in Python code too: blanks before it and on empty lines, prompts, and lines
#: that end in an unusual way.
_CHANGED = re.compile(
    r"\A\s|^[ \t]+$|In \[|>>>|^\s*\.{3,}:|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", re.MULTILINE
)
_USUAL = TransformerManager()

_PICTURES = 8  # the limit of pictures, in multiples of the limit of text
_LINES = 40  # kept at each end of a traceback
_OVERHEAD = 100  # characters that each output counts in addition to its text


@hide_source
class Outputs:
    """The outputs of one cell in nbformat's form, within a limit."""

    def __init__(self, kib: int) -> None:
        self._kib = kib
        self._outputs: list[dict[str, Any]] = []
        self._text_left = kib * 1024
        self._pictures_left = kib * 1024 * _PICTURES
        self._left_for_an_error = 16 * 1024
        self._cut = self._told = False

    def stream(self, name: str, text: str) -> None:
        """Add printed text."""
        if not text:
            return
        last = self._outputs[-1] if self._outputs and not self._told else {}
        if last.get("name") != name:
            last = {"output_type": "stream", "name": name, "text": []}
            if not self._add(last):
                return
        last["text"].append(self._fit(text))
        self._tell_if_cut()

    def show(self, kind: str, data: Mapping[str, object], count: int | None = None) -> None:
        """Add a result or a picture."""
        output: dict[str, Any] = {"output_type": kind, "data": {}, "metadata": {}}
        if kind == "execute_result":
            output["execution_count"] = count
        if not any(isinstance(data.get(name), (str, bytes)) for name in KEPT_TYPES):
            return
        if not self._add(output):
            return
        picture = data.get("image/png")
        if isinstance(picture, bytes):
            picture = base64.b64encode(picture).decode()
        if isinstance(picture, str):
            if len(picture) <= self._pictures_left:
                self._pictures_left -= len(picture)
                output["data"]["image/png"] = picture
            else:
                self.stream("stderr", "[picture left out: it is too large]\n")
        text = data.get("text/plain")
        if isinstance(text, str):
            output["data"]["text/plain"] = self._fit(text)
        self._tell_if_cut()

    def error(self, name: str, message: str, traceback: list[str]) -> None:
        """Add an error. The first one is shown even if the limit is used up."""
        self._text_left = max(self._text_left, self._left_for_an_error)
        self._left_for_an_error = 0
        output: dict[str, Any] = {"output_type": "error"}
        if self._add(output):
            output["ename"] = self._fit(name[:200])
            output["evalue"] = self._fit(message[:4000])
            output["traceback"] = [self._fit(line) for line in _ends(traceback)]
        if self._told:
            self._text_left = 0
        self._tell_if_cut()

    def finish(self) -> list[dict[str, Any]]:
        """Return the outputs."""
        for output in self._outputs:
            if output["output_type"] == "stream":
                output["text"] = "".join(output["text"])
        return self._outputs

    def _add(self, output: dict[str, Any]) -> bool:
        """Add an empty output, and return whether the limit allows it."""
        if self._text_left > _OVERHEAD:
            self._text_left -= _OVERHEAD
            self._outputs.append(output)
            return True
        self._cut = True
        self._tell_if_cut()
        return False

    def _fit(self, text: str) -> str:
        """Return as much of a text as the limit allows, and count it."""
        kept = text[: self._text_left]
        self._text_left -= len(kept)
        self._cut = self._cut or len(kept) < len(text)
        return str(kept)

    def _tell_if_cut(self) -> None:
        """Say once that output was cut, and allow no more text."""
        if self._cut and not self._told:
            self._told = True
            self._text_left = 0
            text = [f"\n[output cut: more than {self._kib} KiB]\n"]
            # nbgrader would take what a test cell writes to stderr for a failure.
            self._outputs.append({"output_type": "stream", "name": "stdout", "text": text})


@hide_source
class Stream(io.TextIOBase):
    """Replaces sys.stdout or sys.stderr."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.name = name
        self.outputs = Outputs(0)

    def write(self, text: str) -> int:
        """Keep the text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.outputs.stream(self.name, text)
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True


@hide_source
class _Results(DisplayHook):
    shell: Shell

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Mapping[str, object], md_dict: object = None) -> None:
        self.shell.outputs.show("execute_result", format_dict, self.prompt_count)

    def finish_displayhook(self) -> None:
        pass


@hide_source
class _Pictures(DisplayPublisher):
    def publish(self, data: Mapping[str, object], *_: object, **__: object) -> None:
        self.shell.outputs.show("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        pass


@hide_source
class Shell(InteractiveShell):
    """The IPython shell, made once in the warm process; each fork has its own copy."""

    displayhook_class = Type(_Results)
    display_pub_class = Type(_Pictures)
    outputs = Outputs(0)

    @classmethod
    def warm(cls) -> Shell:
        """Return a shell that draws figures as a notebook does."""
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.xmode = "Plain"  # other modes take 20 s for an endless recursion
        shell = cls.instance(config=config)
        cast(DisplayFormatter, shell.display_formatter).active_types = list(KEPT_TYPES)
        shell.run_line_magic("matplotlib", "inline")
        return shell

    def begin(self) -> None:
        """Replace the streams, in the process that will execute learner code."""
        self._streams = [Stream("stdout"), Stream("stderr")]
        sys.stdout, sys.stderr = self._streams
        answer_nobody()

    def execute(self, source: str, name: str, limits: Limits) -> tuple[str, list[dict[str, Any]]]:
        """Execute a cell; return "ok" or "error", and its outputs."""
        outputs = self.collect(limits)
        try:
            with deadline(limits.cell_seconds):
                result = self.run_cell(source, store_history=True, cell_id=name)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as caught:  # what IPython itself does not catch
            error = caught
            if not isinstance(caught, OutOfTime):
                outputs.error(type(caught).__name__, _text(caught), [_text(caught)])
        if isinstance(error, OutOfTime):
            self._tell_time(outputs, limits)
        return ("ok" if error is None else "error"), outputs.finish()

    def collect(self, limits: Limits) -> Outputs:
        """Return a new, empty `Outputs` that collects everything shown from now on."""
        self.outputs = Outputs(limits.output_kib)
        for stream in self._streams:
            stream.outputs = self.outputs
        return self.outputs

    def defined(self, name: str) -> bool:
        """Return whether learner code assigned a value to this name."""
        missing = object()
        value = self.user_ns.get(name, missing)
        return value is not missing and value is not self.user_ns_hidden.get(name, missing)

    def system(self, command: str) -> None:
        """Run a shell command (``!ls``) and show what it prints."""
        child = subprocess.Popen(
            self.var_expand(command, depth=1),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        printed = cast(io.BufferedReader, child.stdout)
        try:
            while piece := printed.read1(65536):
                sys.stdout.write(piece.decode("utf-8", "replace"))
            self.user_ns["_exit_code"] = child.wait()
        finally:
            child.kill()
            child.wait()
            printed.close()

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python code: at once if it is such code already.

        IPython looks for its own syntax token by token. For most cells, that takes longer than
        executing them.
        """
        is_single_line = len(raw_cell.splitlines()) < 2  # which may be a magic, such as ``ls``
        is_usual = (
            self.input_transformers_cleanup == _USUAL.cleanup_transforms
            and not self.input_transformers_post
        )
        if is_single_line or not is_usual or _CHANGED.search(raw_cell) or not is_python(raw_cell):
            return str(super().transform_cell(raw_cell))
        return raw_cell if raw_cell.endswith("\n") else f"{raw_cell}\n"

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> object:
        """Run a magic. One that fails, or would install something, is left out with a note."""
        why = "nothing can be installed in grading"
        if magic_name not in INSTALLERS:
            if magic_name == "matplotlib":
                line = "inline"  # windows and widgets are not there
            try:
                return super().run_line_magic(magic_name, line, _stack_depth + 1)
            except Exception as error:  # a magic may raise anything
                why = f"it does not work in grading ({type(error).__name__}: {_text(error)})"
        sys.stderr.write(f"%{magic_name} was left out: {why}.\n")
        return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object:
        """Run a magic on the rest of its cell; if there is no such magic, execute Python as it is.

        A magic of an extension that is not there, such as one that formats or measures, must not
        cost the answer below it.
        """
        if self.find_cell_magic(magic_name) is None and is_python(without_magics(cell)[0]):
            sys.stderr.write(f"%%{magic_name} was left out: it is not there in grading.\n")
            return self.run_cell(cell, store_history=False)
        return super().run_cell_magic(magic_name, line, cell)

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no window system."""

    def debugger(self, force: bool = False) -> None:
        """Do nothing: there is nobody to debug."""

    def ask_exit(self) -> None:
        """Do nothing: ``exit`` in a cell must not end the session."""

    def _get_exc_info(
        self, exc_tuple: tuple[type, BaseException, TracebackType | None] | None = None
    ) -> tuple[type, BaseException, TracebackType | None]:
        kind, error, traceback = super()._get_exc_info(exc_tuple)
        with contextlib.suppress(Exception):  # a learner's error may raise when it is read
            remove_hidden_frames(error, keep=1)  # IPython leaves out the first one by itself
            traceback = error.__traceback__
        return kind, error, traceback

    def _showtraceback(self, etype: type, evalue: BaseException, stb: object) -> None:
        if not issubclass(etype, OutOfTime):
            lines = stb if isinstance(stb, list) else _text(stb).splitlines()
            self.outputs.error(etype.__name__, _text(evalue), [_text(line) for line in lines])

    def _tell_time(self, outputs: Outputs, limits: Limits) -> None:
        text = (
            f"The cell was stopped after {limits.cell_seconds:g} s. "
            "Is there a loop that does not end?"
        )
        outputs.error("OutOfTime", text, [text])


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # a learner's __str__ may raise anything
        return f"<{type(value).__name__}>"


def _ends(lines: list[str]) -> list[str]:
    """Return the lines, or the first and last `_LINES` if there are too many."""
    if len(lines) <= 2 * _LINES:
        return lines
    return [*lines[:_LINES], f"[{len(lines) - 2 * _LINES} more]", *lines[-_LINES:]]
