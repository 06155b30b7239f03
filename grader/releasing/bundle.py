"""The course in one file for learners: book, exercises, library, and how to begin.

Nothing of the instructor's side gets in: the notebooks are released afresh, everything else is
named here one by one, and a hidden test or a model answer in any file stops the making.
"""

from __future__ import annotations

import html as markup
import importlib.metadata
import io
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbgrader.utils import is_grade, is_solution

from grader.course import ROOT, SOLUTIONS, assignments
from grader.errors import GraderError
from grader.releasing.release import generate

LICENCES = ("LICENSE", "LICENSE-TEXT")
TEMPLATE = Path(__file__).parent / "templates" / "bundle" / "README.txt"

#: Every entry of the archive has this date, so that the same contents give the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)
#: The date in the wheel, in seconds since 1970; hatchling's own when none is given.
WHEEL_DATE = "1580601600"

#: Lines shorter than this say nothing: a bracket, an `else:`.
MIN_SECRET_LENGTH = 12

_SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END", re.DOTALL)
_HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)### END", re.DOTALL)


class BundleFailed(GraderError):
    """Raised when there can be no bundle; the message says why and what to do."""


def bundle(html: Path, into: Path) -> Path:
    """Make the learners' archive and return its path.

    Parameters
    ----------
    html : Path
        The folder with the built book.
    into : Path
        The folder for the archive.

    Raises
    ------
    BundleFailed
        If there is no book, the wheel cannot be built, or a secret would get out.
    """
    if not (html / "index.html").is_file():
        raise BundleFailed(
            f"expected the built book in {html}, found no index.html there. Run `make book`."
        )
    version = importlib.metadata.version("attn_lib")
    name, wheel = _wheel(version)
    files = {**_book(html), **_exercises(), **_texts(version, name)}
    files |= {name: wheel, **_requirements(name)}
    found = list(secrets_in(files))
    if found:
        raise BundleFailed(
            "expected no hidden test and no model answer in the bundle, found\n"
            + "\n".join(f"  {file}: {line}" for file, line in found)
        )
    into.mkdir(parents=True, exist_ok=True)
    folder = f"attention-course-{version}"
    archive = into / f"{folder}.zip"
    archive.write_bytes(_zipped({f"{folder}/{name}": files[name] for name in files}))
    return archive


def secrets_in(files: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """Find the lines of hidden tests and model answers, by the file that shows them.

    The right functions stand in attn_lib and the chapters, for all to read: calling them earns
    nothing. So the lines of a reference answer are looked for in notebooks alone.

    Parameters
    ----------
    files : dict
        Contents by name; a wheel is looked into.
    """
    answers, others = _secret_lines()
    for name, content in sorted(files.items()):
        if name.endswith(".whl"):
            with zipfile.ZipFile(io.BytesIO(content)) as wheel:
                inside = {f"{name}/{part}": wheel.read(part) for part in wheel.namelist()}
            yield from secrets_in(inside)
            continue
        secret = answers | others if name.endswith(".ipynb") else others
        for line in sorted(secret & _lines(name, content)):
            yield name, line


def _secret_lines() -> tuple[set[str], set[str]]:
    """Return the lines of reference answers, and those of hidden tests and model answers."""
    answers: set[str] = set()
    others: set[str] = set()
    shown: set[str] = set()
    for assignment in assignments():
        path = SOLUTIONS / assignment / f"{assignment}.ipynb"
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown" and is_grade(cell) and is_solution(cell):
                others |= _stripped(cell.source)
                continue
            for text in _SOLUTION.findall(cell.source):
                answers |= _stripped(text)
            for text in _HIDDEN.findall(cell.source):
                others |= _stripped(text)
            shown |= _stripped(_HIDDEN.sub("", _SOLUTION.sub("", cell.source)))
    return answers - shown, others - shown


def _stripped(text: str) -> set[str]:
    lines = (line.strip() for line in text.splitlines())
    return {line for line in lines if len(line) >= MIN_SECRET_LENGTH}


def _lines(name: str, content: bytes) -> set[str]:
    """Return the lines a reader of the file sees."""
    text = content.decode("utf-8", errors="ignore")
    if name.endswith(".ipynb"):
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n".join(cell.source for cell in cells)
    elif name.endswith(".html"):
        # Highlighted code has a tag around every word.
        text = markup.unescape(re.sub(r"<[^>]*>", "", text))
    return _stripped(text)


def _book(html: Path) -> dict[str, bytes]:
    """Return the book; hidden files are Sphinx's notes to itself."""
    paths = {path.relative_to(html): path for path in html.rglob("*") if path.is_file()}
    return {
        f"book/{inside.as_posix()}": path.read_bytes()
        for inside, path in paths.items()
        if not any(part.startswith(".") for part in inside.parts)
    }


def _exercises() -> dict[str, bytes]:
    """Return the notebooks as they are released; those in exercises/ may have work in them."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            f"exercises/{assignment}/{assignment}.ipynb": generate(
                assignment, Path(folder)
            ).read_bytes()
            for assignment in assignments()
        }


def _in_the_books_order() -> list[str]:
    """Return the assignments as their chapters follow each other; those of no chapter come last."""
    pages = (ROOT / "_toc.yml").read_text(encoding="utf-8").split()
    chapters = [page.removeprefix("book/") for page in pages]
    return sorted(
        assignments(),
        key=lambda name: chapters.index(name) if name in chapters else len(chapters),
    )


def _texts(version: str, wheel: str) -> dict[str, bytes]:
    listed = "\n".join(
        f"  exercises/{assignment}/{assignment}.ipynb" for assignment in _in_the_books_order()
    )
    named = {"version": version, "exercises": listed, "wheel": wheel}
    readme = TEMPLATE.read_text(encoding="utf-8").format(**named)
    licences = {name: (ROOT / name).read_bytes() for name in LICENCES}
    return {"README.txt": readme.encode(), **licences}


def _wheel(version: str) -> tuple[str, bytes]:
    """Build attn_lib's wheel with what is installed here, without a network."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
        run = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, str(ROOT)],
            env={**os.environ, "SOURCE_DATE_EPOCH": WHEEL_DATE},
            capture_output=True,
            text=True,
            check=False,
        )
        wheels = list(Path(folder).glob(f"attn_lib-{version}-*.whl"))
        if run.returncode or not wheels:
            raise BundleFailed(
                f"expected the wheel of attn_lib {version}, got none. Run `make environment`.\n"
                f"{run.stderr}".rstrip()
            )
        return wheels[0].name, wheels[0].read_bytes()


def _requirements(wheel: str) -> dict[str, bytes]:
    """Return what learners install, by file.

    nbgrader is a file of its own. The test cells run in any Jupyter, and
    ``python -m attn_lib.course.checks`` tells what Validate does; nbgrader would bring the
    teacher's menus and thirty packages for that one button.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["exercises"]
    own = [line for line in extra if line.startswith("attn_lib")]
    validate = [line for line in extra if line.startswith("nbgrader")]
    others = sorted({*project["dependencies"], *extra} - {*own, *validate})
    library = f"./{wheel}{own[0].removeprefix('attn_lib')}"
    needed = [
        "# To open, complete and check the exercises. In this folder:",
        "#   python -m pip install -r requirements.txt",
        library,
        *others,
    ]
    button = [
        "# Only for the button Validate in JupyterLab. In this folder, after requirements.txt:",
        "#   python -m pip install -r requirements-validate.txt",
        *validate,
    ]
    return {
        "requirements.txt": ("\n".join(needed) + "\n").encode(),
        "requirements-validate.txt": ("\n".join(button) + "\n").encode(),
    }


def _zipped(files: dict[str, bytes]) -> bytes:
    """Return an archive that depends on names and contents alone."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3  # the same on every system
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return out.getvalue()
