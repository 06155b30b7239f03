"""Digests of what a verdict depends on: a submission is judged again only if its digest changed."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path

import attn_lib
from grader.sandbox.inside.limits import Limits

#: The packages whose version may change a verdict.
PACKAGES = ("nbgrader", "numpy", "matplotlib", "ipython")

#: The subpackages and modules of grader that take part in judging.
JUDGING = ("course", "errors", "judging", "sandbox", "submission")


def digest(pieces: Iterable[str | bytes]) -> str:
    """Return the SHA-256 digest of the pieces, which depends on their order and boundaries.

    Examples
    --------
    >>> digest(["ab", "c"]) == digest(["a", "bc"])
    False
    """
    total = hashlib.sha256()
    for piece in pieces:
        content = piece.encode() if isinstance(piece, str) else piece
        total.update(len(content).to_bytes(8, "big") + content)
    return total.hexdigest()


#: What a verdict depends on besides the submission.
ASSIGNMENT, CODE, ENVIRONMENT, SETTINGS = "assignment", "code", "environment", "settings"

#: Characters of the digests that only say which of these has changed.
SHORT = 16


def course_parts(source: bytes, limits: Limits, isolation: str, salt: str = "") -> dict[str, str]:
    """Return short digests of what a verdict depends on, except the submission.

    Parameters
    ----------
    source : bytes
        The instructor's notebook.
    limits : Limits
        What a submission may use.
    isolation : str
        Where learners' code runs.
    salt : str
        The secret that learners' numbers depend on; "" for none.

    Returns
    -------
    dict
        By `ASSIGNMENT`: the notebook. `CODE`: attn_lib with its data, and what judges.
        `ENVIRONMENT`: Python and packages. `SETTINGS`: the other parameters.
    """
    grader = Path(__file__).parent.parent
    library = (path for path in Path(attn_lib.__file__).parent.rglob("*") if path.is_file())
    files = [path for path in library if path.suffix != ".pyc"]
    for name in JUDGING:
        files += [*grader.glob(f"{name}.py"), *grader.glob(f"{name}/**/*.py")]
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    pieces: dict[str, list[str | bytes]] = {
        ASSIGNMENT: [source],
        CODE: [path.read_bytes() for path in sorted(files)],
        ENVIRONMENT: [sys.version, *versions],
        SETTINGS: [repr(astuple(limits)), isolation, salt],
    }
    return {name: digest(of_part)[:SHORT] for name, of_part in pieces.items()}


def course_digest(source: bytes, limits: Limits, isolation: str, salt: str = "") -> str:
    """Return one digest of everything in `course_parts`."""
    return digest(course_parts(source, limits, isolation, salt).values())
