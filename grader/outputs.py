"""Outputs that come out of the sandbox, made fit to stand in a notebook.

A learner's process wrote them, so nothing about them is taken on trust: only the kinds below
are kept, and of each only the fields that nbformat knows, as plain text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

#: What a cell may show: no HTML, no JavaScript, no SVG.
KEPT_TYPES = ("text/plain", "image/png")

PNG_START = b"\x89PNG\r\n\x1a\n"


def fit_outputs(outputs: object) -> list[NotebookNode]:
    """Return the outputs that a notebook may hold; all else is left out.

    Examples
    --------
    >>> fit_outputs([{"output_type": "stream", "name": "stdout", "text": "3", "x": 1}, 7])
    [{'output_type': 'stream', 'name': 'stdout', 'text': '3'}]
    """
    if not isinstance(outputs, Sequence) or isinstance(outputs, (str, bytes)):
        return []
    fit = (_fit(output) for output in outputs if isinstance(output, Mapping))
    return [output for output in fit if output is not None]


def stopped_output(reason: str) -> NotebookNode:
    """Return the output of a cell that was stopped or not run."""
    text = f"This cell was stopped or not run: {reason}."
    return nbformat.v4.new_output("error", ename="Stopped", evalue=text, traceback=[text])


def _fit(output: Mapping[str, Any]) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream" and output.get("name") in ("stdout", "stderr"):
        text = _text(output.get("text"))
        return nbformat.v4.new_output("stream", name=output["name"], text=text)
    if kind == "error":
        lines = output.get("traceback")
        lines = [_text(line) for line in lines] if isinstance(lines, list) else []
        name, value = _text(output.get("ename")), _text(output.get("evalue"))
        return nbformat.v4.new_output("error", ename=name, evalue=value, traceback=lines)
    if kind in ("display_data", "execute_result"):
        data = output.get("data")
        data = _fit_data(data) if isinstance(data, Mapping) else {}
        return nbformat.v4.new_output("display_data", data=data) if data else None
    return None


def _fit_data(data: Mapping[str, Any]) -> dict[str, str]:
    kept = {kind: _text(data[kind]) for kind in KEPT_TYPES if isinstance(data.get(kind), str)}
    if "image/png" in kept and not _is_png(kept["image/png"]):
        del kept["image/png"]
    return kept


def _is_png(text: str) -> bool:
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).startswith(PNG_START)
    except (binascii.Error, ValueError):
        return False


def _text(value: object) -> str:
    """Return a text as one that every encoding can write."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
