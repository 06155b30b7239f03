"""Printing texts where a terminal or a file has no colours, or lacks some of their characters."""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TextIO

#: What stands for a character that cannot be written.
SPELLED = {
    "√": "sqrt ",
    "−": "-",
    "·": "*",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "→": "->",
    "←": "<-",
    "…": "...",
    "–": "-",
    "—": "-",
    "∞": "inf",
    "∑": "sum",
    "∂": "d",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}

_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_in_colour: ContextVar[bool] = ContextVar("in_colour", default=False)


@contextlib.contextmanager
def colours(wanted: bool) -> Iterator[None]:
    """Let `alarming` colour its text in this context, if that is wanted."""
    token = _in_colour.set(wanted)
    try:
        yield
    finally:
        _in_colour.reset(token)


def has_colours(out: TextIO) -> bool:
    """Say whether a file is a terminal that shows colours, to somebody who has not declined them.

    The environment variable NO_COLOR declines them; see https://no-color.org.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    understands = sys.platform != "win32" or "WT_SESSION" in os.environ
    return understands and out.isatty()


def alarming(text: str) -> str:
    r"""Return the text of a failure, in colour where colours are wanted.

    Examples
    --------
    >>> alarming("mask: not yet")
    'mask: not yet'
    >>> with colours(True):
    ...     alarming("mask: not yet")
    '\x1b[31mmask: not yet\x1b[0m'
    """
    return f"{_RED}{text}{_PLAIN}" if _in_colour.get() else text


def say(text: str) -> None:
    """Print a text; nothing of it is lost, whatever the encoding of the standard output is."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(written_in(encoding, text))


def written_in(encoding: str, text: str) -> str:
    r"""Return the text with each character that the encoding lacks spelled out.

    Parameters
    ----------
    encoding : str
        As in the attribute `encoding` of a file.
    text : str

    Examples
    --------
    >>> written_in("cp1252", "divide by √d_k, the standard deviation σ = x² − 1")
    'divide by sqrt d_k, the standard deviation sigma = x² - 1'
    >>> written_in("ascii", "x² ∉ é")
    'x^2 \\u2209 \\xe9'
    """
    return "".join(
        character if _has(encoding, character) else _spelled(character) for character in text
    )


def _has(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    except LookupError:
        return character.isascii()
    return True


def _spelled(character: str) -> str:
    if character in SPELLED:
        return SPELLED[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK SMALL LETTER "):
        return name.rpartition(" ")[2].lower()
    sign = {"<super>": "^", "<sub>": "_"}
    kind, _, code = unicodedata.decomposition(character).partition(" ")
    if kind in sign and " " not in code and chr(int(code, 16)).isascii():
        return sign[kind] + chr(int(code, 16))
    return character.encode("ascii", "backslashreplace").decode("ascii")
