"""Measure what mistakes do to the course's model, and write the committed file.

python -m attn_lib.course.effects.measure            # put every mistake into the trained model
python -m attn_lib.course.effects.measure --train    # and train with mistakes: a quarter of an hour
python -m attn_lib.course.effects.measure --train no-scale hard-attention    # with these alone
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path
from typing import Any

import numpy as np

from attn_lib.course.effects.insertion import (
    N_SENTENCES,
    PLACES,
    SEED,
    Effect,
    insertion_effect,
)
from attn_lib.course.effects.measured import PATH, Measured, read, write
from attn_lib.course.effects.retraining import TRAINABLE, Retraining, retrain, train_rightly
from attn_lib.course.mistakes import catalogue
from attn_lib.model import train
from attn_lib.model.training import BATCH_SIZE, STEPS


def main() -> None:
    """Measure, and write the file again after each training."""
    parser = argparse.ArgumentParser(
        prog="python -m attn_lib.course.effects.measure", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--train", nargs="*", metavar="ID", help="train with these mistakes; without ids, with all"
    )
    parser.add_argument("--to", type=Path, default=PATH, help="another file to write to (.json)")
    options = parser.parse_args()
    ids = options.train if options.train != [] else list(TRAINABLE)
    known = read(options.to) if options.to.exists() else None
    right = train_rightly() if known is None or options.train == [] else known.right
    retrained = {} if known is None else dict(known.retrained)
    inserted = insert_all()
    for id in [None, *(ids or ())]:
        if id is not None:
            retrained[id] = retrain(id)
            print(f"{id}: {_shares(retrained[id])}", flush=True)
        in_order = {id: retrained[id] for id in TRAINABLE if id in retrained}
        write(Measured(inserted, in_order, right, provenance()), options.to)


def insert_all() -> dict[str, Effect]:
    """Return the effects of all mistakes that can be put into the trained model."""
    return {
        mistake.id: insertion_effect(mistake) for mistake in catalogue() if mistake.target in PLACES
    }


def provenance() -> dict[str, Any]:
    """Return what the measurements are made from."""
    return {
        "command": "python -m attn_lib.course.effects.measure --train",
        "training": {"seed": train.SEED, "steps": STEPS, "batch_size": BATCH_SIZE},
        "held_out": {"seed": SEED, "sentences": N_SENTENCES},
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _shares(retraining: Retraining) -> str:
    return ", ".join(
        f"{name} " + " ".join(f"{share:.3f}" for share in getattr(retraining, name).values())
        for name in ("reading", "writing", "corrected")
    )


if __name__ == "__main__":
    main()
