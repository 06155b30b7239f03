"""The measured effects of mistakes, in a file: `measure` writes it, the book reads it.

Training a model takes most of a minute and there are dozens of trainings, so they cannot be done
while the book is built. A test inserts every mistake again and takes the first steps of every
training again; it fails where the file is out of date.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from attn_lib.course.effects.insertion import Effect
from attn_lib.course.effects.retraining import Retraining

#: The committed file; ``python -m attn_lib.course.effects.measure`` writes it.
PATH = Path(__file__).with_name("measured.json")
_DIGITS = 6


class Measured(NamedTuple):
    """The effects of mistakes, by id."""

    inserted: dict[str, Effect]  #: in the trained model
    retrained: dict[str, Retraining]  #: in a model trained with the mistake
    right: Retraining  #: the course's model, trained with no mistake
    provenance: dict[str, Any]  #: command, seeds, sizes and versions


@cache
def measured() -> Measured:
    """Return the committed measurements.

    Returns
    -------
    Measured
        The same object at each call.

    Examples
    --------
    >>> measured().inserted["softmax-that-overflows"].accuracy
    {'recall': 1.0, 'agreement': 1.0}
    """
    return read(PATH)


def read(path: Path) -> Measured:
    """Return the measurements in a file that `write` wrote."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    return Measured(
        {
            id: Effect(entry["accuracy"], _number(entry["moved"]))
            for id, entry in entries["inserted"].items()
        },
        {id: _retraining(entry) for id, entry in entries["retrained"].items()},
        _retraining(entries["right"]),
        entries["provenance"],
    )


def write(measurements: Measured, path: Path) -> None:
    """Write measurements to a file, numbers to six digits, NaN as null."""
    entries = {
        "provenance": measurements.provenance,
        "right": measurements.right._asdict(),
        "inserted": {id: entry._asdict() for id, entry in measurements.inserted.items()},
        "retrained": {id: entry._asdict() for id, entry in measurements.retrained.items()},
    }
    path.write_text(json.dumps(_plain(entries), indent=1) + "\n", encoding="utf-8")


def _retraining(entry: dict[str, Any]) -> Retraining:
    losses, curve = (tuple(map(_number, entry.pop(name))) for name in ("losses", "curve"))
    return Retraining(losses=losses, curve=curve, **entry)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value
