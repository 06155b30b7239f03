"""The course in one archive for learners: book, exercises, library and instructions.

The archive contains no hidden tests and no model answers. Its notebooks are newly released, all
other files in it are listed in this module, and `bundle` fails if it finds a secret in any file.
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
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import nbformat
from nbgrader.utils import is_grade, is_solution

from grader.course import ROOT, SOLUTIONS, assignments
from grader.errors import GraderError
from grader.releasing.release import generate
from grader.releasing.start_page import NAME, in_chapter_order, start_page
from grader.releasing.without_answers import write_tree

LICENCES = ("LICENSE", "LICENSE-TEXT")
#: The book in one file, with what it is for.
EDITIONS = {
    "attention-course.pdf": "to print",
    "attention-course.epub": "for e-book readers",
}
TEMPLATE = Path(__file__).parent / "templates" / "bundle" / "README.txt"

#: The date of every entry in the archive, so that the same contents give the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)
#: The date in the wheel, in seconds since 1970. This is also hatchling's default.
WHEEL_DATE = "1580601600"

#: Shorter lines give nothing away, such as a bracket or `else:`.
MIN_SECRET_LENGTH = 12

_SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END", re.DOTALL)
_HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)### END", re.DOTALL)


class BundleFailed(GraderError):
    """Raised when the archive cannot be made; the message says why and what to do."""


def bundle(
    html: Path,
    into: Path,
    salt: str = "",
    learners: Collection[str] = (),
    editions: Path | None = None,
) -> Path:
    """Make the learners' archive and return its path.

    Parameters
    ----------
    html : Path
        The folder with the built book.
    into : Path
        The folder for the archive.
    salt : str
        The secret that learners' numbers depend on. With one, the library is without answers, and
        the numbers of the learners are in it as data.
    learners : collection of str
        The ids on the class list, for a release with a salt.
    editions : Path, optional
        The folder in which the book's PDF and EPUB are, in folders of their own. Those that have
        been made go into the archive.

    Raises
    ------
    BundleFailed
        If there is no built book, the wheel cannot be built, a file contains a hidden test or
        a model answer, or there is a salt and no learner.
    grader.releasing.visible_values.ModelAnswersFail
        If there is a salt, and the visible tests' inputs cannot be found out.
    """
    if salt and not learners:
        raise BundleFailed(
            "expected learners in the gradebook, because c.PersonalNumbers.salt is set and their "
            "numbers go into the archive; found none. Import the class list first: "
            "python -m grader roster roster.csv"
        )
    if not (html / "index.html").is_file():
        raise BundleFailed(
            f"expected the built book in {html}, found no index.html there. Run `make book`."
        )
    version = importlib.metadata.version("attn_lib")
    name, wheel = without_answers(version, salt, learners) if salt else _wheel(version, ROOT)
    exercises, in_one_file = _exercises(), _editions(editions)
    files = {**_book(html, exercises), **exercises, **in_one_file}
    files |= _texts(version, name, list(in_one_file))
    files |= {name: wheel, **_requirements(name)}
    found = list(secrets_in(files))
    if found:
        raise BundleFailed(
            "expected no hidden test and no model answer in the bundle, found these lines. "
            "Remove them from the sources of the files:\n"
            + "\n".join(f"  {file}: {line}" for file, line in found)
        )
    into.mkdir(parents=True, exist_ok=True)
    folder = f"attention-course-{version}"
    archive = into / f"{folder}.zip"
    archive.write_bytes(_zipped({f"{folder}/{name}": files[name] for name in files}))
    return archive


def without_answers(version: str, salt: str, learners: Iterable[str]) -> tuple[str, bytes]:
    """Return name and content of the wheel of attn_lib without answers.

    Parameters
    ----------
    version : str
        The version of attn_lib.
    salt, learners
        As in `bundle`.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), salt, learners)
        return _wheel(version, Path(folder))


def secrets_in(files: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield ``(file, line)`` for each line of a hidden test or a model answer in the files.

    Lines of code answers count as secrets only in the exercises: learners may read the same code in
    attn_lib and in the chapters, which are notebooks too.

    Parameters
    ----------
    files : dict
        Contents by name. The files in a wheel or an EPUB are searched too, those in a PDF are not:
        it is made from the same pages.
    """
    answers, others = _secret_lines()
    for name, content in sorted(files.items()):
        if name.endswith((".whl", ".epub")):
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                inside = {f"{name}/{part}": packed.read(part) for part in packed.namelist()}
            yield from secrets_in(inside)
            continue
        is_exercise = name.startswith("exercises/") and name.endswith(".ipynb")
        secret = answers | others if is_exercise else others
        for line in sorted(secret & _lines(name, content)):
            yield name, line


def _secret_lines() -> tuple[set[str], set[str]]:
    """Return the lines of code answers, and the lines of hidden tests and of text answers."""
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
    """Return the lines that a reader of the file sees, without the short ones."""
    text = content.decode("utf-8", errors="ignore")
    if name.endswith(".ipynb"):
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n".join(cell.source for cell in cells)
    elif name.endswith((".html", ".xhtml")):
        # Syntax highlighting puts tags around the words of a line.
        text = markup.unescape(re.sub(r"<[^>]*>", "", text))
    return _stripped(text)


def _book(html: Path, exercises: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of the book, without the hidden ones that Sphinx makes for its own use.

    The book holds copies of the exercises, for its links. Somebody may have worked in them when it
    was built, so the newly released ones take their place.
    """
    paths = {path.relative_to(html): path for path in html.rglob("*") if path.is_file()}
    released = {Path(name).name: content for name, content in exercises.items()}
    return {
        f"book/{inside.as_posix()}": (
            released[path.name]
            if inside.parts[0] == "_downloads" and path.name in released
            else path.read_bytes()
        )
        for inside, path in paths.items()
        if not any(part.startswith(".") for part in inside.parts)
    }


def _editions(folder: Path | None) -> dict[str, bytes]:
    """Return the PDF and the EPUB, those that have been made."""
    if folder is None:
        return {}
    paths = {name: folder / Path(name).suffix[1:] / name for name in EDITIONS}
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}


def _exercises() -> dict[str, bytes]:
    """Return newly released notebooks, since somebody may have worked in those in exercises/."""
    with tempfile.TemporaryDirectory() as folder:
        released = {
            f"exercises/{assignment}/{assignment}.ipynb": generate(
                assignment, Path(folder)
            ).read_bytes()
            for assignment in assignments()
        }
    return released | {f"exercises/{NAME}": f"{nbformat.writes(start_page())}\n".encode()}


def _texts(version: str, wheel: str, editions: list[str]) -> dict[str, bytes]:
    listed = "\n".join(
        f"  exercises/{assignment}/{assignment}.ipynb" for assignment in in_chapter_order()
    )
    lines = "".join(f"  {name}: {EDITIONS[name]}\n" for name in editions)
    named = {
        "version": version,
        "exercises": listed,
        "wheel": wheel,
        "editions": f"\nWithout what moves, the book is also there in one file:\n\n{lines}"
        * bool(lines),
    }
    readme = TEMPLATE.read_text(encoding="utf-8").format(**named)
    licences = {name: (ROOT / name).read_bytes() for name in LICENCES}
    return {"README.txt": readme.encode(), **licences}


def _wheel(version: str, sources: Path) -> tuple[str, bytes]:
    """Build the wheel of attn_lib with the installed packages only, without a network."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
        built = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, str(sources)],
            env={**os.environ, "SOURCE_DATE_EPOCH": WHEEL_DATE},
            capture_output=True,
            text=True,
            check=False,
        )
        wheels = list(Path(folder).glob(f"attn_lib-{version}-*.whl"))
        if built.returncode or not wheels:
            raise BundleFailed(
                f"expected the wheel of attn_lib {version}, got none. Run `make environment`.\n"
                f"{built.stderr}".rstrip()
            )
        return wheels[0].name, wheels[0].read_bytes()


def _requirements(wheel: str) -> dict[str, bytes]:
    """Return the requirements files for learners.

    nbgrader has a separate file because learners can do without it. Test cells can be executed in
    any Jupyter, and ``python -m attn_lib.course.checks`` shows the same as the button Validate.
    nbgrader would add the instructor's menus and thirty packages for that one button.
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
    """Return a zip archive whose bytes depend only on names and contents."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return out.getvalue()
