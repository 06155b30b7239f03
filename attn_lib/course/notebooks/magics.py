"""What is left of a cell's Python when Jupyter's own commands are taken out."""

from __future__ import annotations

import ast
import re
import warnings

#: Cell magics whose cells are Python.
PYTHON_CELLS = ("%%time", "%%capture", "%%prun")

#: Cell magics whose cells are not Python, or keep none of the names that they define.
OTHER_CELLS = (
    *("%%bash", "%%sh", "%%cmd", "%%script", "%%!", "%%sx", "%%system", "%%perl", "%%ruby"),
    *("%%html", "%%HTML", "%%javascript", "%%js", "%%latex", "%%markdown", "%%svg", "%%SVG"),
    *("%%python", "%%python2", "%%python3", "%%pypy", "%%writefile", "%%file", "%%timeit"),
)

_MAGIC = re.compile(r"(\s*)(?!#)(?:[%!?].*|[\w, ]+=\s*[%!].*|.*[\w)\]]\?{1,2}\s*)")


def without_magics(source: str) -> tuple[str, list[tuple[int, str]]]:
    r"""Return the cell's Python code, and the lines left out, with their numbers.

    Examples
    --------
    >>> without_magics("%matplotlib widget\nx = 1")
    ('pass\nx = 1', [(1, '`%matplotlib widget`')])
    >>> without_magics("%%bash\nls")
    ('', [(1, 'the cell, which begins with %%bash')])
    """
    if is_python(source):  # a line may begin with % inside brackets or a string
        return source, []
    lines = source.splitlines()
    skipped = []
    for number, line in enumerate(lines):
        magic = _MAGIC.fullmatch(line)
        if magic:
            skipped.append((number + 1, f"`{line.strip()}`"))
            lines[number] = f"{magic[1]}pass"  # a block must not be empty
    code = "\n".join(lines)
    first = source.split()[0] if source.split() else ""
    other = first in OTHER_CELLS or not (first in PYTHON_CELLS or is_python(code))
    if first.startswith("%%") and other:
        return "", [(1, f"the cell, which begins with {first}")]
    return code, skipped


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a text that may be anything; None if it is not Python code.

    Python's warnings, such as that of an unknown escape, are left to the execution of the code.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_python(source: str) -> bool:
    """Return whether a text is Python code."""
    return parsed(source) is not None
