"""Train attn_lib.model from ten seeds, and report each model's skills and heads.

    OPENBLAS_NUM_THREADS=1 .venv/bin/python benchmarks/model_seeds.py
    OPENBLAS_NUM_THREADS=1 .venv/bin/python benchmarks/model_seeds.py --seeds 3 --steps 600

Each seed draws its own initial parameters and training sentences. All models are tested on the
same 2,000 held-out sentences; `opposed` is the accuracy on agreement sentences in which a noun
between subject and verb has the other grammatical number. Times are for one core.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from attn_lib.model import (
    CONFIG,
    accuracy,
    draw_sentences,
    find_heads,
    has_opposed_attractor,
    initialise,
    train_model,
)
from attn_lib.model.training import STEPS

HELD_OUT = 2000
HELD_OUT_SEED = 10**6
GOAL = 0.99


def main() -> None:
    """Print a line for each seed, and how many seeds reach the goal in both skills."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--steps", type=int, default=STEPS, help="batches of 64 sentences")
    parser.add_argument("--positions", default=CONFIG.positions, help="as in attn_lib.model.Config")
    options = parser.parse_args()
    sentences = draw_sentences(HELD_OUT, np.random.default_rng(HELD_OUT_SEED), held_out=True)
    opposed = [sentence for sentence in sentences if has_opposed_attractor(sentence)]
    print(f"seed  seconds  recall  agreement  opposed ({len(opposed)})  heads: layer.head score")
    config = CONFIG._replace(positions=options.positions)
    reached = 0
    for seed in range(options.first, options.first + options.seeds):
        start = time.process_time()
        model = train_model(initialise(config, seed), seed, steps=options.steps).model
        seconds = time.process_time() - start
        of_all, of_opposed = accuracy(model, sentences), accuracy(model, opposed)
        reached += min(of_all.values()) >= GOAL
        heads = ", ".join(
            f"{role} {head.layer}.{head.head} {head.score:.2f}"
            for role, head in find_heads(model, sentences).items()
        )
        print(
            f"{seed:4}  {seconds:7.1f}  {of_all['recall']:6.4f}  {of_all['agreement']:9.4f}  "
            f"{of_opposed['agreement']:14.4f}  {heads}",
            flush=True,
        )
    print(f"{reached} of {options.seeds} seeds reach {GOAL:.0%} in both skills.")


if __name__ == "__main__":
    main()
