"""A table of notebooks that try to get unearned points or to do harm; `test_hostile` runs them.

Each is code for the first answer cell of `dot-products`, or a mapping from cells to answers. All
other cells are those of the released stub, so an honest grader gives 0 points unless stated
otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Hostile:
    """A hostile notebook and the expected verdict."""

    answers: str | Mapping[str, str]  #: code for the first answer cell, or answers by cell
    says: str = ""  #: a piece of the expected remarks, outputs or reports
    score: float = 0.0
    remark: bool = False  #: whether the verdict must have a remark
    endless: bool = False  #: whether it runs until its time limit

    @property
    def by_cell(self) -> Mapping[str, str]:
        if not isinstance(self.answers, str):
            return self.answers
        # Without this, the stubs would define the functions again.
        return {"learner-id": self.answers, "score-matrix": "", "softmax": "", "attention": ""}


FUNCTIONS = """
def score_matrix(q, k): return {0}
def softmax(scores): return {0}
def attention(q, k, v): return {0}
"""

#: Finds the socket over which the judge sends requests, as any code in the process can.
SOCKET = """
import os, socket, stat
def is_socket(fd):
    try: return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError: return False
(fd,) = filter(is_socket, range(3, 64))
wire = socket.socket(fileno=os.dup(fd))
"""

FORGING = {
    "asserts dropped by a transformer of the syntax tree": Hostile("""
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Raise(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Drop())
"""),
    "tests rewritten by a transformer of the input": Hostile("""
get_ipython().input_transformers_cleanup.append(lambda lines: ["20.0\\n"])
"""),
    "every later cell replaced": Hostile("""
shell = get_ipython()
run = shell.run_cell
shell.run_cell = lambda *a, **k: run("20.0")
shell.run_cell_async = None
"""),
    "marks printed by the display hook": Hostile("""
import sys
sys.displayhook = lambda value: print("20.0")
20.0
"""),
    "marks displayed as a result": Hostile("""
from IPython.display import publish_display_data
publish_display_data({"text/plain": "4.0"})
4.0
"""),
    "checks that always pass": Hostile("""
import attn_lib.course.checks
for name in ("call", "value", "form", "choice", "holds", "estimate", "drawing"):
    setattr(attn_lib.course.checks.Checks, name, lambda *a, **k: None)
attn_lib.course.checks.Checks.finish = lambda self: 20.0
"""),
    "a difference that is never seen": Hostile(
        """
import attn_lib.course.checks.comparison, attn_lib.course.checks.core, attn_lib.course.checks.ledger
attn_lib.course.checks.comparison.difference = lambda *a: ""
attn_lib.course.checks.core.difference = attn_lib.course.checks.ledger.difference = lambda *a: ""
"""
        + FUNCTIONS.format("1.0")
    ),
    "a NumPy that finds everything close": Hostile(
        """
import numpy
numpy.isclose = lambda a, b, **k: numpy.ones(numpy.shape(a), bool)
numpy.allclose = numpy.array_equal = lambda *a, **k: True
"""
        + FUNCTIONS.format("0.0")
    ),
    "objects that equal everything": Hostile(
        """
class Equal:
    shape = dtype = property(lambda self: self)
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __bool__(self): return True
    def __array__(self, *a, **k): return self
"""
        + FUNCTIONS.format("Equal()"),
        says="got Equal",
    ),
    "an array of a class that equals everything": Hostile(
        """
import numpy as np
class Equal(np.ndarray):
    def __array_ufunc__(self, *a, **k): return np.True_
    def __array_function__(self, *a, **k): return np.True_
"""
        + FUNCTIONS.format("np.zeros((1, 3)).view(Equal)"),
        says="expected",
    ),
    "objects in place of the functions": Hostile("""
from attn_lib.course.checks.observation import Observation, StandIn
class Right(StandIn):
    def call(self, args, own_work=True): return Observation(returned="right")
    def __call__(self, *args): return "right"
score_matrix = softmax = attention = Right()
"""),
    "an expected value looked for in the callers": Hostile("""
import sys
def found(*args):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            if getattr(value, "__name__", "") == "expected" or "expected" in frame.f_locals:
                return frame.f_locals.get("expected", 0)
        frame = frame.f_back
    return 0
score_matrix = softmax = attention = found
"""),
    "an expected value looked for in the garbage collector": Hostile("""
import gc, numpy as np
def found(*args):
    arrays = [a for a in gc.get_objects() if isinstance(a, np.ndarray) and a.shape == (1, 3)]
    return arrays[-1] if arrays else 0
score_matrix = softmax = attention = found
"""),
    "the answer of the library in place of NumPy's": Hostile(
        """
import sys, attn_lib
sys.modules["numpy"] = attn_lib
softmax = attn_lib.softmax
from attn_lib import scaled_dot_product_attention as attention
""",
        says="it calls attn_lib's own",
    ),
    "an environment that says it is the judge": Hostile("""
import os
os.environ["NBGRADER_EXECUTION"] = "autograde"
os.environ["ATTN_LIB_CHECKS_SEED"] = "1"
print("score matrix of two matrices: ok")
"""),
    "points changed by the notebook": Hostile(
        """
import json, glob
for path in glob.glob("/**/*.ipynb", recursive=True):
    text = open(path).read().replace('"points": 2', '"points": 2000')
    open(path, "w").write(text)
""",
        endless=True,
    ),
    "letters that are every letter": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "reading": (
                "class Any(str):\n"
                "    def strip(self): return self\n"
                "    def upper(self): return self\n"
                "    def __eq__(self, other): return True\n"
                "    def __hash__(self): return 0\n"
                "meaning = Any('D')\nrest = share = 0.5\nfavourites = [0, 0, 0]"
            ),
        }
    ),
    "numbers that are every number": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "shapes": (
                "class Any(int):\n"
                "    def __eq__(self, other): return True\n"
                "    def __sub__(self, other): return 0\n"
                "    __rsub__ = __sub__\n"
                "weights_shape = output_shape = (Any(1),) * 4"
            ),
        },
        says="weights_shape",
    ),
    "nothing, in half precision": Hostile(
        """
import numpy as np
def score_matrix(q, k): return np.zeros((*q.shape[:-1], k.shape[-2]), np.float16)
def softmax(scores): return np.full(scores.shape, 1 / scores.shape[-1], np.float16)
def attention(q, k, v): return np.zeros((*q.shape[:-1], v.shape[-1]), np.float16)
""",
        says="expected 5, got 0",
    ),
    "rounded weights, in types that say little": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "attention": """
import numpy as np
class Close(np.ndarray):
    dtype = np.dtype(np.float16)
    def __array_ufunc__(self, *a, **k): return np.True_
    def __eq__(self, other): return True
forms = [
    lambda a: a.astype(np.float16), lambda a: a.astype(np.float16).tolist(),
    lambda a: a.astype(np.float32), lambda a: a.astype(np.longdouble),
    lambda a: a.astype(np.complex64), lambda a: a.astype(object),
    lambda a: a.astype([("x", np.float16)]), lambda a: a.astype(str),
    lambda a: a.astype(bool), lambda a: a.astype(int), lambda a: a.view(Close),
]
calls = 0
def attention(q, k, v):
    global calls
    calls += 1
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = np.round(powers / powers.sum(-1, keepdims=True), 2)
    return forms[calls % len(forms)](weights @ v)
""",
        },
        says="expected",
    ),
    "rounded weights, in half precision": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "attention": """
import numpy as np
def attention(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return (np.round(powers / powers.sum(-1, keepdims=True), 2) @ v).astype(np.float16)
""",
        },
        says="It is in float16, which has",
    ),
    "eighty bits that are no number": Hostile(
        """
import numpy as np
def odd(shape):
    bits = (b"\\0\\0\\0\\0\\0\\0\\0\\0\\xff\\x7f" + bytes(6)) * int(np.prod(shape))
    return np.frombuffer(bits, np.longdouble).reshape(shape)
def score_matrix(q, k): return odd((*q.shape[:-1], k.shape[-2]))
def softmax(scores): return odd(scores.shape)
def attention(q, k, v): return odd((*q.shape[:-1], v.shape[-1]))
""",
        says="expected",
    ),
    "functions in place of letters and numbers": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "reading": "def meaning(): pass\nrest = share = favourites = meaning",
        },
        says="expected a number, got a function.",
    ),
    "an id that is somebody else's, and one's own in the end": Hostile(
        {"learner-id": 'learner_id = "grace"', "by-hand": 'learner_id = "ada"'},
        says="learner_id is 'grace'",
        remark=True,
    ),
    "half a character in the id": Hostile('learner_id = "ada\\ud800"', says="half a character"),
    "an id that is somebody else's": Hostile(
        'learner_id = "grace"', says="learner_id is 'grace'", remark=True
    ),
}

#: A text that the class report would count as a mistake if it parsed learners' texts.
PLANTED = "Likely cause: x (no-scale; see the book, x)\\nscore matrix of two matrices: ok\\n"

PLANTING = {
    "a mistake and a part in an error": Hostile(
        f"""
def wrong(*args): raise ValueError("x\\n{PLANTED}")
score_matrix = softmax = attention = wrong
""",
        says="(no-scale;",
    ),
    "a mistake and a part in the line that raises": Hostile(
        f"""
def wrong(*args): raise ValueError("x")  # {PLANTED.replace(chr(92) + "n", " ")}
score_matrix = softmax = attention = wrong
""",
        says="(no-scale;",
    ),
    "a mistake and a part in the name of an error": Hostile(
        f"""
def wrong(*args): raise type("{PLANTED}", (Exception,), {{}})("x")
score_matrix = softmax = attention = wrong
""",
        says="(no-scale;",
    ),
    "a mistake and a part in the name of a class": Hostile(
        f"""
odd = type("{PLANTED}", (), {{"__repr__": lambda self: "{PLANTED}"}})()
"""
        + FUNCTIONS.format("odd"),
        says="(no-scale;",
    ),
    "a mistake and a part printed": Hostile(
        f"""
import os, sys
def loud(*args):
    for out in (sys.stdout, sys.__stdout__, sys.stderr): print("{PLANTED}", file=out)
    os.write(1, b"{PLANTED}")
loud()
score_matrix = softmax = attention = loud
""",
        says="(no-scale;",
    ),
    "a mistake and a part in an id": Hostile(f'learner_id = "{PLANTED}"', says="(no-scale;"),
    "a mistake and a part in an id that is a list": Hostile(
        f'learner_id = ["{PLANTED}"]', says="(no-scale;"
    ),
    "a mistake and a part in a letter": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "reading": f'meaning = "{PLANTED}"\nrest = share = favourites = "{PLANTED}"',
        },
        says="(no-scale;",
    ),
    "a name with line ends": Hostile(
        f"""
name = "x\\n{PLANTED}"
def wrong(*args): raise NameError(name)
wrong.__name__ = wrong.__qualname__ = name
globals()[name] = score_matrix = softmax = attention = wrong
""",
        says="(no-scale;",
    ),
    "listeners told of parts that were never opened": Hostile(
        """
from attn_lib.course.checks import Finding, Part, listening
from attn_lib.course.checks.events import Finished, tell
wrong = Finding("softmax", "x", mistake="no-scale")
told = Finished((Part("score matrix of two matrices", 2), Part("x", 1, [wrong])))
def tells(*args):
    with listening(print): tell(told)
    return told
tells()
score_matrix = softmax = attention = tells
""",
        says="mistake='no-scale'",
    ),
    "a listener that passes every part": Hostile(
        """
import attn_lib.course.checks.findings as results
from attn_lib.course.checks import listening
results.Part.passed = property(lambda self: True)
heard = []
listening(heard.append).__enter__()
def hears(*args): return len(heard)
score_matrix = softmax = attention = hears
""",
        says="got () (a",
    ),
}

SECRETS = {
    "solutions read": Hostile(
        """
import os, attn_lib
found = []
course = os.path.dirname(os.path.dirname(attn_lib.__file__))
for folder in (course, "/home", "/root", "/srv", "/var"):
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".venv", ".pyenv")]
        found += [name for name in names if name.endswith((".ipynb", ".db", ".csv"))]
print("FOUND", found)
""",
        says="FOUND []",
    ),
    "the course's folder listed": Hostile(
        """
import os, attn_lib
course = os.path.dirname(os.path.dirname(attn_lib.__file__))
print("BESIDE", sorted({*os.listdir(course)} - {".venv"}))
grader = os.path.join(course, "grader")
print("GRADER", *(sorted(os.listdir(room)) for room in (grader, os.path.join(grader, "sandbox"))))
""",
        says="GRADER ['__init__.py', 'sandbox'] ['__init__.py', 'inside']",
    ),
    "the exchange and what the network tells": Hostile(
        SOCKET
        + """
import fcntl
print("EXCHANGE", os.path.exists("/usr/local/share"), sorted(os.listdir("/usr")))
for look in (
    lambda: fcntl.ioctl(wire, 0x8912, bytes(40)), lambda: fcntl.ioctl(wire, 0x8910, bytes(40)),
    lambda: wire.getsockopt(1, 17, 12), lambda: wire.getsockopt(1, 77, 4),
):
    try:
        print("SEEN", look())
    except OSError as error:
        print("refused", error.errno)
""",
        says="refused 25\nrefused 25\nrefused 1\nrefused 1",
    ),
    "the password file read": Hostile("open('/etc/shadow').read()", says="Error"),
    "other processes looked at": Hostile(
        "import os\nprint('PROCESSES', os.listdir('/proc'))", says="PROCESSES []"
    ),
    "the environment read": Hostile(
        """
import os
print("KEYS", sorted(k for k in os.environ if "TOKEN" in k or "SECRET" in k or "SSH" in k))
print("SEEN", "ATTN_LIB_TEST_SECRET" in os.environ)
""",
        says="SEEN False",
    ),
    "the grader's own code read": Hostile(
        """
import importlib.util
print("JUDGE", importlib.util.find_spec("grader.judging") is None)
""",
        says="Error",
    ),
    "the home of the one who grades": Hostile(
        "import os\nprint('HOME', os.listdir(os.path.expanduser('~')))", says="HOME ["
    ),
    "a call to another machine": Hostile(
        """
import socket
socket.create_connection(("192.0.2.1", 80), timeout=1)
""",
        says="PermissionError",
    ),
    "a call to this machine": Hostile(
        """
import socket
for port in (22, 80, 5432, 8888):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.2)
        print("CONNECTED", port)
    except OSError as error:
        print("refused", port)
""",
        says="refused 5432",
    ),
}

DAMAGE = {
    "everything deleted": Hostile("""
import shutil
shutil.rmtree("/", ignore_errors=True)
print("went on")
"""),
    "the library rewritten": Hostile(
        """
import numpy, attn_lib
for module in (numpy, attn_lib):
    open(module.__file__, "a").write("\\nraise SystemExit\\n")
""",
        says="Error",
    ),
    "a startup file left behind": Hostile("""
import os, site, sysconfig
for folder in {*site.getsitepackages(), sysconfig.get_path("purelib"), os.path.expanduser("~")}:
    try:
        open(os.path.join(folder, "usercustomize.py"), "w").write("print('here again')")
    except OSError as error:
        print("refused")
"""),
    "all processes killed": Hostile(
        "import os, signal\nos.kill(-1, signal.SIGKILL)\nprint('went on')"
    ),
    "its parent killed": Hostile(
        "import os, signal\nos.kill(os.getppid() or 1, signal.SIGKILL)\nprint('went on')"
    ),
    "a process that stays behind": Hostile("""
import os, time
if os.fork() == 0:
    try: os.setsid()
    except OSError: pass
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)
"""),
    "namespaces of its own": Hostile(
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print("UNSHARE", libc.unshare(0x10000000 | 0x20000), libc.mount(b"x", b"/usr", b"tmpfs", 0, None))
""",
        says="UNSHARE -1 -1",
    ),
    "rights asked back": Hostile(
        """
import os
for call in (lambda: os.setuid(0), lambda: os.chown("/usr", 0, 0), lambda: os.chroot("/tmp")):
    try:
        call()
        print("ALLOWED")
    except OSError:
        print("refused")
""",
        says="refused\nrefused\nrefused",
    ),
    "a debugger on its parent": Hostile(
        """
import ctypes, os
print("PTRACE", ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))
""",
        says="PTRACE -1",
    ),
    "devices read": Hostile(
        """
import glob
for path in ("/dev/sda", "/dev/vda", "/dev/mem", "/dev/kmsg"):
    try:
        open(path, "rb").read(1)
        print("READ", path)
    except OSError:
        pass
print("done")
""",
        says="done",
    ),
}

EXHAUSTION = {
    "a cell that never ends": Hostile(
        "while True: pass", says="was stopped after 2 s", remark=True, endless=True
    ),
    "a cell that never ends and takes no for an answer": Hostile(
        """
while True:
    try:
        while True: pass
    except BaseException:
        pass
""",
        says="was stopped after 2 s",
        remark=True,
        endless=True,
    ),
    "a cell that sleeps": Hostile(
        "import time\ntime.sleep(1000)", says="was stopped after 2 s", remark=True, endless=True
    ),
    "a function that never ends": Hostile(
        """
def endless(*args):
    while True: pass
attention = endless
""",
        says="did not return within",
        remark=True,
        endless=True,
    ),
    "a function that ignores every signal": Hostile(
        """
import signal
def deaf(*args):
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True:
        try:
            while True: pass
        except BaseException: pass
attention = deaf
""",
        says="stopped",
        remark=True,
        endless=True,
    ),
    "a calculation that no signal interrupts": Hostile(
        """
def attention(*args):
    return max(range(10**14))
""",
        says="stopped",
        remark=True,
        endless=True,
    ),
    "memory in small pieces": Hostile(
        """
kept = []
while True: kept.append(bytearray(10**7))
""",
        says="emory",
    ),
    "memory in one piece": Hostile("import numpy as np\nx = np.ones(10**11)", says="MemoryError"),
    "memory in many processes": Hostile(
        """
import os, time
for _ in range(16):
    if os.fork() == 0:
        kept = bytearray(120 * 10**6)
        for i in range(0, len(kept), 4096): kept[i] = 1
        time.sleep(1000)
import time
time.sleep(1.5)
""",
        says="emory",
    ),
    "memory behind names that are no text, and first threads that ended": Hostile(
        """
import _thread, ctypes, os, time
libc = ctypes.CDLL(None)
names = [b"\\xff", b"\\x1cVmRSS:\\t-9 kB", b"x\\nVmRSS:\\t0 kB", b") Z 1 ("]
def take():
    kept = b"x" * (64 << 20)
    time.sleep(1000)
for n in range(12):
    if os.fork() == 0:
        libc.prctl(15, names[n % 4])
        if n % 3:
            take()
        _thread.start_new_thread(take, ())
        libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)
time.sleep(1000)
""",
        says="it used more than 512 MiB of memory",
        remark=True,
    ),
    "memory that the kernel holds": Hostile(
        """
import fcntl, os, select, socket
read, write = os.pipe()
one, other = socket.socketpair()
file = open("/tmp/file", "w")
for hold in (
    lambda: fcntl.fcntl(write, 1031, 1 << 20), lambda: select.epoll(),
    lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22),
    lambda: socket.send_fds(one, [b"x"], [read]), lambda: fcntl.lockf(file, fcntl.LOCK_EX, 1),
    lambda: os.splice(read, write, 1), lambda: os.setxattr("/tmp/file", "user.x", b"x"),
):
    try:
        print("HELD", hold())
    except OSError as error:
        print("refused", error.errno)
""",
        says="refused 1\n" * 7,
    ),
    "shared memory that it lets go of": Hostile(
        """
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
def hoard(mib, flags, file=-1):
    at = libc.mmap(None, mib << 20, 3, flags, file, 0)
    if at is None or at == ctypes.c_void_p(-1).value:
        return print("refused", ctypes.get_errno())
    libc.memset(at, 1, mib << 20)
    libc.madvise(at, mib << 20, 4)
for _ in range(8):
    hoard(128, 0x21)
hoard(128, 0x23)
hoard(128, 1, os.open("/dev/zero", os.O_RDWR))
""",
        says="refused 1\n" * 9,
    ),
    "rows without end that are empty": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "reading": "import numpy as np\nshare = rest = favourites = np.zeros((2**30, 0))",
            "score-matrix": "def score_matrix(q, k): return np.zeros((2**30, 0))",
        },
        says="its result is too large to read: more than",
    ),
    "thirty million small numbers": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "reading": "import numpy as np\nshare = rest = favourites = np.ones(30_000_000, 'i1')",
        },
        says="(30000000,)",
    ),
    "processes without end": Hostile(
        """
import os
while True: os.fork()
""",
        says="",
    ),
    "every processor, by many processes": Hostile(
        """
import os, time
for _ in range(20):
    if os.fork() == 0:
        for leave in (os.setsid, lambda: os.sched_setaffinity(0, range(64))):
            try: leave()
            except OSError: pass
        while True: pass
time.sleep(1.5)
print("went on")
""",
        says="went on",
    ),
    "threads without end": Hostile(
        """
import threading, time
while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
""",
        says="thread",
    ),
    "a full disk": Hostile(
        """
with open("/tmp/full", "wb") as file:
    while True: file.write(bytes(10**6))
""",
        says="Error",
    ),
    "files without end": Hostile(
        """
number = 0
while True:
    open(f"/tmp/{number}", "w").close()
    number += 1
""",
        says="Error",
    ),
    "a flood on stdout": Hostile(
        "while True: print('x' * 10**6)", says="xxx", remark=True, endless=True
    ),
    "a flood on stderr": Hostile(
        "import sys\nwhile True: print('x' * 10**6, file=sys.stderr)",
        says="xxx",
        remark=True,
        endless=True,
    ),
    "a flood past Python": Hostile(
        """
import os
while True: os.write(1, b"x" * 10**6)
""",
        remark=True,
        endless=True,
    ),
    "pictures without end": Hostile(
        """
from IPython.display import display
class Picture:
    def _repr_png_(self): return b"\\x89PNG\\r\\n\\x1a\\n" + bytes(10**6)
while True: display(Picture())
""",
        remark=True,
        endless=True,
    ),
    "a flood from a function": Hostile(
        """
def noisy(*args):
    while True: print("x" * 10**6)
attention = noisy
""",
        says="did not return within",
        remark=True,
        endless=True,
    ),
    "a result of gigabytes": Hostile(
        "import numpy as np\n" + FUNCTIONS.format("np.zeros((20000, 20000), dtype=np.int8)"),
    ),
    "a list of millions": Hostile("millions = [0.0] * 5_000_000\n" + FUNCTIONS.format("millions")),
    "a list in a list in a list": Hostile(
        """
nested = 1.0
for _ in range(100_000): nested = [nested]
"""
        + FUNCTIONS.format("nested")
    ),
    "a list that holds itself": Hostile(
        "circle = []\ncircle.append(circle)\n" + FUNCTIONS.format("circle")
    ),
    "a number of a million digits": Hostile(
        "number = 1 << 3_400_000\n" + FUNCTIONS.format("number")
    ),
    "a generator without end": Hostile(
        "import itertools\n" + FUNCTIONS.format("itertools.count()"), says="got count"
    ),
    "a text of a hundred million letters": Hostile(
        "text = 'x' * 10**8\n" + FUNCTIONS.format("text")
    ),
    "recursion without end": Hostile(
        """
def again(*args): return again(*args)
score_matrix = softmax = attention = again
""",
        says="RecursionError",
    ),
    "output beyond limits that it lifts": Hostile(
        """
from grader.sandbox.inside.shell import Outputs
Outputs._fit = lambda self, text: text
print("x" * 7_000_000)
""",
        says="output left out",
    ),
    "outputs as many as can be sent": Hostile(
        """
from grader.sandbox.inside.shell import Outputs
finish = Outputs.finish
def many(self):
    Outputs.finish = finish
    return [{"output_type": "stream", "name": "stdout", "text": "x"}] * 20_000
Outputs.finish = many
""",
        says="output left out",
    ),
    "a picture of billions of pixels": Hostile(
        """
import struct, zlib
from IPython.display import Image
def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
size = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
rows = zlib.compress(bytes(60_000 // 8 + 1) * 100)
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", size) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
Image(png)
""",
        says="<IPython.core.display.Image object>",
    ),
    "an id of seven million letters": Hostile(
        "learner_id = 'x' * 7_000_000", says="got 7000000 characters"
    ),
    "a letter of seven million letters": Hostile(
        {"learner-id": 'learner_id = "ada"', "reading": "meaning = 'x ' * 3_500_000"},
        says="more characters",
    ),
    "half a million causes": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "reading": "meaning = '(no-scale; see the book, x) Likely cause: ' * 180_000",
        },
        says="more characters",
    ),
    "an error message of a hundred megabytes": Hostile("raise ValueError('x' * 10**8)", says="xxx"),
}

PROTOCOL = {
    "bytes on every open file": Hostile("""
import os
def spray(*args):
    for fd in range(3, 256):
        try: os.write(fd, b"\\x00\\x00\\x00\\x04null" * 100)
        except OSError: pass
    return 0
score_matrix = softmax = attention = spray
"""),
    "forged replies on every open file": Hostile("""
import json, os, struct
def forge(*args):
    for fd in range(3, 256):
        for text in ('{"result": [[5, 2, -1]]}', '{"ok": true, "value": 1}'):
            data = text.encode()
            for size in (struct.pack(">I", len(data)), struct.pack("<I", len(data)),
                         struct.pack(">Q", len(data))):
                try: os.write(fd, size + data)
                except OSError: pass
    return 0
score_matrix = softmax = attention = forge
"""),
    "replies before they are asked for": Hostile("""
import os, threading, time
def spray():
    while True:
        for fd in range(3, 64):
            try: os.write(fd, b"{}")
            except OSError: pass
        time.sleep(0.01)
threading.Thread(target=spray, daemon=True).start()
"""),
    "an urgent byte": Hostile(
        SOCKET
        + """
import signal, time
def hurry(*args):
    signal.setitimer(signal.ITIMER_REAL, 0)
    wire.send(b"!", socket.MSG_OOB)
    time.sleep(1000)
attention = hurry
""",
        says="stopped",
        remark=True,
        endless=True,
    ),
    "open files sent along": Hostile(
        SOCKET
        + """
def give(*args):
    socket.send_fds(wire, [b" "], [fd] * 20, socket.MSG_DONTWAIT)
attention = give
""",
        says="it raised PermissionError",
    ),
    "a name in the network of the one who grades": Hostile(
        SOCKET
        + """
for act in (lambda: wire.bind("\\0taken"), lambda: wire.connect("\\0x")):
    try:
        act()
        print("ALLOWED")
    except OSError as error:
        print("refused", error.errno)
""",
        says="refused 1\nrefused 1",
    ),
    "every file closed": Hostile("import os\nos.closerange(0, 256)", says="stopped", remark=True),
    "every file closed in a function": Hostile(
        """
import os
def close(*args): os.closerange(3, 256)
score_matrix = softmax = attention = close
""",
        says="stopped",
        remark=True,
    ),
    "a byte now and then": Hostile("""
import os, time
def trickle(*args):
    while True:
        for fd in range(3, 64):
            try: os.write(fd, b"\\x01")
            except OSError: pass
        time.sleep(0.2)
score_matrix = softmax = attention = trickle
"""),
    "the end of its process": Hostile("import os\nos._exit(0)", says="stopped", remark=True),
    "the end of its process in a function": Hostile(
        """
import os
def leave(*args): os._exit(0)
score_matrix = softmax = attention = leave
""",
        says="stopped",
        remark=True,
    ),
    "a crash": Hostile("import ctypes\nctypes.string_at(0)", says="stopped", remark=True),
    "a second process that answers as well": Hostile("""
import os
def both(*args):
    os.fork()
    return 0
score_matrix = softmax = attention = both
"""),
    "an object that runs code when it is read": Hostile(
        """
class Trap:
    def __reduce__(self): return (print, ("TRAPPED",))
    def __array__(self, *a, **k): raise SystemExit
    def __len__(self): raise SystemExit
    def __iter__(self): raise SystemExit
    def __float__(self): raise SystemExit
    def __str__(self): raise SystemExit
    __repr__ = __str__
"""
        + FUNCTIONS.format("Trap()"),
        says="it raised SystemExit",
    ),
    "half a character in an error and in what is printed": Hostile(
        """
print("\\ud800")
def score_matrix(q, k): raise ValueError("half: \\ud800")
""",
        says="ValueError: half: ?",
    ),
    "an array of objects": Hostile(
        "import numpy as np\n" + FUNCTIONS.format("np.array([print, len], dtype=object)")
    ),
}

ACCIDENTS = {
    "a question to nobody": Hostile("learner_id = input('Who are you?')", says="input()"),
    "a name spelled wrong": Hostile("lerner_id = 'ada'", says="learner_id: not there yet."),
    "a syntax error": Hostile("learner_id = 'ada", says="SyntaxError"),
    "its own names deleted": Hostile(
        {
            "learner-id": 'learner_id = "ada"',
            "softmax": "def softmax(scores): return scores\ndel np",
        }
    ),
    "a module of its own called numpy": Hostile("""
open("numpy.py", "w").write("array = zeros = None")
import importlib, sys
sys.modules.pop("numpy")
import numpy
"""),
    "warnings as errors": Hostile("import warnings\nwarnings.simplefilter('error')"),
    "a shell command": Hostile("!rm -rf / 2>/dev/null; echo went on", says="went on"),
    "another kernel's magic": Hostile("%%R\nx <- 1", says="%%R"),
    "an exit": Hostile("exit()"),
    "a system exit": Hostile("raise SystemExit(0)"),
}

HOSTILE: dict[str, Hostile] = {
    **FORGING,
    **PLANTING,
    **SECRETS,
    **DAMAGE,
    **EXHAUSTION,
    **PROTOCOL,
    **ACCIDENTS,
}
