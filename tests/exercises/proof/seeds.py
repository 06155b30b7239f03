"""Run the reference answers on many hidden inputs and count false failures.

python -m tests.exercises.proof.seeds                   # 1000 seeds of every assignment
python -m tests.exercises.proof.seeds 50 masking quiz   # 50 seeds of two
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.exercises.proof.matrix import ROOT
from tests.exercises.proof.notebook import points, read, run
from tests.exercises.proof.proof import proofs


def failures(assignment: str, seed: int) -> str:
    """Return the failures with this seed, which also determines the learner id."""
    cells = read(ROOT / "solutions" / assignment / f"{assignment}.ipynb")
    result = run(cells, {"learner-id": f'learner_id = "learner {seed}"'}, seed=seed)
    lost = result.lost(points(cells))
    return "".join(f"seed {seed}, {cell}:\n{result.reports[cell]}\n" for cell in lost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="?", type=int, default=1000)
    parser.add_argument("assignments", nargs="*", default=sorted(proofs()))
    options = parser.parse_args()
    status = 0
    with ProcessPoolExecutor() as processes:
        for assignment in options.assignments:
            told = processes.map(partial(failures, assignment), range(options.seeds), chunksize=25)
            found = [text for text in told if text]
            print(f"{assignment}: {len(found)} of {options.seeds} seeds failed", flush=True)
            print("".join(found), end="")
            status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
