"""Tables of computed numbers, displayed as Markdown, which both pages and notebooks render."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class Table:
    """A Markdown table, which notebooks and the book render as a table."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], digits: int = 4) -> Table:
    """Return a table. Floats are rounded for display; other cells are shown unchanged.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences, each as long as `header`
    digits : int
        Decimals shown for floats.

    Raises
    ------
    ValueError
        If a row is not as long as the header.

    Examples
    --------
    >>> table(["key", "score"], [("a", 3.5355), ("b", -1)], digits=2)
    | key | score |
    | --- | --- |
    | a | 3.54 |
    | b | −1 |
    """
    lines = [list(header), ["---"] * len(header)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"table: expected rows of {len(header)} cells like the header, got {len(row)}."
            )
        lines.append([_cell(value, digits) for value in row])
    return Table("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _cell(value: str | float, digits: int) -> str:
    if isinstance(value, str):
        return value.replace("|", "\\|")
    text = str(value) if isinstance(value, int) else f"{value:.{digits}f}"
    return text.replace("-", "−")
