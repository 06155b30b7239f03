"""Wrong answers that every assignment can contain, one module for each kind.

`SLIPS` of a module has them by assignment. Slips of one assignment only are in its own module.
"""

from __future__ import annotations

from tests.exercises.proof.proof import Slip
from tests.exercises.slips import drawings, extremes, methods, tolerances


def slips_of(assignment: str) -> dict[str, Slip]:
    """Return the slips of all kinds for one assignment."""
    found: dict[str, Slip] = {}
    for kind in (methods, extremes, tolerances, drawings):
        slips = kind.SLIPS.get(assignment, {})
        if twice := found.keys() & slips.keys():
            raise ValueError(f"slips_of: expected a name of its own for each slip, got {twice}.")
        found |= slips
    return found
