"""Run right answers on many hidden inputs and count false failures.

python -m tests.exercises.proof.seeds                   # 1000 seeds of every assignment
python -m tests.exercises.proof.seeds 50 masking quiz   # 50 seeds of two
python -m tests.exercises.proof.seeds --styles 50 quiz  # the same in every style
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.exercises.proof.matrix import ROOT
from tests.exercises.proof.notebook import points, read, run
from tests.exercises.proof.proof import proofs


def failures(assignment: str, styles: bool, seed: int) -> str:
    """Return the failures with this seed.

    For the reference answers it also determines the learner id. Other styles have typed numbers of
    one learner.
    """
    cells = read(ROOT / "solutions" / assignment / f"{assignment}.ipynb")
    answers = {"reference": {"learner-id": f'learner_id = "learner {seed}"'}}
    if styles:
        answers |= {style: dict(right) for style, right in proofs()[assignment].right.items()}
    told = ""
    for style, right in answers.items():
        result = run(cells, right, seed=seed)
        for cell in result.lost(points(cells)):
            told += f"seed {seed}, {style}, {cell}:\n{result.reports[cell]}\n"
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="?", type=int, default=1000)
    parser.add_argument("assignments", nargs="*", default=sorted(proofs()))
    parser.add_argument("--styles", action="store_true", help="in every style of the proof")
    options = parser.parse_args()
    status = 0
    with ProcessPoolExecutor() as processes:
        for assignment in options.assignments:
            told = processes.map(
                partial(failures, assignment, options.styles), range(options.seeds), chunksize=25
            )
            found = [text for text in told if text]
            print(f"{assignment}: {len(found)} of {options.seeds} seeds failed", flush=True)
            print("".join(found), end="")
            status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
