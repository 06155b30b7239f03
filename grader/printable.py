"""Show texts that others chose, such as the names of files, in a terminal or a log."""

from __future__ import annotations

import re

# Control characters, line separators, marks that reverse the direction of what follows, and the
# halves of a surrogate pair, by which Python stands for bytes that are not UTF-8.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return a text that cannot move the cursor, hide or reorder what is printed, or end a line.

    Examples
    --------
    >>> printable("Jos\xe9\n\x1b[2J"), printable("\udce9")
    ('José\\n\\x1b[2J', '\\udce9')
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def printable_lines(text: str) -> str:
    r"""Return a text of several lines, each as `printable` returns it.

    Examples
    --------
    >>> printable_lines("one\n\x1b[2Jtwo")
    'one\n\\x1b[2Jtwo'
    """
    return "\n".join(map(printable, text.split("\n")))
