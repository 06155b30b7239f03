"""Outputs that come out of the sandbox, made fit to stand in a notebook.

A learner's process wrote them, so nothing about them is taken on trust: only the kinds below
are kept, of each only the fields that nbformat knows, as plain text, and only so much of them.

Defends against: outputs that act in a browser, pictures that take all its memory, and more of
them than a grader can hold, whatever the process that made them says of its own limits.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

#: What a cell may show: no HTML, no JavaScript, no SVG.
KEPT_TYPES = ("text/plain", "image/png")

LEFT_OUT = "[output left out: it is too much]\n"

_PNG = struct.Struct(">8s4x4sII")  # what a file begins with: its kind, a part, width and height
_MOST_PIXELS = 2**26
_PICTURES = 8  # times the room that text has
_KIB_FOR_ERRORS = 32  # room beside what is printed: an error is told also after a flood
_OVERHEAD = 100  # characters that an output counts beside its text
_FULL_CELLS = 8  # so many cells may show the most that a cell may


class Room:
    """What a submission may show; each cell takes of it.

    Parameters
    ----------
    kib : int
        The most that one cell may print, in KiB.

    Examples
    --------
    >>> Room(1).fit([{"output_type": "stream", "name": "stdout", "text": "3", "x": 1}, 7])
    [{'output_type': 'stream', 'name': 'stdout', 'text': '3'}]
    """

    def __init__(self, kib: int) -> None:
        self._text_of_a_cell = (kib + _KIB_FOR_ERRORS) * 1024
        self._pictures_of_a_cell = kib * 1024 * _PICTURES
        self._text = self._text_of_a_cell * _FULL_CELLS
        self._pictures = self._pictures_of_a_cell * _FULL_CELLS

    def fit(self, outputs: object) -> list[NotebookNode]:
        """Return those of a cell's outputs that a notebook may hold and that there is room for."""
        text = min(self._text, self._text_of_a_cell)
        pictures = min(self._pictures, self._pictures_of_a_cell)
        kept = []
        for output in _known(outputs):
            picture = len(output.get("data", {}).get("image/png", ""))
            words = _length(output) - picture + _OVERHEAD
            if words > text or picture > pictures:
                kept.append(nbformat.v4.new_output("stream", name="stderr", text=LEFT_OUT))
                break
            text, pictures = text - words, pictures - picture
            self._text, self._pictures = self._text - words, self._pictures - picture
            kept.append(output)
        return kept


def stopped_output(reason: str) -> NotebookNode:
    """Return the output of a cell that was stopped or not run."""
    text = f"This cell was stopped or not run: {reason}."
    return nbformat.v4.new_output("error", ename="Stopped", evalue=text, traceback=[text])


def writable(value: object) -> str:
    """Return a text as one that every encoding can write; "" for all else.

    Examples
    --------
    >>> writable("a\\ud800"), writable(3)
    ('a?', '')
    """
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _known(outputs: object) -> Iterator[NotebookNode]:
    """Yield the outputs that are of a kind that is kept."""
    if not isinstance(outputs, Sequence) or isinstance(outputs, (str, bytes)):
        return
    for output in outputs:
        fit = _fit(output) if isinstance(output, Mapping) else None
        if fit is not None:
            yield fit


def _fit(output: Mapping[str, Any]) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream" and output.get("name") in ("stdout", "stderr"):
        text = writable(output.get("text"))
        return nbformat.v4.new_output("stream", name=output["name"], text=text)
    if kind == "error":
        lines = output.get("traceback")
        lines = [writable(line) for line in lines] if isinstance(lines, list) else []
        name, value = writable(output.get("ename")), writable(output.get("evalue"))
        return nbformat.v4.new_output("error", ename=name, evalue=value, traceback=lines)
    if kind in ("display_data", "execute_result"):
        data = output.get("data")
        data = _fit_data(data) if isinstance(data, Mapping) else {}
        return nbformat.v4.new_output("display_data", data=data) if data else None
    return None


def _fit_data(data: Mapping[str, Any]) -> dict[str, str]:
    kept = {kind: writable(data[kind]) for kind in KEPT_TYPES if isinstance(data.get(kind), str)}
    if "image/png" in kept and not _is_png(kept["image/png"]):
        del kept["image/png"]
    return kept


def _is_png(text: str) -> bool:
    """Say whether this is a picture in the PNG format that a browser can hold."""
    try:
        kind, part, width, height = _PNG.unpack_from(
            base64.b64decode(text.replace("\n", ""), validate=True)
        )
    except (binascii.Error, ValueError, struct.error):
        return False
    return kind == b"\x89PNG\r\n\x1a\n" and part == b"IHDR" and width * height <= _MOST_PIXELS


def _length(output: NotebookNode) -> int:
    """Return how many characters an output counts, without the overhead of its own."""
    parts = [*output.get("data", {}).values(), output.get("text", "")]
    parts += [output.get("ename", ""), output.get("evalue", "")]
    lines = output.get("traceback", [])
    return sum(map(len, parts)) + sum(len(line) + _OVERHEAD for line in lines)
