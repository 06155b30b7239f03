"""What an answer mentions that honest answers have no need of. Whoever teaches takes a look.

A word proves nothing, so a mention takes no points. And its absence proves nothing: names can be
put together while the code runs.
"""

from __future__ import annotations

import re

from attn_lib.course.checks.borrowing import holds_answers

#: Ways to read other functions, and to escape the watch over what an answer calls.
WATCH_WORDS = (
    *("inspect", "setprofile", "settrace", "_getframe", "monitoring", "get_objects", "__globals__"),
    *("f_globals", "f_locals", "f_back", "TARGETS"),
)

_WORD = re.compile(r"(?<![\w.])([a-zA-Z_][\w.]*)")
_COMMENT_OR_TEXT = re.compile(
    r"(\"{3}|'{3})[\s\S]*?(?:\1|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#.*"
)


def mentioned(source: str) -> list[str]:
    r"""Return what an answer's code mentions: modules with answers, and words of `WATCH_WORDS`.

    Comments and texts do not count. The code may be anything; it is not parsed.

    Examples
    --------
    >>> mentioned("import inspect, attn_lib.course.targets  # setprofile\nx = 'TARGETS'")
    ['attn_lib.course.targets', 'inspect']
    >>> mentioned("from attn_lib.figures.style import course_style")
    []
    """
    found = set()
    for word in _WORD.findall(_COMMENT_OR_TEXT.sub(" ", source)):
        name = word.rstrip(".")
        if holds_answers(name):
            found.add(name)
        found |= {part for part in name.split(".") if part in WATCH_WORDS}
    return sorted(found)
