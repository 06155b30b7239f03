"""A test cell sees copies of a submission's values, of limited size in total."""

from __future__ import annotations

import numpy as np

from attn_lib.course.checks.remote import type_name
from grader.judging.live import MAX_VALUES, Live
from grader.sandbox.inside.wire import Opaque
from tests.grader.sandbox.probes import LIMITS

NAMES = [f"x{number:02}" for number in range(2 * MAX_VALUES)]


def test_of_values_that_are_too_large_together_only_some_are_read(sandbox):
    with Live(sandbox, LIMITS) as live:
        live.execute(
            "a", f"import numpy as np\nfor name in {NAMES}: globals()[name] = np.ones(90_000)"
        )
        seen = live.stand_ins(NAMES)
    assert list(seen) == NAMES
    looked_at = [name for name in NAMES if isinstance(seen[name], np.ndarray)]
    # As many as fit, plus the one that exceeds the limit.
    assert len(looked_at) == MAX_VALUES * 2**20 // (8 * 90_000) + 1
    assert looked_at == NAMES[: len(looked_at)]
    assert all(isinstance(seen[name], Opaque) for name in NAMES[len(looked_at) :])
    assert (
        type_name(seen[NAMES[-1]]) == "object that was not read: the values before it are too large"
    )


SLOW = """
import signal, time
class Slow(list):
    def __len__(self): time.sleep(30)
class Deaf(list):
    def __len__(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(30)
slow, deaf, other = Slow(), Deaf(), 3
def f(): time.sleep(30)
"""


def test_a_timeout_is_reported_once_and_not_tried_again(sandbox):
    with Live(sandbox, LIMITS) as live:
        live.execute("a", SLOW)
        live.execute("b", "time.sleep(30)")
        for _ in range(2):
            seen = live.stand_ins(["slow", "deaf", "f", "other"])
            seen["f"].call([])
        words = "object that was not read: it did not return within 1 s"
        assert [type_name(seen[name]) for name in ("slow", "deaf")] == [words, words]
        assert seen["other"] == 3
    assert live.remarks == [
        "The cell b was stopped: it did not return within 2 s.",
        "The value deaf could not be read: it did not return within 1 s.",
        "The value slow could not be read: it did not return within 1 s.",
        "f was stopped: it did not return within 1 s.",
    ]


def test_a_cell_that_hides_its_run_time_is_reported(sandbox):
    hide = "import time\ntry: time.sleep(30)\nexcept BaseException: pass"
    with Live(sandbox, LIMITS) as live:
        assert live.execute("a", hide) == []
    assert live.remarks == ["The cell a was stopped: it did not return within 2 s."]


def test_a_function_is_recognised_as_one(sandbox):
    with Live(sandbox, LIMITS) as live:
        live.execute("a", "def f(x): return x + 1")
        (seen,) = live.stand_ins(["f", "g"]).values()
        assert seen.call([1]).returned == 2
    assert (repr(seen), type_name(seen)) == ("<function f>", "function")
