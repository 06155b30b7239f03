"""Where a submission runs and how much it may use."""

from __future__ import annotations

from dataclasses import dataclass

#: Where learners' code runs: in bubblewrap's sandbox, or in a plain process without one.
BUBBLEWRAP = "bubblewrap"
NONE = "none"

#: The user and group id of a submission. Nobody else has it; root is exempt from process limits.
UID = 61234


@dataclass(frozen=True)
class Limits:
    """The limits of one session of the sandbox."""

    call_seconds: float = 5.0  #: for one call of a function
    cell_seconds: float = 30.0  #: for one cell
    submission_seconds: float = 120.0  #: for a submission; enforced by the judge
    memory_mib: int = 1024  #: for all its processes together; Python and the packages use 80
    processes: int = 32  #: processes and threads at the same time
    disk_mib: int = 32  #: for all files it writes, and for each; they are deleted afterwards
    output_kib: int = 256  #: text kept of one cell; eight times as much for its pictures
    result_mib: int = 32  #: for one value sent to the judge
