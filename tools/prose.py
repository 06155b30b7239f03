"""Check the prose of Markdown pages, and only the prose, with proselint.

    prose.py FILE-OR-FOLDER...

Code, formulas, addresses and Markdown syntax are blanked first, so that proselint sees only
sentences. `tool.prose` in pyproject.toml lists the checks that are turned off. Prints a line for
each finding and exits with status 1 if there is any.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from proselint import checks as all_checks
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parent.parent

# Everything that is not prose. Link texts and terms stay; only the syntax around them is blanked.
BLANKED = [
    re.compile(r"\A---\n.*?\n---\n", re.DOTALL),
    re.compile(r"^(`{3,})[^`\n]*\n.*?^\1 *$", re.DOTALL | re.MULTILINE),
    re.compile(r"^%.*$", re.MULTILINE),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"\$[^$\n]+\$"),
    re.compile(r"\{(?:glue|cite)[^}]*\}`[^`]*`"),
    re.compile(r"^:{3,}.*$", re.MULTILINE),
    re.compile(r"\{[\w:-]+\}(?=`)"),
    re.compile(r"`[^`\n]+`"),
    re.compile(r"(?<=\])\([^)\n]*\)"),
    re.compile(r"</?\w+[^>]*>"),
    re.compile(r"https?://\S+"),
    re.compile(r"\b\d{1,3}(?: \d{3})+\b"),
    re.compile(r"[*#|\[\]]"),
]
# {term}`key` and {term}`keys <key>`: the reader sees `key` and `keys`, so that text is kept.
TERM = re.compile(r"\{term\}`([^`<]+?)( *<[^>]*>)?`", re.DOTALL)


def _blank(match: re.Match[str]) -> str:
    # A visible character, so that proselint does not read the words on either side as adjacent.
    return re.sub(r"[^\n]", "·", match.group())


def _term(match: re.Match[str]) -> str:
    name, target = match.group(1), match.group(2) or ""
    return f"{'·' * 7}{name}{'·' * (len(target) + 1)}"


def prose(markdown: str) -> str:
    """Return the text with everything else blanked; each word keeps its line and column.

    Examples
    --------
    >>> prose("A {term}`key` of width $d_k$ in `code`.")
    'A ·······key· of width ····· in ······.'
    """
    text = TERM.sub(_term, markdown)
    for pattern in BLANKED:
        text = pattern.sub(_blank, text)
    return text


def settings(root: Path = ROOT) -> Config:
    """Return proselint's configuration with the checks that pyproject.toml turns off."""
    with (root / "pyproject.toml").open("rb") as file:
        off = tomllib.load(file)["tool"]["prose"]["off"]
    # The first match decides, so the more specific name must come first.
    checks = dict.fromkeys(sorted(off, key=lambda name: -name.count(".")), False)
    return Config(max_errors=DEFAULT["max_errors"], checks=checks | DEFAULT["checks"] | checks)


def findings(path: Path, text: str, config: Config) -> Iterator[str]:
    """Yield a line for everything proselint finds in a page."""
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(all_checks.__register__)
    page = LintFile(str(path), prose(text))
    for found in page.lint(config):
        result = found.check_result
        if re.search(r"\n\s", page.content[slice(*result.span)].strip()):
            continue  # The match spans a heading and its text, or two paragraphs.
        line, column = found.pos
        yield f"{path}:{line}:{column}: {result.check_path}: {result.message}"


def pages(paths: list[Path]) -> list[Path]:
    """Return the Markdown files among `paths` and below the folders among them."""
    return [
        page for path in paths for page in (sorted(path.rglob("*.md")) if path.is_dir() else [path])
    ]


def main(arguments: list[str]) -> int:
    config = settings()
    found = [
        line
        for page in pages([Path(argument) for argument in arguments])
        for line in findings(page, page.read_text(encoding="utf-8"), config)
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
