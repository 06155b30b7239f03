"""How many points a notebook's tests looked at, told by its kernel to nbgrader's validator as data.

nbgrader itself sees only that a test cell passes, even if it looked no further than whether answers
are filled in.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attn_lib.course.jupyter.front_end import any_kernel

if TYPE_CHECKING:
    from attn_lib.course.checks.findings import Part

#: The type of the data in a test cell's outputs.
MIME = "application/vnd.attn-lib.points+json"


def tell_validator(parts: Sequence[Part]) -> None:
    """Publish the points of a cell's parts if ``nbgrader validate`` executes it in a kernel."""
    if os.environ.get("NBGRADER_EXECUTION") != "validate" or any_kernel() is None:
        return
    from IPython.display import publish_display_data

    filled_in = sum(part.points for part in parts if part.is_form_only)
    points = sum(part.points for part in parts)
    data = {"looked_at": points - filled_in, "filled_in": filled_in}
    publish_display_data({MIME: data})  # type: ignore[no-untyped-call]
