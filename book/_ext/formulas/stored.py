"""Keep typeset formulas from build to build, so that a small change typesets only what is new."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path


class StoredFormulas:
    """Formulas that were typeset before, in a file.

    Parameters
    ----------
    path : Path
        The file; it is made if there is none.
    version : str
        What typesets. Formulas of another version are not found.
    """

    def __init__(self, path: Path, version: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._version = version
        self._file = sqlite3.connect(path)
        self._file.execute("CREATE TABLE IF NOT EXISTS formulas (key TEXT PRIMARY KEY, html TEXT)")

    def get(self, render: Callable[..., str], tex: str, *, display: bool) -> str:
        """Return `render(tex, display=display)`, computed at most once."""
        text = "\n".join([self._version, render.__name__, str(display), tex])
        key = hashlib.sha256(text.encode()).hexdigest()
        row = self._file.execute("SELECT html FROM formulas WHERE key = ?", [key]).fetchone()
        if row is None:
            row = (render(tex, display=display),)
            self._file.execute("INSERT INTO formulas VALUES (?, ?)", [key, *row])
        return row[0]

    def close(self) -> None:
        """Write what is new and close the file."""
        self._file.commit()
        self._file.close()
