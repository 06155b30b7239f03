"""Outputs from the sandbox, filtered and limited so that a notebook can hold them.

A learner's process wrote them, so they are not trusted: only the kinds below are kept, of each
only the fields that nbformat knows, as plain text, and only up to a limit.

Defends against: outputs that run code in a browser, pictures that use up its memory, and more
output than the judge can hold, even if the learner's process ignores its own limits.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from attn_lib.course.notebooks.libraries import missing_library

#: MIME types that a cell may show: no HTML, no JavaScript, no SVG.
KEPT_TYPES = ("text/plain", "image/png")

LEFT_OUT = "[output left out: it is too large]\n"

_NO_MODULE = re.compile(r"No module named '([\w.]{1,80})'")
_PNG = struct.Struct(">8s4x4sII")  # the start of a file: signature, first chunk, width, height
_MAX_PIXELS = 2**26
_PICTURES = 8  # the limit of pictures, in multiples of the limit of text
_KIB_FOR_ERRORS = 32  # in addition, so that an error is shown even after a flood of text
_OVERHEAD = 100  # characters that each output counts in addition to its text
_FULL_CELLS = 8  # the limit of a submission, in multiples of the limit of a cell


class OutputBudget:
    """How much output a submission may still show; each cell uses some of it.

    Parameters
    ----------
    kib : int
        The maximum that one cell may print, in KiB.

    Examples
    --------
    >>> OutputBudget(1).fit([{"output_type": "stream", "name": "stdout", "text": "3", "x": 1}, 7])
    [{'output_type': 'stream', 'name': 'stdout', 'text': '3'}]
    """

    def __init__(self, kib: int) -> None:
        self._text_of_a_cell = (kib + _KIB_FOR_ERRORS) * 1024
        self._pictures_of_a_cell = kib * 1024 * _PICTURES
        self._text = self._text_of_a_cell * _FULL_CELLS
        self._pictures = self._pictures_of_a_cell * _FULL_CELLS

    def fit(self, outputs: object, *, has_mark: bool = False) -> list[NotebookNode]:
        """Return the outputs of a cell that a notebook may hold and that fit in the budget.

        nbgrader reads a mark from the result of a test cell. With `has_mark`, results stay results;
        otherwise they become outputs without that meaning.
        """
        text = min(self._text, self._text_of_a_cell)
        pictures = min(self._pictures, self._pictures_of_a_cell)
        kept = []
        for output in _known(outputs, has_mark):
            picture = len(output.get("data", {}).get("image/png", ""))
            words = _length(output) - picture + _OVERHEAD
            if words > text or picture > pictures:
                # nbgrader gives a test cell that has written to stderr no points.
                stream = "stdout" if has_mark else "stderr"
                kept.append(new_output("stream", name=stream, text=LEFT_OUT))
                break
            text, pictures = text - words, pictures - picture
            self._text, self._pictures = self._text - words, self._pictures - picture
            kept.append(output)
        return kept


def new_output(kind: str, **fields: object) -> NotebookNode:
    """Return an output with these fields, which the caller has made valid.

    nbformat's function of this name validates each output, which takes longer than making it.
    """
    return NotebookNode(output_type=kind, **fields)


def result_output(data: Mapping[str, str], count: int | None) -> NotebookNode:
    """Return the result of a cell; nbgrader reads the mark from that of a test cell."""
    parts = {"data": NotebookNode(data), "metadata": NotebookNode()}
    return new_output("execute_result", execution_count=count, **parts)


def error_output(name: str, value: str, lines: Sequence[str] = ()) -> NotebookNode:
    """Return an error with its traceback. Default: the traceback is the error itself."""
    traceback = list(lines) or [f"{name}: {value}" if value else name]
    return new_output("error", ename=name, evalue=value, traceback=traceback)


def stopped_output(why: str) -> NotebookNode:
    """Return the output of a cell that was stopped or not executed."""
    text = f"This cell was stopped or not executed: {why}."
    return error_output("Stopped", text, [text])


def missing_library_in(outputs: Iterable[NotebookNode]) -> str:
    """Return a sentence on a library that a cell could not import, or ""."""
    for output in outputs:
        if output.output_type == "error":
            found = _NO_MODULE.match(output.evalue)
            if found:
                return missing_library(ModuleNotFoundError(name=found[1]))
    return ""


def writable(value: object) -> str:
    r"""Return a text without lone surrogates, which UTF-8 cannot encode; "" for other types.

    Examples
    --------
    >>> writable("a\ud800"), writable(3)
    ('a?', '')
    """
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _known(outputs: object, has_mark: bool) -> Iterator[NotebookNode]:
    """Yield the outputs of the kinds that are kept."""
    if not isinstance(outputs, Sequence) or isinstance(outputs, (str, bytes)):
        return
    for output in outputs:
        fit = _fit(output, has_mark) if isinstance(output, Mapping) else None
        if fit is not None:
            yield fit


def _fit(output: Mapping[str, Any], has_mark: bool) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream" and output.get("name") in ("stdout", "stderr"):
        text = writable(output.get("text"))
        return new_output("stream", name=output["name"], text=text)
    if kind == "error":
        lines = output.get("traceback")
        lines = [writable(line) for line in lines] if isinstance(lines, list) else []
        name, value = writable(output.get("ename")), writable(output.get("evalue"))
        return new_output("error", ename=name, evalue=value, traceback=lines)
    if kind in ("display_data", "execute_result"):
        data = output.get("data")
        data = _fit_data(data) if isinstance(data, Mapping) else {}
        if has_mark and kind == "execute_result" and data.get("text/plain"):
            return result_output(data, None)
        if data:
            return new_output("display_data", data=NotebookNode(data), metadata=NotebookNode())
    return None


def _fit_data(data: Mapping[str, Any]) -> dict[str, str]:
    kept = {kind: writable(data[kind]) for kind in KEPT_TYPES if isinstance(data.get(kind), str)}
    if "image/png" in kept and not _is_png(kept["image/png"]):
        del kept["image/png"]
    return kept


def _is_png(text: str) -> bool:
    """Return whether this is a PNG picture, in base64, that a browser can show safely."""
    try:
        kind, part, width, height = _PNG.unpack_from(
            base64.b64decode(text.replace("\n", ""), validate=True)
        )
    except (binascii.Error, ValueError, struct.error):
        return False
    return kind == b"\x89PNG\r\n\x1a\n" and part == b"IHDR" and width * height <= _MAX_PIXELS


def _length(output: NotebookNode) -> int:
    """Return how many characters an output counts, without `_OVERHEAD` for the output itself."""
    parts = [*output.get("data", {}).values(), output.get("text", "")]
    parts += [output.get("ename", ""), output.get("evalue", "")]
    lines = output.get("traceback", [])
    return sum(map(len, parts)) + sum(len(line) + _OVERHEAD for line in lines)
