"""The committed results of the trials, as a file that is read and written."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from attn_lib.model.trials.masks import MaskTrial
from attn_lib.model.trials.scales import ScaleTrial, SoftmaxRows

#: The committed results; `python -m attn_lib.model.trials` writes them.
PATH = Path(__file__).with_name("trials.json")
#: Decimals that are kept.
DIGITS = 6


class Records(NamedTuple):
    """The results of all trials, and how they were made."""

    provenance: dict[str, Any]  #: command, versions, seconds of one core
    scales: list[ScaleTrial]  #: trainings with scores divided, and not
    masks: list[MaskTrial]  #: trainings with the future hidden, and not


def write_records(records: Records, path: Path) -> None:
    """Write results to a file, a line for each trial.

    Parameters
    ----------
    records : Records
    path : path
    """
    rounded = json.loads(
        json.dumps(
            {
                "provenance": records.provenance,
                "scales": [
                    {**t._asdict(), "start": t.start._asdict(), "end": t.end._asdict()}
                    for t in records.scales
                ],
                "masks": [t._asdict() for t in records.masks],
            }
        ),
        parse_float=lambda number: round(float(number), DIGITS),
    )
    parts = [f' "provenance": {json.dumps(rounded["provenance"])}']
    for name in ("scales", "masks"):
        lines = ",\n  ".join(map(json.dumps, rounded[name]))
        parts.append(f' "{name}": [\n  {lines}\n ]')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def read_records(path: Path | None = None) -> Records:
    """Return the committed results of the trials.

    Parameters
    ----------
    path : path, optional
        Another file that `write_records` wrote.

    Returns
    -------
    Records

    Examples
    --------
    >>> records = read_records()
    >>> [trial.masked for trial in records.masks]
    [True, False]
    >>> sorted({trial.d_k for trial in records.scales})
    [4, 16, 64]
    """
    # In Colab attn_lib is imported from its wheel, so the file is inside a zip file.
    file = files(__package__) / PATH.name if path is None else path
    read = json.loads(file.read_text(encoding="utf-8"))
    return Records(
        provenance=read["provenance"],
        scales=[
            ScaleTrial(**{**t, "start": SoftmaxRows(**t["start"]), "end": SoftmaxRows(**t["end"])})
            for t in read["scales"]
        ],
        masks=[MaskTrial(**t) for t in read["masks"]],
    )
