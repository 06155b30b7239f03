"""Remarks on cells: one sentence for all cells of which the same is to be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: A sentence names no more cells than this.
MOST_NAMED = 40


def listed(names: Sequence[str]) -> str:
    """Return the names as a sentence lists them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def about(names: Sequence[str], one: str, many: str) -> str:
    """Return a sentence that begins with the cells it is about.

    Examples
    --------
    >>> about(["softmax"], "was empty.", "were empty.")
    'The cell softmax was empty.'
    >>> about(["softmax", "masks"], "was empty.", "were empty.")
    'The cells softmax and masks were empty.'
    """
    if len(names) == 1:
        return f"The cell {names[0]} {one}"
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return f"The cells {listed(names)} {many}"


@dataclass
class Remarks:
    """Names of cells by what is to be said of them."""

    names: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, name: str, one: str, many: str) -> None:
        """Say something of one more cell; the last two as in `about`."""
        self.names.setdefault((one, many), []).append(name)

    def sentences(self, order: Mapping[str, int] | None = None) -> list[str]:
        """Return what is to be said; a sentence names its cells in this order."""
        if order is not None:
            for names in self.names.values():
                names.sort(key=lambda name: order.get(name, -1))
        return [about(names, one, many) for (one, many), names in self.names.items()]
