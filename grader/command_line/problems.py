"""Sentences on errors of files, of the gradebook's database and of options in nbgrader_config.py.

They are none of the grader's own errors, and no bugs: the instructor can do something about them.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from grader.printable import printable

#: Errors of files and disks, as opposed to bugs of the grader.
OF_FILES = (
    *(errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EMFILE, errno.ENFILE),
    *(errno.ENOTEMPTY, errno.EEXIST),
)

#: What to do, by a part of what the database said.
WAYS_OUT = {
    "no such column": "An older nbgrader made it: `nbgrader db upgrade` brings it up to date",
    "UndefinedColumn": "An older nbgrader made it: `nbgrader db upgrade` brings it up to date",
    "unable to open database file": "Name an existing folder that you may write into",
    "Could not parse": "An address is sqlite:////home/me/gradebook.db or "
    "postgresql+psycopg://USER@HOST/gradebook",
    "Can't load plugin": "An address begins with sqlite:/// or postgresql+psycopg://",
    "Connection refused": "See that the server runs there, and that the address has its port",
    "password": "Put the password into ~/.pgpass, as HOST:PORT:DATABASE:USER:PASSWORD",
}


def sentence_on(error: Exception, db_url: str = "") -> str:
    """Return a sentence on an error that the instructor can do something about, or "".

    Parameters
    ----------
    error : Exception
    db_url : str
        The gradebook's address, if it is known.
    """
    return _on_file(error) or _on_option(error) or _on_database(error, db_url)


def _on_file(error: Exception) -> str:
    if not isinstance(error, OSError) or error.errno not in OF_FILES:
        return ""
    where = f": {printable(str(error.filename))}" if error.filename else ""
    return (
        f"a file could not be read or written ({error.strerror}){where}. What is in the gradebook "
        "stays. Put it right, then give the command again: it continues from here."
    )


def _on_option(error: Exception) -> str:
    from traitlets import TraitError

    if not isinstance(error, TraitError):
        return ""
    what = str(error).rstrip(".")
    return f"nbgrader_config.py has an option with a wrong value. {what}. Correct it first."


def _on_database(error: Exception, db_url: str) -> str:
    from nbgrader.api import InvalidEntry
    from sqlalchemy.exc import ArgumentError, DBAPIError

    if isinstance(error, ModuleNotFoundError) and "psycopg" in str(error.name):
        return (
            f"the gradebook could not be used: {error}. Install it with pip install '.[postgresql]'"
        )
    if not isinstance(error, (ArgumentError, InvalidEntry, DBAPIError)):
        return ""
    text, *_ = str(getattr(error, "orig", None) or error).strip().splitlines() or [""]
    text = text.rstrip(".")
    ways = [way for mark, way in WAYS_OUT.items() if mark in str(error)]
    if 'database "' in text and "does not exist" in text:
        ways = [f"`createdb {text.split(chr(34))[-2]}`, as a user who may, makes it"]
    if "database is locked" in text:
        ways = [_holders(db_url)]
    return f"the gradebook could not be used: {'. '.join([text, *ways[:1]])}."


def _holders(db_url: str) -> str:
    """Return a sentence that names the programs that have the gradebook's file open."""
    holders = open_in(Path(_file_of(db_url)))
    if not holders:
        return "Close what else uses it, such as formgrader, then give the command again"
    return f"It is open in {', '.join(holders)}. Close that, then give the command again"


def _file_of(db_url: str) -> str:
    from sqlalchemy import make_url

    return make_url(db_url).database or "" if db_url else ""


def open_in(file: Path) -> list[str]:
    """Return the other processes of this user that have a file open, as "NAME (process NUMBER)".

    Processes of others can be asked by root only; there are none without Linux's /proc.
    """
    found = []
    with contextlib.suppress(OSError):
        wanted = file.stat()
        for process in Path("/proc").glob("[0-9]*"):
            if process.name == str(os.getpid()):
                continue
            with contextlib.suppress(OSError):
                if any(_is(entry, wanted) for entry in (process / "fd").iterdir()):
                    name = (process / "comm").read_text("utf-8", "replace").strip()
                    found.append(f"{printable(name)} (process {process.name})")
    return sorted(found)


def _is(entry: Path, wanted: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(entry.stat(), wanted)
    return False
