"""Run a command that fills a folder, unless the folder was made from the same inputs.

    run_if_changed.py FOLDER --makes FILE [--skips-with STATUS] --from INPUT... -- COMMAND...

The folder is emptied first, so it holds the output of this run only. If the command succeeds and
makes FILE, a digest of the command and its inputs is stored in the folder, and later calls with
the same inputs do nothing. A run that fails stores no digest. Nor does one that ends with STATUS,
by which the command says that it cannot do this here; that is no failure.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

STAMP = ".made-from"
#: Folders that tools write as a side effect and no command here reads.
NOT_INPUTS = {"__pycache__", ".ipynb_checkpoints"}


def files(paths: list[Path]) -> Iterator[Path]:
    """Yield the files among `paths` and below the folders among them, in a fixed order."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"Expected the input {path}, found no such file or folder.")
        if path.is_file():
            yield path
            continue
        for below in sorted(path.rglob("*")):
            if below.is_file() and NOT_INPUTS.isdisjoint(below.parts):
                yield below


def digest(inputs: list[Path], command: list[str]) -> str:
    """Return a digest of the command and of every input file's name and content."""
    total = hashlib.sha256(repr(command).encode())
    for file in files(inputs):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.as_posix()} {content}\n".encode())
    return total.hexdigest()


def run(
    folder: Path, made: Path, inputs: list[Path], command: list[str], skipped: int | None = None
) -> int:
    """Bring `folder` up to date with `inputs`; return the exit status."""
    stamp = folder / STAMP
    current = digest(inputs, command)
    if made.exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == current:
        print(f"{folder}: up to date.")
        return 0
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    status = subprocess.run(command).returncode
    if skipped and status == skipped:
        return 0
    if status:
        print(f"{folder}: {command[0]} failed with status {status}.", file=sys.stderr)
        return status
    if not made.exists():
        print(f"{folder}: expected {command[0]} to make {made}, found none.", file=sys.stderr)
        return 1
    stamp.write_text(current, encoding="utf-8")
    return 0


def main(arguments: list[str]) -> int:
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--makes", type=Path, required=True, metavar="FILE")
    parser.add_argument("--skips-with", type=int, metavar="STATUS")
    parser.add_argument("--from", type=Path, required=True, nargs="+", dest="inputs")
    options = parser.parse_args(arguments[:split])
    command = arguments[split + 1 :]
    if not command:
        parser.error("expected -- and a command, got none")
    return run(options.folder, options.makes, options.inputs, command, options.skips_with)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
