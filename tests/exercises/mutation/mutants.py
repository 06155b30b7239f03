"""Mutants: small changes of a right answer's source, to find slips that no one has listed.

Every rule takes one place in the program and yields what a learner might write there instead. A
change is dropped if it gives the same program as the original or as another change.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import chain

from tests.exercises.mutation.places import as_statements, places
from tests.exercises.mutation.rules import RULES


@dataclass(frozen=True)
class Mutant:
    """An answer with one small change."""

    name: str  #: the statement as it now reads, or "without …"
    line: int  #: line number in the answer
    source: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.name}"


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of an answer, in the order of its lines.

    Parameters
    ----------
    source : str
        The right answer.

    Examples
    --------
    >>> [mutant.name for mutant in mutants("half = a / 2")][:3]
    ['half = -(a / 2)', 'half = 2 / a', 'half = a']
    """
    tree = ast.parse(source)
    before = [ast.unparse(statement) for statement in tree.body]
    seen = {"\n".join(before)}
    names: set[str] = set()
    found: list[Mutant] = []
    for place in places(tree):
        for replacement in chain.from_iterable(rule(place) for rule in RULES):
            with place.holding(replacement):
                # The other statements of the cell stay as they are.
                top = place.top
                middle = [] if place.parent is tree else [ast.unparse(tree.body[top])]
                if place.parent is tree:
                    middle = [ast.unparse(node) for node in as_statements(replacement)]
                changed = "\n".join([*before[:top], *middle, *before[top + 1 :]])
                name = place.told(replacement)
            if changed in seen or not _compiles(changed):
                continue
            seen.add(changed)
            if name in names:
                name += f" (line {place.line})"
            names.add(name)
            found.append(Mutant(name, place.line, changed))
    return sorted(found, key=lambda mutant: mutant.line)


def _compiles(source: str) -> bool:
    try:
        compile(source, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
