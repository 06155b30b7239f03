"""Databases for tests: a PostgreSQL server on this machine, and empty gradebooks."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Base
from sqlalchemy import create_engine, text

#: PostgreSQL refuses to run as root. Debian's package creates this user for it.
USER = "postgres"


def needed(found: object, reason: str) -> None:
    """Skip the test if `found` is false; with CI=true, fail it."""
    if not found:
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


def programs() -> Path | None:
    """Return the folder of the newest installed PostgreSQL's programs."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return folders[-1].parent if folders else Path(on_path).resolve().parent if on_path else None


def as_user(*command: object, folder: Path) -> None:
    """Run a command as a user other than root."""
    line = [str(part) for part in command]
    if os.geteuid() == 0:
        user = pwd.getpwnam(USER)
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    else:
        who = {}
    done = subprocess.run(
        line,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        **who,
    )
    assert done.returncode == 0, done.stdout


@contextlib.contextmanager
def postgresql_server() -> Iterator[str]:
    """Start a server, yield the address of an empty database in it, and stop it.

    The test is skipped where there is no PostgreSQL; with CI=true it fails.
    """
    pytest.importorskip("psycopg", reason="psycopg is not installed (pip install '.[postgresql]').")
    found = programs()
    needed(found, "There is no PostgreSQL here (Debian: apt-get install postgresql).")
    if os.geteuid() == 0:
        needed(USER in {entry.pw_name for entry in pwd.getpwall()}, f"There is no user {USER}.")
    # Other users may not enter pytest's temporary folder.
    folder = Path(subprocess.check_output(["mktemp", "--directory"], text=True).strip())
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = folder / "data"
        as_user(
            found / "initdb", "-D", data, "-U", "teacher", "-A", "trust", "-E", "UTF8",
            "--no-locale", "--no-sync", folder=folder,
        )  # fmt: skip
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
        control = (found / "pg_ctl", "-D", data, "-w", "-t", "60")
        as_user(*control, "-l", folder / "log", "-o", options, "start", folder=folder)
        try:
            yield f"postgresql+psycopg://teacher@127.0.0.1:{port}/postgres"
        finally:
            as_user(*control, "-m", "immediate", "stop", folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str, name: str) -> str:
    """Make a database on the server and return its address."""
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}"))
    engine.dispose()
    return server.replace("/postgres", f"/{name}")


def with_tables(db_url: str) -> str:
    """Make an empty gradebook's tables and return its address.

    Without this, nbgrader would start alembic, which takes seconds.
    """
    engine = create_engine(db_url)
    Base.metadata.create_all(engine)
    engine.dispose()
    return db_url
