"""Where a submission runs and how much it may use."""

from __future__ import annotations

from dataclasses import dataclass

#: Where learners' code runs: in bubblewrap's sandbox, or in a plain process that it can leave.
BUBBLEWRAP = "bubblewrap"
NONE = "none"


@dataclass(frozen=True)
class Limits:
    """The limits of one session of the sandbox."""

    call_seconds: float = 5.0  #: for one call of a function
    cell_seconds: float = 30.0  #: for one cell
    submission_seconds: float = 120.0  #: for a submission; whoever holds the session counts it
    memory_mib: int = 1024  #: for all its processes together; Python with its packages is 80 of it
    processes: int = 32  #: processes and threads at a time
    disk_mib: int = 32  #: files it writes, which are dropped; also the largest file
    output_kib: int = 256  #: kept of what a cell prints; eight times that of its pictures
    result_mib: int = 32  #: the largest value brought back
