"""A submission's code runs, and can do no more than it may."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from attn_lib.checks.drawings import Drawing
from grader import bubblewrap, doctor
from grader.limits import Limits
from grader.sandbox import NONE, Sandbox, SandboxUnavailable, SessionDied
from grader.wire import Opaque

ROOT = Path(__file__).resolve().parents[2]

LIMITS = Limits(
    call_seconds=1,
    cell_seconds=2,
    memory_mib=400,
    processes=16,
    disk_mib=4,
    output_kib=16,
    result_mib=1,
)

NO_REPLY = "it sent something that is no reply"


def need_bubblewrap() -> None:
    if bubblewrap.find_bubblewrap() is None and os.environ.get("CI") != "true":
        pytest.skip("bubblewrap is not installed: apt-get install bubblewrap")


@pytest.fixture(scope="module")
def sandbox():
    need_bubblewrap()
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def unprotected():
    with Sandbox(LIMITS, NONE) as sandbox:
        yield sandbox


@pytest.fixture
def session(sandbox):
    with sandbox.session() as session:
        yield session


@pytest.fixture(params=["bubblewrap", "none"])
def either(request):
    name = "sandbox" if request.param == "bubblewrap" else "unprotected"
    with request.getfixturevalue(name).session() as session:
        yield session


def printed(session, source: str) -> str:
    """Run a cell that has no error; return what it printed."""
    run = session.run_cell("cell", source)
    assert run.status == "ok", run.outputs
    return "".join(output["text"] for output in run.outputs if output["output_type"] == "stream")


def alive(mark: str) -> list[int]:
    """Return the processes on this machine in whose command line a mark stands."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line.split(b"\0"):
            found.append(int(folder.name))
    return found


def gone(mark: str, seconds: float = 5) -> bool:
    """Return whether none of them is left, now or in a moment."""
    until = time.monotonic() + seconds
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(mark)


# What a session does with honest work; isolated and not.


def test_a_cell_prints_shows_a_result_and_keeps_what_it_defines(either):
    first = either.run_cell(
        "a", "import sys\nx = 2\nprint('out')\nprint('err', file=sys.stderr)\nx"
    )
    assert first.status == "ok"
    assert first.outputs == [
        {"output_type": "stream", "name": "stdout", "text": "out\n"},
        {"output_type": "stream", "name": "stderr", "text": "err\n"},
        {
            "output_type": "execute_result",
            "data": {"text/plain": "2"},
            "metadata": {},
            "execution_count": 1,
        },
    ]
    assert either.run_cell("b", "x + 1").outputs[0]["data"] == {"text/plain": "3"}
    assert either.run_cell("c", "x;").outputs == []


def test_an_error_is_told_with_its_line(either):
    run = either.run_cell("a", "def f():\n    return 1 / 0\nf()")
    assert run.status == "error"
    (error,) = run.outputs
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert "return 1 / 0" in "\n".join(error["traceback"])
    assert either.run_cell("b", "def (").outputs[0]["ename"] == "SyntaxError"


def test_names_are_functions_values_or_missing(either):
    either.run_cell("a", "f = lambda x: x\nv = 3\nclass C: pass\nn = None")
    assert either.kinds(["f", "v", "C", "n", "g", "In", "exit"]) == {
        "f": "function",
        "v": "value",
        "C": "function",
        "n": "value",
        "g": "missing",
        "In": "missing",
        "exit": "missing",
    }


def test_a_value_comes_back(either):
    either.run_cell(
        "a", "import numpy as np\na = np.arange(3.0)\nb = {'x': (1, [2.5, None])}\nc = {1}"
    )
    np.testing.assert_array_equal(either.value("a"), [0, 1, 2])
    assert either.value("b") == {"x": (1, [2.5, None])}
    assert either.value("c") == Opaque.named("set")
    assert either.value("nothing") is None


def test_a_function_is_called_with_copies_and_its_result_comes_back(either):
    either.run_cell("a", "def double(x, times=2):\n    return times * x")
    given = np.arange(3.0)
    seen = either.observe("double", [given, 3], own_work=True)
    np.testing.assert_array_equal(seen.result, [0, 3, 6])
    assert seen.problem == ""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("x -= 1; return x", "it changed its argument number 1."),
        ("raise NotImplementedError()", "not written yet."),
        ("return x.nothing", "it raised AttributeError: 'numpy.ndarray' object has no"),
        ("import attn_lib; return attn_lib.softmax(x)", "it calls attn_lib's own softmax."),
        ("raise SystemExit(3)", "it raised SystemExit: 3"),
        (
            "\n    while True: pass",
            "it did not return within 1 s. Is there a loop that does not end?",
        ),
        ("import time; time.sleep(60)", "it did not return within 1 s."),
        ("import numpy; return numpy.ones(2**20)", "its result is too large to look at: more than"),
        ("return ['x' * 2**20] * 9", "its result is too large to look at: more than 8 MiB"),
        ("input()", "it raised NobodyToAsk: there is nobody to ask: input() does not work"),
        ("return [0] * 10**12", "it raised MemoryError"),
    ],
)
def test_what_goes_wrong_in_a_call_is_a_problem_in_words(sandbox, body, problem):
    with sandbox.session() as session:
        session.run_cell("a", f"kept = 5\ndef f(x): {body}")
        seen = session.observe("f", [np.ones(2)], own_work=True)
        assert seen.problem.startswith(problem)
        assert seen.result is None
        assert session.value("kept") == 5


def test_a_drawing_comes_back_as_its_data(either):
    either.run_cell(
        "a",
        "import matplotlib.pyplot as plt\n"
        "def draw(y):\n    fig, ax = plt.subplots()\n    ax.plot(y, label='a')\n    return ax",
    )
    drawing = either.observe("draw", [[3.0, 4.0]], own_work=False).result
    assert isinstance(drawing, Drawing)
    np.testing.assert_array_equal(drawing.curves[0].y, [3, 4])


def test_a_figure_is_a_picture(either):
    run = either.run_cell("a", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    (picture,) = [out for out in run.outputs if out["output_type"] == "display_data"]
    assert picture["data"]["image/png"].startswith("iVBORw0KGgo")


def test_magics_await_and_commands_of_the_system_work(either):
    assert printed(either, "!echo from the system") == "from the system\n"
    assert printed(either, "%%bash\necho from bash") == "from bash\n"
    assert printed(either, "import asyncio\nawait asyncio.sleep(0)\nprint(1)") == "1\n"
    assert "per loop" in printed(either, "%timeit -n1 -r1 1 + 1")


def test_nobody_is_asked(either):
    run = either.run_cell("a", "name = input('name? ')")
    assert run.outputs[-1]["evalue"].startswith("there is nobody to ask: input() does not work")


@pytest.mark.parametrize(
    "source", ["exit()", "quit", "import sys; sys.exit(3)", "raise SystemExit"]
)
def test_a_cell_that_exits_ends_nothing(session, source):
    session.run_cell("a", source)
    assert printed(session, "print('still there')") == "still there\n"


def test_the_same_work_gives_the_same_random_numbers_each_time(sandbox):
    source = "import numpy, random\nprint(numpy.random.rand(), random.random(), hash('a'))"
    runs = set()
    with Sandbox(LIMITS) as another:
        for one in (sandbox, sandbox, another):
            with one.session() as session:
                runs.add(printed(session, source))
    assert len(runs) == 1


# Time, memory, processes, disk and output.


def test_a_cell_that_does_not_end_is_stopped_and_the_rest_goes_on(either):
    either.run_cell("a", "kept = 1")
    run = either.run_cell("b", "while True: pass")
    assert run.status == "error"
    assert run.outputs[-1]["evalue"] == (
        "The cell was stopped after 2 s. Is there a loop that does not end?"
    )
    assert either.value("kept") == 1


DEAF = """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True: pass
"""


def test_one_that_does_not_listen_is_ended(either):
    begun = time.monotonic()
    with pytest.raises(SessionDied, match="it did not return within 2 s"):
        either.run_cell("a", DEAF)
    assert time.monotonic() - begun < 15
    with pytest.raises(SessionDied, match="it did not return within 2 s"):
        either.value("x")


def test_a_result_that_takes_for_ever_to_read_is_stopped(session):
    session.run_cell(
        "a",
        "class Endless(list):\n"
        "    def __len__(self): return 1\n"
        "    def __iter__(self):\n        while True: yield 1\n"
        "endless = Endless()\nf = lambda: endless",
    )
    assert session.observe("f", [], own_work=True).problem.startswith("it")
    assert isinstance(session.value("endless"), Opaque)


def test_one_greedy_process_gets_a_memory_error(session):
    run = session.run_cell("a", "import numpy as np\nl = []\nwhile True: l.append(np.ones(2**20))")
    assert run.outputs[-1]["ename"] in ("MemoryError", "OutOfTime")


MANY_GREEDY = """
import mmap, os, time
for _ in range(8):
    if os.fork() == 0:
        own = mmap.mmap(-1, 200 * 2**20)
        for at in range(0, len(own), 4096): own[at] = 1
        time.sleep(60)
time.sleep(60)
"""


def test_many_greedy_processes_end_the_session():
    need_bubblewrap()
    limits = Limits(cell_seconds=20, memory_mib=400, processes=16)
    died = pytest.raises(SessionDied, match="it used more than 400 MiB of memory")
    with Sandbox(limits) as sandbox, sandbox.session() as session, died:
        session.run_cell("a", MANY_GREEDY)


def test_it_is_watched_between_requests_too():
    need_bubblewrap()
    limits = Limits(cell_seconds=20, memory_mib=400)
    with Sandbox(limits) as sandbox, sandbox.session() as session:
        later = MANY_GREEDY.replace("time.sleep(60)\n", "", 1)
        session.run_cell(
            "a",
            f"import threading\nsource = {later!r}\n"
            "threading.Thread(target=exec, args=(source, {})).start()",
        )
        until = time.monotonic() + 20
        while not session._watchdog.reason and time.monotonic() < until:
            time.sleep(0.1)
        with pytest.raises(SessionDied, match="it used more than 400 MiB of memory"):
            session.value("x")


BOMB = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError as error:
    print(n, error)
"""


def test_a_fork_bomb_is_contained(sandbox):
    with sandbox.session() as session:
        most = LIMITS.processes - 1
        assert printed(session, BOMB) == f"{most} [Errno 11] Resource temporarily unavailable\n"
    with sandbox.session() as session:
        assert session.value("nothing") is None


def test_where_the_kernel_does_not_count_processes_the_watchdog_does(unprotected):
    source = "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(60)\n"
    died = pytest.raises(SessionDied, match="it had more than 16 processes and threads")
    with unprotected.session() as session, died:
        session.run_cell("a", source + "time.sleep(60)")


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
    assert says in session.run_cell("a", source).outputs[-1]["evalue"]


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
def test_output_without_end_is_cut(session, source):
    run = session.run_cell("a", source)
    assert len(repr(run.outputs)) < 2.5 * LIMITS.output_kib * 1024
    told = [output.get("text", "") for output in run.outputs]
    assert "\n[output cut: more than 16 KiB]\n" in told or "ValueError" in repr(run.outputs)


def test_a_picture_too_large_is_left_out_and_what_follows_is_not(session):
    run = session.run_cell(
        "a",
        "import matplotlib.pyplot as plt, numpy as np\n"
        "plt.imsave('noise.png', np.random.rand(400, 400, 3))\n"
        "from IPython.display import Image, display\n"
        "display(Image('noise.png'))\nprint('after')",
    )
    texts = [output["text"] for output in run.outputs if output["output_type"] == "stream"]
    assert texts == ["[picture left out: it is too large]\n", "after\n"]
    assert "image/png" not in repr(run.outputs)


def test_a_recursion_without_end_is_told_soon(session):
    run = session.run_cell("a", "def f(): return f()\nf()")
    assert run.outputs[-1]["ename"] == "RecursionError"


# What ends the process, and what it sends that it should not.


@pytest.mark.parametrize(
    "source",
    ["import os; os._exit(0)", "import os; os.abort()", "import ctypes; ctypes.string_at(0)"],
)
def test_a_process_that_ends_is_told(session, source):
    with pytest.raises(SessionDied, match="its process ended"):
        session.run_cell("a", source)


def test_killing_itself_and_all_others_hurts_nobody(sandbox, session):
    source = """
import os
os.kill(os.getpid(), 9)
try:
    os.kill(-1, 9)
except ProcessLookupError:
    print("nobody else is there")
"""
    assert printed(session, source) == "nobody else is there\n"
    with sandbox.session() as other:
        assert printed(other, "print(1)") == "1\n"


#: Finds the socket and the token of a request, as anybody can who runs in that process.
FIND = """
import os, signal, socket, stat, sys, time
from grader.wire import pack
def is_open(fd):
    try:
        return bool(os.fstat(fd))
    except OSError:
        return False
def is_socket(fd):
    return is_open(fd) and stat.S_ISSOCK(os.fstat(fd).st_mode)
(fd,) = filter(is_socket, range(3, 64))
wire = socket.socket(fileno=os.dup(fd))
def token():
    frame = sys._getframe()
    while "token" not in frame.f_locals or frame.f_code.co_name != "serve":
        frame = frame.f_back
    return frame.f_locals["token"]
"""


TRICKLE = """
signal.setitimer(signal.ITIMER_REAL, 0)
wire.sendall((99).to_bytes(4, "big") + bytes(4))
while True:
    wire.sendall(b" ")
    time.sleep(0.3)
"""


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        ("wire.sendall(b'\\xff' * 8)", NO_REPLY),
        ("wire.sendall(b'\\0' * 8)", NO_REPLY),
        ("wire.sendall(pack(['no token', ('ok', [])], most_bytes=0))", NO_REPLY),
        ("wire.sendall(pack([token(), ('well', [])], most_bytes=0))", NO_REPLY),
        ("wire.sendall(pack([token(), ('ok', [3])], most_bytes=0))", NO_REPLY),
        ("wire.sendall(pack([token(), 'ok'], most_bytes=0))", NO_REPLY),
        ("wire.sendall(pack('ok', most_bytes=0))", NO_REPLY),
        ("os.closerange(3, 64); wire.close()", "its process ended"),
        ("wire.shutdown(socket.SHUT_RDWR)", "its process ended"),
        (TRICKLE, "it did not return within 2 s"),
    ],
)
def test_what_is_no_reply_ends_the_session(session, attack, reason):
    with pytest.raises(SessionDied) as died:
        session.run_cell("a", FIND + attack)
    assert died.value.reason == reason


def test_a_second_reply_out_of_turn_ends_the_session(session):
    forged = "wire.sendall(pack([token(), ('ok', [])], most_bytes=0))"
    assert session.run_cell("a", FIND + forged).outputs == []  # his own cell: nothing gained
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.value("wire")


def test_a_reply_before_the_question_ends_the_session(session):
    session.run_cell(
        "a", FIND + "import threading\nthreading.Timer(0.3, wire.sendall, [bytes(8)]).start()"
    )
    time.sleep(0.8)
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.observe("f", [1], own_work=True)


@pytest.mark.parametrize("reply", ["{'f': 'value', 'g': 'value'}", "{}", "{'f': 'friend'}", "3"])
def test_forged_kinds_end_the_session(session, reply):
    session.run_cell(
        "a",
        "import grader.inside.runner as r\n"
        f"r._Answers.kinds = lambda self, reply, names: reply({reply})",
    )
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.kinds(["f"])


def test_a_forged_observation_is_no_more_than_his_own_functions_result(session):
    session.run_cell(
        "a",
        "import grader.inside.runner as r\n"
        "r.observe = lambda *a, **k: r.Observation(7, 'x' * 99999, True, True)",
    )
    seen = session.observe("f", [1], own_work=True)
    assert (seen.result, len(seen.problem), seen.stopped) == (None, 10_000, False)
    session.run_cell("b", "r.observe = lambda *a, **k: 7")
    with pytest.raises(SessionDied, match=NO_REPLY):
        session.observe("f", [1], own_work=True)


def test_one_who_does_not_listen_to_large_arguments_is_ended(session):
    session.run_cell(
        "a", FIND + "def stop(*a): time.sleep(60)\nimport grader.inside.runner as r\nr._fill = stop"
    )
    with pytest.raises(SessionDied, match="it did not return within 1 s"):
        session.observe("f", [np.ones(2**21)], own_work=True)


# What it can see, change and leave behind.


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/passwd",
        "/etc/hostname",
        "/home",
        "/var",
        "/run",
        "/sys",
        "/proc/self",
        "/proc/1",
        "/dev/tty",
        "/dev/sda",
        "/dev/vda",
        str(Path.home() / ".ssh"),
        str(Path.home() / ".bashrc"),
        str(ROOT / "solutions"),
        str(ROOT / "tests"),
        str(ROOT / "gradebook.db"),
        str(ROOT / ".git"),
        str(ROOT / "grader" / "judge.py"),
        str(ROOT / "pyproject.toml"),
    ],
)
def test_it_sees_nothing_but_python(session, path):
    assert printed(session, f"import os; print(os.path.exists({path!r}))") == "False\n"


def test_it_sees_no_environment_and_no_other_process(session):
    os.environ["GRADER_TEST_SECRET"] = "secret"
    try:
        seen = printed(session, "import os\nprint(os.environ, os.listdir('/proc'), os.getpid())")
    finally:
        del os.environ["GRADER_TEST_SECRET"]
    assert "secret" not in seen
    assert seen.endswith(" [] 1\n")


def test_it_is_nobody_and_may_nothing(session):
    assert printed(session, "import os; print(os.getuid(), os.getgid(), os.getgroups())") == (
        "61234 61234 []\n"
    )


def test_it_holds_one_socket_and_nothing_else(session):
    assert (
        printed(session, FIND + "print(len(list(filter(is_open, range(3, 128)))))") == "2\n"
    )  # and its copy


@pytest.mark.parametrize(
    "folder",
    [
        "/",
        "/dev",
        "/proc",
        "/usr",
        "/usr/share/fonts",
        str(ROOT),
        str(ROOT / "attn_lib"),
        str(ROOT / "grader"),
        str(ROOT / "grader" / "inside"),
        str(Path(np.__file__).parent.parent),
        str(Path(np.__file__).parent),
        str(Path(os.__file__).resolve().parent),
    ],
)
def test_it_writes_nowhere_but_in_its_temporary_folder(session, folder):
    source = f"""
import os
path = os.path.join({folder!r}, "written")
for do in (lambda: open(path, "w"), lambda: os.mkdir(path), lambda: os.chmod({folder!r}, 0o777)):
    try:
        do(); print("done")
    except OSError as error:
        print(error.errno in (1, 13, 30))
"""
    said = printed(session, source)
    if Path(folder).is_relative_to("/tmp"):
        # A course that lies below /tmp: what is written there is in the private folder.
        assert not (Path(folder) / "written").exists()
    else:
        assert said == "True\nTrue\nTrue\n"


KERNEL = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*args)
    return result == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES, errno.ENOSYS, 22)
"""


@pytest.mark.parametrize(
    "call",
    [
        "'unshare', 0x10000000",
        "'mount', b'none', b'/tmp', b'tmpfs', 0, None",
        "'mount', b'none', b'/', None, 0x1020, None",
        "'umount2', b'/proc', 2",
        "'chroot', b'/tmp'",
        "'setuid', 0",
        "'ptrace', 0, 0, 0, 0",
        "'memfd_create', b'x', 0",
        "'shmget', 0, 4096, 0o1600",
        "'msgget', 0, 0o1600",
        "'syscall', 321, 0, 0, 0" if os.uname().machine == "x86_64" else "'unshare', 0",
        "'syscall', 56, 0x10000011, 0, 0, 0, 0",
        "'syscall', 435, 0, 0",
        "'syscall', 0x40000027",
    ],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_it_asks_the_kernel_in_vain(session, call):
    assert printed(session, KERNEL + f"print(refused({call}))") == "True\n"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_there_is_no_network(session, family):
    source = f"import socket\nsocket.socket(socket.{family}, socket.SOCK_DGRAM)"
    assert session.run_cell("a", source).outputs[-1]["ename"] == "PermissionError"


def test_nothing_outlives_a_session(sandbox):
    mark = f"{60_000 + os.getpid()}"
    source = f"""
import os, subprocess
subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
subprocess.Popen("setsid nohup sleep {mark} >/dev/null 2>&1 &", shell=True)
"""
    with sandbox.session() as session:
        session.run_cell("a", source)
        until = time.monotonic() + 5
        while len(alive(mark)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        assert len(alive(mark)) == 2
    assert alive(mark) == []


def test_without_isolation_files_go_into_a_folder_that_is_removed():
    with Sandbox(LIMITS, NONE) as sandbox, sandbox.session() as session:
        here = Path(printed(session, "import os; print(os.getcwd(), end='')"))
        printed(session, "open('left', 'w').write('x')")
        assert (here / "left").exists()
    assert not here.parent.exists()


def test_without_isolation_its_processes_end_too(unprotected):
    mark = f"{70_000 + os.getpid()}"
    with unprotected.session() as session:
        session.run_cell(
            "a",
            "import subprocess\n"
            f"subprocess.Popen('setsid nohup sleep {mark} >/dev/null 2>&1 &', shell=True)",
        )
        time.sleep(0.5)
        assert alive(mark)
    assert gone(mark)


def test_nothing_passes_from_one_session_to_the_next(sandbox):
    leave = """
import attn_lib.checks, builtins, numpy as np, os, sys
left = 1
np.left = sys.left = builtins.left = 1
attn_lib.checks.observation.observe = None
np.random.seed(3)
os.environ["LEFT"] = "1"
for folder in ("/tmp", "/dev/shm"):
    open(folder + "/left", "w").write("1")
"""
    look = """
import attn_lib.checks, builtins, numpy as np, os, sys
print("left" in globals(), hasattr(np, "left"), hasattr(sys, "left"), hasattr(builtins, "left"),
      attn_lib.checks.observation.observe is None, "LEFT" in os.environ,
      "left" in os.listdir("/tmp"), "left" in os.listdir("/dev/shm"))
"""
    with sandbox.session() as first, sandbox.session() as beside:
        assert printed(first, leave) == ""
        for session in (beside, sandbox.session()):
            with session:
                assert printed(session, look) == "False " * 7 + "False\n"


def test_two_sessions_at_a_time_do_not_see_each_other(sandbox):
    with sandbox.session() as one, sandbox.session() as other:
        one.run_cell(
            "a", "open('/tmp/one', 'w').close()\nimport os, time\nif os.fork() == 0: time.sleep(60)"
        )
        assert printed(other, "import os; print('one' in os.listdir('/tmp'))") == "False\n"
        assert other.run_cell("a", "import os; os.kill(2, 9)").outputs[-1]["ename"] == (
            "ProcessLookupError"
        )


def test_the_machines_own_shared_memory_is_not_touched(session):
    printed(session, "open('/dev/shm/of-a-submission', 'w').write('x')")
    assert not Path("/dev/shm/of-a-submission").exists()


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("class Text(str):\n    def __str__(self): return 3\nmade = Text('x')", "raises TypeError"),
        ("made = ['x' * 2**20] * 9", "is too large to look at: more than 8 MiB"),
        (
            "class Rude(list):\n    def __iter__(self): raise KeyboardInterrupt\nmade = Rude()",
            "raises KeyboardInterrupt",
        ),
    ],
)
def test_an_object_that_cannot_be_read_ends_nothing(session, source, problem):
    session.run_cell("a", source + "\nf = lambda: made")
    assert problem in repr(session.value("made"))
    assert session.observe("f", [], own_work=True).problem.startswith("it")
    assert session.value("nothing") is None


def test_an_error_of_a_learners_own_make_is_a_problem(session):
    session.run_cell("a", "class Mine(BaseException): pass\ndef f(): raise Mine")
    assert session.observe("f", [], own_work=True).problem.startswith("it raised Mine")
    assert session.run_cell("b", "f()").outputs[-1]["ename"] == "Mine"


def test_a_course_inside_the_systems_folders_is_covered(monkeypatch):
    need_bubblewrap()
    course = Path("/usr/share/perl5")
    if not course.is_dir():
        pytest.skip("needs a folder under /usr that Python does not need")
    monkeypatch.setattr(bubblewrap, "COURSE", course)
    with Sandbox(LIMITS) as sandbox, sandbox.session() as session:
        assert printed(session, f"import os; print(os.listdir({str(course)!r}))") == "[]\n"


# The warm process.


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_warm_process_that_ended_is_started_again(isolation):
    need_bubblewrap()
    with Sandbox(LIMITS, isolation) as sandbox:
        lost = sandbox.session()
        sandbox._process.kill()
        sandbox._process.wait()
        with sandbox.session() as session:
            assert session.run_cell("a", "1").status == "ok"
        if isolation == "bubblewrap":
            with pytest.raises(SessionDied, match="its process ended"):
                lost.value("x")
        lost.kill()


def test_when_the_grader_is_killed_all_ends(tmp_path):
    need_bubblewrap()
    mark = f"{80_000 + os.getpid()}"
    program = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from grader.limits import Limits
from grader.sandbox import Sandbox
session = Sandbox(Limits()).session()
session.run_cell("a", "import subprocess; subprocess.Popen(['sleep', '{mark}'])")
print("running", flush=True)
session.run_cell("b", "while True: pass")
"""
    grader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert grader.stdout.readline() == "running\n"
    assert alive(mark)
    grader.kill()
    grader.wait()
    grader.stdout.close()
    assert gone(mark)


def test_without_bubblewrap_it_refuses_and_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        Sandbox(LIMITS).session()
    assert Sandbox(LIMITS, NONE).isolation == NONE


def test_a_bubblewrap_that_does_not_work_is_told_in_its_own_words(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: shutil.which("false"))
    with pytest.raises(SandboxUnavailable, match="it said nothing"):
        Sandbox(LIMITS).session()
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: "/nothing/bwrap")
    with pytest.raises(SandboxUnavailable, match="No such file"):
        Sandbox(LIMITS).session()


def test_an_unknown_isolation_is_refused():
    with pytest.raises(ValueError, match="expected isolation 'bubblewrap' or 'none', got 'docker'"):
        Sandbox(LIMITS, "docker")


def test_a_process_that_took_over_the_number_of_a_dead_one_is_left_alone(sandbox):
    session = sandbox.session()
    family = session._watchdog._family
    session.kill()
    bystander = subprocess.Popen(["sleep", "60"])
    family.pid = bystander.pid
    session.kill()
    family.kill()
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_session_that_is_over_answers_nothing(sandbox):
    session = sandbox.session()
    session.kill()
    session.kill()
    with pytest.raises(SessionDied, match="it was over"):
        session.value("x")


# An ordinary user and the doctor.


def _run_as(user: pwd.struct_passwd, python: str, program: str) -> subprocess.CompletedProcess:
    packages = [folder for folder in sys.path if folder.endswith("-packages")]
    return subprocess.run(
        ["/usr/bin/env", python, "-c", program],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([*packages, str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


def ordinary_python() -> tuple[pwd.struct_passwd, str]:
    """Return an ordinary user and a Python like this one that he may start; else skip."""
    if os.getuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (os.path.realpath(sys.executable), f"/usr/bin/python{here}"):
        for user in pwd.getpwall():
            if user.pw_uid < 1000 or user.pw_name == "nobody":
                continue
            program = f"open({np.__file__!r}); open({__file__!r})"
            if _run_as(user, python, program).returncode == 0:
                return user, python
    pytest.skip("no ordinary user here may start a Python with these packages")


AS_USER = f"""
from grader.limits import Limits
from grader.sandbox import Sandbox, SessionDied
with Sandbox(Limits(call_seconds=1, cell_seconds=20, memory_mib=400, processes=16)) as sandbox:
    for source in (
        "import os; print(os.getuid(), os.listdir('/tmp'), os.path.exists('/etc/passwd'))",
        "open('/written', 'w')",
        "open('/tmp/written', 'w'); print('written')",
        {BOMB!r},
        {MANY_GREEDY!r},
    ):
        with sandbox.session() as session:
            try:
                output = session.run_cell("a", source).outputs[-1]
                print(output.get("text", output.get("ename")).strip())
            except SessionDied as died:
                print(died.reason)
"""


def test_an_ordinary_user_can_grade_as_safely():
    need_bubblewrap()
    ran = _run_as(*ordinary_python(), AS_USER)
    # A course that lies below /tmp is seen there, without anything else.
    below = ROOT.relative_to("/tmp").parts[:1] if ROOT.is_relative_to("/tmp") else ()
    assert ran.stdout.splitlines() == [
        f"61234 {list(below)} False",
        "OSError",
        "written",
        "15 [Errno 11] Resource temporarily unavailable",
        "it used more than 400 MiB of memory",
    ], ran.stderr


def test_the_doctor_finds_all_well():
    need_bubblewrap()
    found = doctor.checks()
    assert [name for name, well, _ in found if not well] == []
    assert [name for name, *_ in found] == [
        "system",
        "bubblewrap",
        "user namespaces",
        "session",
        "user",
        "network",
        "memory",
        "time",
    ]


def test_the_doctor_says_what_to_install_and_what_goes_without(monkeypatch):
    monkeypatch.setattr(doctor, "find_bubblewrap", lambda: None)
    found = {name: (well, sentence) for name, well, sentence in doctor.checks()}
    well, sentence = found["bubblewrap"]
    assert not well
    assert "apt-get install bubblewrap" in sentence
    assert found["isolation none"][0]
    assert "read and change whatever you can" in found["isolation none"][1]


def test_the_doctor_names_the_switch_that_is_off(monkeypatch):
    monkeypatch.setattr(doctor, "_content", lambda path: "1" if "apparmor" in path else None)
    name, well, sentence = doctor._user_namespaces()
    assert (name, well) == ("user namespaces", False)
    assert sentence.endswith("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
