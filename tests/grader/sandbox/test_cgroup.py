"""Where the grader may make a cgroup, the kernel limits the memory of a sandbox."""

from __future__ import annotations

from itertools import chain, repeat
from pathlib import Path

import pytest

from grader.sandbox import sandbox as sandbox_module
from grader.sandbox.cgroup import Cgroup, parent_of_new
from grader.sandbox.inside.limits import Limits
from grader.sandbox.sandbox import Sandbox, SessionDied
from tests.grader.sandbox.probes import need_bubblewrap, printed

LIMITS = Limits(memory_mib=300, disk_mib=20, processes=10)
#: What the kernel shows of a process in the cgroup /user.slice/own.
MOUNTS = """\
24 1 0:22 / /proc rw - proc proc rw
25 1 0:23 {root} {place} rw,nosuid shared:9 - cgroup2 cgroup2 rw
26 1 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
"""
FILES = ("memory.max", "memory.swap.max", "pids.max", "cgroup.procs", "memory.events")


@pytest.fixture
def proc(tmp_path) -> Path:
    """A folder as /proc/self, of a process whose cgroup's parent limits memory."""
    own = tmp_path / "cgroup" / "user.slice" / "own"
    own.mkdir(parents=True)
    (own / "cgroup.subtree_control").write_text("\n")
    (own / "cgroup.procs").write_text("")
    (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (own.parent / "cgroup.procs").write_text("")
    (tmp_path / "cgroup" / "cgroup.subtree_control").write_text("memory\n")
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text("4:memory:/other\n0::/user.slice/own\n")
    (proc / "mountinfo").write_text(MOUNTS.format(root="/", place=tmp_path / "cgroup"))
    return proc


def test_the_parent_is_the_nearest_that_limits_memory(proc, tmp_path):
    above = tmp_path / "cgroup" / "user.slice"
    assert parent_of_new(proc) == above
    (above / "own" / "cgroup.subtree_control").write_text("memory\n")
    assert parent_of_new(proc) == above / "own"


def test_a_mount_may_show_only_a_part_of_the_tree(proc, tmp_path):
    place = tmp_path / "cgroup" / "user.slice"
    (proc / "mountinfo").write_text(MOUNTS.format(root="/user.slice", place=place))
    assert parent_of_new(proc) == place
    (proc / "mountinfo").write_text(MOUNTS.format(root="/elsewhere", place=place))
    assert parent_of_new(proc) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proc/cgroup", "4:memory:/user.slice/own\n"),
        ("proc/mountinfo", MOUNTS.splitlines()[0]),
        ("cgroup/user.slice/cgroup.subtree_control", "cpu pids\n"),
    ],
)
def test_without_version_2_or_its_limit_of_memory_there_is_none(name, text, proc, tmp_path):
    (tmp_path / name).write_text(text)
    assert parent_of_new(proc) is None


def test_a_parent_that_cannot_be_entered_is_none(proc, tmp_path):
    (tmp_path / "cgroup" / "user.slice" / "cgroup.procs").unlink()
    assert parent_of_new(proc) is None
    assert parent_of_new(tmp_path / "nothing") is None


def test_limits_are_written_as_the_kernel_reads_them(tmp_path, monkeypatch):
    make = Path.mkdir

    def with_files(folder, *args, **kwargs):
        make(folder, *args, **kwargs)
        for name in FILES:
            (folder / name).touch()

    monkeypatch.setattr(Path, "mkdir", with_files)
    cgroup = Cgroup(tmp_path, LIMITS)
    assert (cgroup.folder / "memory.max").read_text() == str((300 + 20 + 256) * 2**20)
    assert (cgroup.folder / "memory.swap.max").read_text() == "0"
    assert (cgroup.folder / "pids.max").read_text() == "26"
    cgroup.add(4711)
    assert (cgroup.folder / "cgroup.procs").read_text() == "4711"
    assert cgroup.ended() == 0
    (cgroup.folder / "memory.events").write_text("low 0\noom 4\noom_kill 3\noom_group_kill 1\n")
    assert cgroup.ended() == 3


def test_a_kernel_that_refuses_a_limit_leaves_nothing_behind(tmp_path):
    with pytest.raises(FileNotFoundError):  # a folder of a file system without memory.max
        Cgroup(tmp_path, LIMITS)
    assert [*tmp_path.iterdir()] == []


def test_the_kernels_limit_is_given_as_the_reason(monkeypatch):
    need_bubblewrap()
    ended = chain([0], repeat(1))
    monkeypatch.setattr(sandbox_module, "parent_of_new", lambda: Path("/nowhere"))
    with Sandbox(LIMITS) as sandbox:  # it cannot be made there, so there is none
        assert sandbox._cgroup is None
        monkeypatch.setattr(Cgroup, "ended", lambda _: next(ended))
        monkeypatch.setattr(Cgroup, "add", lambda *_: None)
        sandbox._cgroup = Cgroup.__new__(Cgroup)
        sandbox._cgroup.folder = Path("/nowhere/cgroup")  # nothing to remove there
        with (
            sandbox.session() as session,
            pytest.raises(SessionDied, match="it used more than 300 MiB of memory"),
        ):
            session.execute("a", "import os; os._exit(9)")


def test_the_kernel_ends_what_uses_too_much(monkeypatch):
    need_bubblewrap()
    if parent_of_new() is None:
        pytest.skip("this process may not make cgroups of version 2 that limit memory")
    usage = "grader.sandbox.process_tree.ProcessTree.usage"
    with Sandbox(LIMITS) as sandbox:
        folder = sandbox._cgroup.folder
        assert folder.is_dir()
        with sandbox.session() as session:
            assert printed(session, "print(1)") == "1\n"
            # Without the watchdog, only the kernel is left to end it.
            monkeypatch.setattr(usage, lambda *_: type("None", (), {"memory": 0, "threads": 0}))
            source = "import os\nwhile os.fork():\n    pass\nkept = b'x' * (200 << 20)\n"
            with pytest.raises(SessionDied, match="it used more than 300 MiB of memory"):
                session.execute("a", source + "os.wait()")
    assert not folder.exists()
