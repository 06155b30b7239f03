"""Run the trials of the course's model again and overwrite their committed results.

python -m attn_lib.model.trials
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from pathlib import Path

import numpy as np

from attn_lib.model.trials import masks, records, scales
from attn_lib.model.weights import save

#: Initial models and training sentences for each kind of trial.
SEEDS = 3


def main() -> None:
    """Train, write the results after each training, and print how each one ended."""
    parser = argparse.ArgumentParser(
        prog="python -m attn_lib.model.trials", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--to", type=Path, default=records.PATH.parent, help="another folder")
    folder = parser.parse_args().to
    start = time.process_time()
    results = records.Records({}, [], [])

    def write() -> None:
        provenance = {
            "command": "python -m attn_lib.model.trials",
            "python": platform.python_version(),
            "numpy": np.__version__,
            "seconds": round(time.process_time() - start),
        }
        records.write_records(results._replace(provenance=provenance), folder / records.PATH.name)

    for masked in (True, False):
        mask_result, training = masks.mask_trial(masked)
        results.masks.append(mask_result)
        print(f"{'with' if masked else 'without'} the mask: loss {mask_result.losses[-1]:.4f}")
    save(training.model, folder / masks.PATH.name)
    write()
    for seed in range(SEEDS):
        for d_k in scales.WIDTHS:
            for divided in (True, False):
                for spread in (1.0, math.sqrt(d_k)):
                    trial = scales.scale_trial(d_k, divided, spread, seed)
                    results.scales.append(trial)
                    write()
                    print(
                        f"seed {seed}, d_k {d_k}, {'divided' if divided else 'not divided'}, "
                        f"spread {spread:g}: recall {trial.recall[-1]:.3f}, "
                        f"agreement {trial.agreement[-1]:.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
