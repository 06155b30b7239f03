"""What commands print: lines, a progress line, or one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from grader.printable import printable, printable_lines


class NobodyReads(Exception):
    """Raised if the program that reads the output, such as ``head``, has ended."""


def print_json(status: int, **found: object) -> None:
    """Print one JSON document with the exit status and what was found."""
    _print(json.dumps({"exit_status": status, **found}, indent=1))


class Progress:
    """A line that shows the progress, if the standard error stream is a terminal."""

    def __enter__(self) -> Callable[[object], None]:
        """Return what shows a line."""
        return self.show if sys.stderr.isatty() else lambda line: None

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        if sys.stderr.isatty():
            self.show("")

    def show(self, line: object) -> None:
        """Show a line in place of the last one."""
        print(f"\r\033[K{printable(str(line))}", end="", file=sys.stderr, flush=True)


def say(text: object, *, error: bool = False) -> None:
    """Print lines on the standard output or error stream, so that they cannot control a terminal.

    Names that someone else chose are escaped where the text is made, so that they cannot end a line
    either.
    """
    _print(printable_lines(str(text)), error=error)


def _print(text: str, *, error: bool = False) -> None:
    try:
        print(text, file=sys.stderr if error else sys.stdout)
    except BrokenPipeError:
        raise NobodyReads from None


def flush() -> None:
    """Write what is still to be written.

    Raises
    ------
    NobodyReads
        If nobody reads it any more.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise NobodyReads from None
