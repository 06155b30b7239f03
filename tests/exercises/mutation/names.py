"""Dependencies between cells by the names they use, to make small notebooks around one answer."""

from __future__ import annotations

import symtable
from collections.abc import Collection, Mapping
from typing import Any

from nbgrader.utils import is_grade


class Names:
    """The names that the cells of a notebook define and use.

    Parameters
    ----------
    cells : list
        The notebook.
    looked_at : mapping
        By test cell, the names that its checks look at.
    """

    def __init__(self, cells: list[Any], looked_at: Mapping[str, Collection[str]]) -> None:
        self.cells = cells
        self.made = {id(cell): names_made(cell) for cell in cells}
        self.used = {id(cell): _names_used(cell, looked_at) for cell in cells}

    def trials_of(self, answer: Any) -> list[list[Any]]:
        """Return small notebooks, one for each test cell that depends on an answer.

        The answer's own tests come first, because they are the most likely to fail.
        """
        trials = []
        for tests in self.cells:
            if tests.cell_type != "code" or not is_grade(tests):
                continue
            trial = self.needed_by(tests)
            if answer in trial:
                own = bool(self.used[id(tests)] & self.made[id(answer)])
                trials.append((not own, [*trial, tests]))
        return [trial for _, trial in sorted(trials, key=lambda pair: pair[0])]

    def needed_by(self, last: Any) -> list[Any]:
        """Return, in order, the cells on which `last` depends, directly or indirectly."""
        wanted = set(self.used[id(last)])
        chosen = []
        for cell in reversed(self.cells[: self.cells.index(last)]):
            is_code = cell.cell_type == "code" and not is_grade(cell)
            if is_code and self.made[id(cell)] & wanted:
                chosen.append(cell)
                wanted |= self.used[id(cell)]
        return chosen[::-1]


def names_made(cell: Any) -> set[str]:
    """Return the names that a cell assigns at its top level."""
    if cell.cell_type != "code":
        return set()
    symbols = symtable.symtable(cell.source, cell.id, "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def _names_used(cell: Any, looked_at: Mapping[str, Collection[str]]) -> set[str]:
    """Return the names that a cell reads; for a test cell, those that its checks read."""
    if cell.cell_type != "code":
        return set()
    if is_grade(cell):
        asks_for_the_id = {"learner_id"} if ".learner_id()" in cell.source else set()
        return {*looked_at.get(cell.id, ())} | asks_for_the_id
    top = symtable.symtable(cell.source, cell.id, "exec")
    names = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    inner = top.get_children()
    while inner:
        scope = inner.pop()
        inner += scope.get_children()
        names |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global()}
    return names
