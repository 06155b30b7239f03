"""A submission's time, memory, processes, disk space and output are limited."""

from __future__ import annotations

import os
import re
import time

import pytest

from grader.sandbox import process_tree
from grader.sandbox.inside.limits import Limits
from grader.sandbox.inside.wire import Opaque
from grader.sandbox.sandbox import Sandbox, SessionDied
from tests.grader.sandbox.probes import BOMB, LIMITS, MANY_GREEDY, need_bubblewrap, printed


def test_an_endless_cell_is_stopped_and_later_cells_run(either):
    either.execute("a", "kept = 1")
    run = either.execute("b", "while True: pass")
    assert run.outcome == "error"
    assert run.outputs[-1]["evalue"] == (
        "The cell was stopped after 2 s. Is there a loop that does not end?"
    )
    assert either.value("kept") == 1


DEAF = """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True: pass
"""


def test_a_cell_that_ignores_the_stop_signal_is_killed(either):
    begun = time.monotonic()
    with pytest.raises(SessionDied, match="it did not return within 2 s"):
        either.execute("a", DEAF)
    assert time.monotonic() - begun < 15
    with pytest.raises(SessionDied, match="it did not return within 2 s"):
        either.value("x")


def test_reading_an_endless_result_is_stopped(session):
    session.execute(
        "a",
        "class Endless(list):\n"
        "    def __len__(self): return 1\n"
        "    def __iter__(self):\n        while True: yield 1\n"
        "endless = Endless()\nf = lambda: endless",
    )
    assert session.call("f", [], own_work=True).problem.startswith("it")
    assert isinstance(session.value("endless"), Opaque)


def test_one_greedy_process_gets_a_memory_error(session):
    run = session.execute("a", "import numpy as np\nl = []\nwhile True: l.append(np.ones(2**20))")
    assert run.outputs[-1]["ename"] in ("MemoryError", "OutOfTime")


def test_memory_is_watched_between_requests():
    need_bubblewrap()
    limits = Limits(cell_seconds=20, memory_mib=400)
    with Sandbox(limits) as sandbox, sandbox.session() as session:
        later = MANY_GREEDY.replace("time.sleep(60)\n", "", 1)
        session.execute(
            "a",
            f"import threading\nsource = {later!r}\n"
            "threading.Thread(target=exec, args=(source, {})).start()",
        )
        until = time.monotonic() + 20
        while not session._watchdog.excess and time.monotonic() < until:
            time.sleep(0.1)
        with pytest.raises(SessionDied, match="it used more than 400 MiB of memory"):
            session.value("x")


STATUS = "Name:\t%s\nState:\tR\nVmRSS:\t 100 kB\nVmPTE:\t 8 kB\nVmSwap:\t 30 kB\n"


@pytest.mark.parametrize(
    "name", [b"python", b"\xff", b"\x1cVmRSS:\t-9 kB", b"\r\x85VmSwap: 1 kB", b"VmRSS:\t 1 kB", b""]
)
def test_a_process_is_counted_behind_its_name(name, tmp_path):
    (tmp_path / "status").write_bytes(STATUS.encode() % name)
    folder, sizes = process_tree._living([str(tmp_path)])
    assert {name: size / 1024 for name, size in sizes.items()} == {
        b"VmRSS": 100,
        b"VmPTE": 8,
        b"VmSwap": 30,
    }
    assert folder == str(tmp_path)


def test_a_thread_that_has_ended_has_no_figures_but_others_of_its_process_do(tmp_path):
    for name, text in (("1", "Name:\tx\nState:\tZ (zombie)\n"), ("2", STATUS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "status").write_text(text)
    ended, living = (str(tmp_path / name) for name in "12")
    assert process_tree._living([ended]) is None
    folder, _ = process_tree._living([ended, living])
    assert folder == living


@pytest.mark.parametrize(
    "more", ["VmRSS:\t 1 kB", "VmSwap:\t 30 kB", "VmPTE:\t 0 kB\nVmPTE:\t 0 kB"]
)
def test_figures_that_contradict_each_other_are_refused(more, tmp_path):
    (tmp_path / "status").write_text(f"{STATUS}{more}\n")
    with pytest.raises(process_tree.Uncountable, match="contradict each other"):
        process_tree._living([str(tmp_path)])
    (tmp_path / "status").write_text(STATUS.replace("VmRSS", "VmRss"))
    with pytest.raises(process_tree.Uncountable, match="contradict each other"):
        process_tree._living([str(tmp_path)])


def test_the_exact_count_is_at_most_the_quick_estimate():
    own = process_tree.ProcessTree(os.getpid(), owns_namespace=False)
    exact, quick = own.usage(0, 1000), own.usage(2**40, 1000)
    assert 20 * 2**20 < exact.memory <= quick.memory
    assert own.usage(0, 0) == process_tree.Usage(0, exact.threads)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (process_tree.Uncountable("it had too much"), "it had too much"),
        (PermissionError(), "its memory could not be counted (PermissionError)"),
        (UnicodeDecodeError("utf-8", b"", 0, 1, ""), "could not be counted (UnicodeDecodeError)"),
    ],
)
def test_a_session_that_cannot_be_watched_is_ended(error, says, sandbox, monkeypatch):
    def fail(*_):
        raise error

    with sandbox.session() as session:
        monkeypatch.setattr(process_tree, "_memory", fail)
        with pytest.raises(SessionDied, match=re.escape(says)):
            session.execute("a", "import time; time.sleep(60)")


def test_a_count_that_fails_once_is_repeated(sandbox, monkeypatch):
    count, errors = process_tree._memory, [PermissionError(), FileNotFoundError()]

    def fail_at_first(*args):
        if errors:
            raise errors.pop()
        return count(*args)

    with sandbox.session() as session:
        monkeypatch.setattr(process_tree, "_memory", fail_at_first)
        assert session.execute("a", "import time; time.sleep(0.5)").outcome == "ok"
        assert errors == []


def test_a_fork_bomb_is_contained(sandbox):
    with sandbox.session() as session:
        most = LIMITS.processes - 1
        assert printed(session, BOMB) == f"{most} [Errno 11] Resource temporarily unavailable\n"
    with sandbox.session() as session:
        assert session.value("nothing") is None


def test_the_watchdog_counts_processes_if_the_kernel_does_not(unprotected):
    source = "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(60)\n"
    died = pytest.raises(SessionDied, match="it had more than 16 processes and threads")
    with unprotected.session() as session, died:
        session.execute("a", source + "time.sleep(60)")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("open('/tmp/x', 'wb').write(b'x' * 5 * 2**20)", "File too large"),
        ("for i in range(9): open(f'/tmp/{i}', 'wb').write(b'x' * 2**20)", "No space left"),
        ("for i in range(9): open(f'/dev/shm/{i}', 'wb').write(b'x' * 2**20)", "No space left"),
        ("for i in range(10**4): open(f'/tmp/{i}', 'w').close()", "No space left"),
        ("import os\nwhile True: os.pipe()", "Too many open files"),
    ],
)
def test_files_are_limited(session, source, says):
    assert says in session.execute("a", source).outputs[-1]["evalue"]


@pytest.mark.parametrize(
    "source",
    [
        "while True: print('x' * 100)",
        "print('x' * 10**7)",
        "import sys\nfor _ in range(10**5): print('x' * 9, file=sys.stderr)",
        "'x' * 10**7",
        "raise ValueError('x' * 10**7)",
        """
from IPython.display import publish_display_data as show
for _ in range(1000): show({'text/plain': 'x' * 1000})
""",
        "import sys\nwhile True: sys.stdout.write('x'); sys.stderr.write('x')",
        "while True: get_ipython()._showtraceback(ValueError, ValueError('x' * 999), ['x'])",
        "!yes | head -c 10000000",
    ],
)
def test_endless_output_is_truncated(session, source):
    run = session.execute("a", source)
    assert len(repr(run.outputs)) < 2.5 * LIMITS.output_kib * 1024
    told = [output.get("text", "") for output in run.outputs]
    assert "\n[output cut: more than 16 KiB]\n" in told or "ValueError" in repr(run.outputs)


def test_only_a_picture_that_is_too_large_is_omitted(session):
    run = session.execute(
        "a",
        "import matplotlib.pyplot as plt, numpy as np\n"
        "plt.imsave('noise.png', np.random.rand(400, 400, 3))\n"
        "from IPython.display import Image, display\n"
        "display(Image('noise.png'))\nprint('after')",
    )
    texts = [output["text"] for output in run.outputs if output["output_type"] == "stream"]
    assert texts == ["[picture left out: it is too large]\n", "after\n"]
    assert "image/png" not in repr(run.outputs)


def test_an_endless_recursion_is_reported_soon(session):
    run = session.execute("a", "def f(): return f()\nf()")
    assert run.outputs[-1]["ename"] == "RecursionError"
