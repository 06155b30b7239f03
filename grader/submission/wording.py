"""Remarks on cells: one sentence for all cells with the same remark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Maximum number of cells that a sentence names.
MAX_NAMED = 40


def listed(names: Sequence[str]) -> str:
    """Return the names joined by commas and "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def about(names: Sequence[str], one: str, many: str) -> str:
    """Return a sentence with the cells as its subject.

    Examples
    --------
    >>> about(["softmax"], "was empty.", "were empty.")
    'The cell softmax was empty.'
    >>> about(["softmax", "masks"], "was empty.", "were empty.")
    'The cells softmax and masks were empty.'
    """
    if len(names) == 1:
        return f"The cell {names[0]} {one}"
    if len(names) > MAX_NAMED:
        names = [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED} more"]
    return f"The cells {listed(names)} {many}"


@dataclass
class Remarks:
    """Collects remarks, and the names of the cells that each is about."""

    names: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, name: str, one: str, many: str) -> None:
        """Add a remark on a cell, in the singular and the plural; see `about`."""
        self.names.setdefault((one, many), []).append(name)

    def sentences(self, order: Mapping[str, int] | None = None) -> list[str]:
        """Return the sentences; each names its cells in this order."""
        if order is not None:
            for names in self.names.values():
                names.sort(key=lambda name: order.get(name, -1))
        return [about(names, one, many) for (one, many), names in self.names.items()]
