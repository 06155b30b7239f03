"""Compare the time of attn_lib's attention with a textbook NumPy version and with PyTorch.

    .venv/bin/python benchmarks/attention.py            # print the table
    .venv/bin/python benchmarks/attention.py --write    # and write it to benchmarks/RESULTS.md

PyTorch is timed if it can be imported (`pip install torch`, the CPU build). All versions get the
same inputs and two cores, and take turns with a pause between them. The fastest call of each
counts, because other programs on the computer can only add time.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path

THREADS = 2
# Set before NumPy is imported, because its BLAS starts one thread for each core it finds.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])

import numpy as np  # noqa: E402

import attn_lib  # noqa: E402
from attn_lib._parallel import run_on_all_cores  # noqa: E402
from attn_lib.complexity import peak_extra_bytes, seconds_in_turns, weights_bytes  # noqa: E402
from attn_lib.figures.tables import table  # noqa: E402
from attn_lib.streaming import BLOCKS, key_blocks, queries_in_a_block  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

RESULTS = Path(__file__).with_name("RESULTS.md")
SHAPES = [(4, 8, 100, 64), (1, 8, 1024, 64), (1, 8, 2048, 64), (1, 4, 4096, 64), (1, 1, 32768, 64)]
LONG = 32768  # positions
#: Number of scores to compute in one turn. After a pause the cores take some milliseconds
#: to wake up, and a turn of one short call would measure mostly that.
SCORES_IN_A_TURN = 2**24
PAUSE = 0.1  # seconds
ROUNDS = 7
ROUNDS_OF_LONG_SEQUENCES = 1  # some seconds a call
# The textbook version and the dense form hold several copies of the weights.
MAX_DENSE_WEIGHTS = 2**30  # bytes


def textbook(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """Compute attention by the formula, in five lines of NumPy, as a textbook does."""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(q.shape[-1]))
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True) @ v


def limit(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> Callable[[], None]:
    """Return a function that computes only both products and the exponentials.

    Every streaming form in NumPy needs at least these, so their time is a lower limit. They are
    computed in the blocks of `attn_lib.streaming`, on all cores, into preallocated memory. Nothing
    is masked, summed or divided.
    """
    *batch, n, d = q.shape
    n_heads = math.prod(batch)
    q, k, v = (array.reshape(n_heads, n, d) for array in (q / np.float32(math.sqrt(d)), k, v))
    room = BLOCKS.queries * BLOCKS.keys
    rows = queries_in_a_block(n_heads, n)
    keys = min(room // rows, n)
    heads = min(batch[-1], max(1, room // (rows * keys)))
    memory = threading.local()

    def compute(task: tuple[int, int]) -> None:
        head, first = task
        if not hasattr(memory, "scores"):
            memory.scores = np.empty(heads * rows * keys, q.dtype)
            memory.output = np.empty((heads, rows, d), q.dtype)
        queries = slice(first, min(first + rows, n))
        block = q[head : head + heads, queries]
        for seeing, part in key_blocks(queries, n, keys, 0 if causal else None):
            seen_from = block[:, seeing]
            shape = (*seen_from.shape[:2], part.stop - part.start)
            scores = memory.scores[: math.prod(shape)].reshape(shape)
            np.matmul(seen_from, k[head : head + heads, part].swapaxes(-1, -2), out=scores)
            np.exp(scores, out=scores)
            output = memory.output[: shape[0], : shape[1]]
            np.matmul(scores, v[head : head + heads, part], out=output)

    tasks = [
        (head, first) for first in reversed(range(0, n, rows)) for head in range(0, n_heads, heads)
    ]
    return lambda: run_on_all_cores(compute, tasks)


def contestants(shape: tuple[int, ...], causal: bool) -> dict[str, Callable[[], object]]:
    """Return every version that can compute this shape, and the limit, all on the same inputs.

    All versions except the limit give the same numbers.
    """
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(shape, dtype=np.float32) for _ in range(3))

    def ours(method):
        return lambda: attn_lib.scaled_dot_product_attention(
            q, k, v, is_causal=causal, method=method
        )

    batch, heads, n, _ = shape
    functions = {}
    if weights_bytes(batch * heads, n, n) <= MAX_DENSE_WEIGHTS:
        functions |= {"textbook": lambda: textbook(q, k, v, causal), "dense": ours("dense")}
    functions |= {"streaming": ours("streaming"), "auto": ours("auto")}
    if torch is not None:
        tensors = [torch.from_numpy(array) for array in (q, k, v)]
        attention = torch.nn.functional.scaled_dot_product_attention
        functions["PyTorch"] = lambda: attention(*tensors, is_causal=causal).numpy()
    expected = functions["streaming"]()
    for name, function in functions.items():
        np.testing.assert_allclose(function(), expected, rtol=1e-4, atol=2e-6, err_msg=name)
    return functions | {"limit": limit(q, k, v, causal)}


def measure() -> str:
    """Return two Markdown tables: times and memory."""
    times, memory = [], []
    for shape in SHAPES:
        for causal in (False, True):
            functions = contestants(shape, causal)
            rounds = ROUNDS if shape[2] < LONG else ROUNDS_OF_LONG_SEQUENCES
            batch, heads, n, _ = shape
            in_a_row = max(1, SCORES_IN_A_TURN // (batch * heads * n**2))
            seconds = seconds_in_turns(functions, rounds, of=min, in_a_row=in_a_row, pause=PAUSE)
            best = min(seconds.get("dense", np.inf), seconds["streaming"])
            label = [str(shape), "causal" if causal else "full"]
            times.append(
                [
                    *label,
                    *(milliseconds(seconds.get(n)) for n in ("textbook", "dense", "streaming")),
                    milliseconds(seconds["auto"]),
                    milliseconds(seconds.get("PyTorch")),
                    milliseconds(seconds["limit"]),
                    ratio(seconds["streaming"], seconds.get("PyTorch")),
                    ratio(seconds["auto"], seconds.get("PyTorch")),
                    ratio(seconds["auto"], best),
                    ratio(seconds["auto"], seconds["limit"]),
                ]
            )
            print(*times[-1], flush=True)
            peaks = {
                name: f"{peak_extra_bytes(function) / 2**20:.1f}"
                for name, function in functions.items()
                if name in ("textbook", "dense", "streaming")
            }
            memory.append(
                [
                    *label,
                    f"{weights_bytes(batch * heads, n, n) / 2**20:.1f}",
                    *(peaks.get(name, NOT_RUN) for name in ("textbook", "dense", "streaming")),
                ]
            )
    header = [
        "shape (B, H, n, d)",
        "mask",
        "textbook",
        "dense",
        "streaming",
        "auto",
        "PyTorch",
        "limit",
    ]
    ratios = ["streaming ÷ PyTorch", "auto ÷ PyTorch", "auto ÷ better of both", "auto ÷ limit"]
    time_table = table([*header, *ratios], times)
    memory_table = table([*header[:2], "the weights alone", *header[2:5]], memory)
    return (
        f"## Time in milliseconds\n\n{time_table}\n\n"
        f"## Memory beyond the inputs at its peak, in MiB\n\n{memory_table}\n"
    )


NOT_RUN = "–"


def milliseconds(seconds: float | None) -> str:
    return NOT_RUN if seconds is None else f"{seconds * 1e3:.1f}"


def ratio(ours: float, theirs: float | None) -> str:
    return NOT_RUN if theirs is None else f"{ours / theirs:.2f}"


def machine() -> str:
    """Return the hardware and software that the times depend on, as a Markdown list."""
    configuration = np.show_config(mode="dicts")
    blas = configuration["Build Dependencies"]["blas"]
    lines = {
        "Date": date.today().isoformat(),
        "Processor": processor(),
        "Threads": THREADS,
        "Python": platform.python_version(),
        "NumPy": f"{np.__version__}, {blas['name']} {blas['version']}, "
        f"SIMD found: {', '.join(configuration['SIMD Extensions']['found']) or 'none'}",
        "PyTorch": "not installed" if torch is None else torch.__version__,
    }
    return "\n".join(f"- {name}: {value}" for name, value in lines.items())


def processor() -> str:
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in cpuinfo.splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    return " ".join(
        f"{word}{facts[name]}"
        for name, word in (("model name", ""), ("cpu family", "family "), ("model", "model "))
        if name in facts
    )


INTRODUCTION = """\
# attn_lib's attention compared with PyTorch's

Written by `benchmarks/attention.py --write`. All numbers are float32. In each of {rounds} rounds
({few_rounds} from {long} positions on) all versions take turns on the same inputs, with a pause of
{pause} s before each turn. A turn repeats a short call until it has computed about {scores:,}
scores. The table has the fastest call of all rounds.

*limit* is the time of both products and the exponentials only, in the same blocks and on the same
cores, with nothing masked, summed or divided. Attention in NumPy cannot do without these steps.
*auto* chooses the dense or the streaming form; *better of both* is the faster of these two.

A dash means not run: several copies of the weights would take too much memory, or PyTorch is
missing. The memory is that of NumPy's arrays. It leaves out PyTorch's memory and the block of
scores, at most {block:.1f} MiB, that each thread keeps from call to call.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    if torch is not None:
        torch.set_num_threads(THREADS)
    introduction = INTRODUCTION.format(
        rounds=ROUNDS,
        few_rounds=ROUNDS_OF_LONG_SEQUENCES,
        long=LONG,
        pause=PAUSE,
        scores=SCORES_IN_A_TURN,
        block=BLOCKS.queries * BLOCKS.keys * np.dtype(np.float32).itemsize / 2**20,
    )
    report = f"{introduction}{machine()}\n\n{measure()}"
    if arguments.write:
        RESULTS.write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
