"""The numbers of system calls are the kernel's own, on both machines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.sandbox.inside.system_call_numbers import ALLOWED, CHECKED, NEWEST
from grader.sandbox.inside.system_calls import _CHECKS, _MACHINES, _program

X86 = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
ARM = Path("/usr/include/asm-generic/unistd.h")


@pytest.mark.parametrize(("which", "header"), [(0, X86), (1, ARM)], ids=["x86-64", "ARM"])
def test_the_numbers_are_the_kernels(which, header):
    if not header.exists():
        pytest.skip(f"needs {header}, of Debian's linux-libc-dev")
    # The second header marks calls of which 32-bit machines have others, and renames two of them.
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text("ascii"))
    numbers = {name: int(number) for name, number in found}
    numbers.setdefault("newfstatat", numbers.get("fstatat", 0))
    newer = {"fchmodat2": 452}  # missing in the headers of Debian 12
    named = {name: pair[which] for name, pair in {**ALLOWED, **CHECKED}.items()}
    assert {name: number for name, number in named.items() if number is not None} == {
        name: numbers.get(name, newer.get(name)) for name in named if named[name] is not None
    }
    if which == 1:
        assert [name for name, number in named.items() if number is None and name in numbers] == []


def test_each_number_is_named_once_and_known():
    for which in (0, 1):
        numbers = [pair[which] for pair in (*ALLOWED.values(), *CHECKED.values())]
        known = [number for number in numbers if number is not None]
        assert len(known) == len({*known})
        assert 0 <= min(known) <= max(known) <= NEWEST
    assert not {*ALLOWED} & {*CHECKED}
    assert {*_CHECKS} == {*CHECKED}


def test_the_filter_fits_into_the_kernels_limit():
    for machine in _MACHINES.values():
        assert len(_program(*machine)) <= 8 * 4096
