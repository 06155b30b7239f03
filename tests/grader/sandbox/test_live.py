"""What a test cell sees of a submission: copies of its values, in all no more than can be held."""

from __future__ import annotations

import numpy as np

from grader.live import MOST_VALUES, Live
from grader.wire import Opaque
from tests.grader.sandbox.probes import LIMITS

NAMES = [f"x{number:02}" for number in range(2 * MOST_VALUES)]


def test_values_that_are_too_large_together_are_not_all_looked_at(sandbox):
    with Live(sandbox, LIMITS) as live:
        live.run_cell(
            "a", f"import numpy as np\nfor name in {NAMES}: globals()[name] = np.ones(90_000)"
        )
        seen = live.stand_ins(NAMES)
    assert list(seen) == NAMES
    looked_at = [name for name in NAMES if isinstance(seen[name], np.ndarray)]
    # As many as there is room for, and one that goes beyond.
    assert len(looked_at) == MOST_VALUES * 2**20 // (8 * 90_000) + 1
    assert looked_at == NAMES[: len(looked_at)]
    assert all(isinstance(seen[name], Opaque) for name in NAMES[len(looked_at) :])
    assert type(seen[NAMES[-1]]).__name__ == "object not looked at: the others are too large"


def test_a_function_is_seen_as_one(sandbox):
    with Live(sandbox, LIMITS) as live:
        live.run_cell("a", "def f(x): return x + 1")
        (seen,) = live.stand_ins(["f", "g"]).values()
        assert seen.observe([1]).result == 2
    assert (repr(seen), type(seen).__name__) == ("<function f>", "function")
