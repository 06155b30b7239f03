"""Print the section of CHANGELOG.md about one version, as the text of its GitHub release.

python tools/release_notes.py v0.2.0
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(tag: str, changelog: str, version: str) -> str:
    """Return the section of the changelog about a tagged version.

    Raises
    ------
    ValueError
        If the tag does not match the package's version, or the changelog has no section for it.

    Examples
    --------
    >>> notes("v0.2.0", "## 0.2.0 - 2027-01-04\\n\\nMore.\\n\\n## 0.1.0 - 2026-11-28\\n", "0.2.0")
    'More.'
    """
    if tag != f"v{version}":
        raise ValueError(f"expected the tag v{version}, as in pyproject.toml, got {tag}.")
    found = re.search(
        rf"^## {re.escape(version)} - \S+\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if not found or not found[1].strip():
        raise ValueError(f"expected a section ## {version} - DATE in CHANGELOG.md, found none.")
    return found[1].strip()


def main(arguments: list[str]) -> int:
    """Print the notes of one tag."""
    if len(arguments) != 1:
        print("usage: python tools/release_notes.py TAG", file=sys.stderr)
        return 2
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        print(notes(arguments[0], changelog, project["version"]))
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
