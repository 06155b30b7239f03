"""The text of a notebook's file, made without holding it in memory several times."""

from __future__ import annotations

import copy

from nbformat import NotebookNode
from nbformat.v4.nbjson import BytesEncoder
from nbformat.v4.rwbase import split_lines, strip_transient


def written(notebook: NotebookNode) -> str:
    """Return the same text as `nbformat.writes`, with a line feed at its end.

    nbformat joins all pieces of the text at once, each with up to four bytes for a character.

    Examples
    --------
    >>> from nbformat.v4 import new_notebook
    >>> written(new_notebook()).splitlines()[1]
    ' "cells": [],'
    """
    return _encoded(notebook).decode("utf-8", "surrogatepass")


def _encoded(notebook: NotebookNode) -> bytearray:
    lines = strip_transient(split_lines(copy.deepcopy(notebook)))
    encoder = BytesEncoder(indent=1, sort_keys=True, separators=(",", ": "), ensure_ascii=False)
    text = bytearray()
    for piece in encoder.iterencode(lines):
        text += piece.encode("utf-8", "surrogatepass")
    text += b"\n"
    return text
