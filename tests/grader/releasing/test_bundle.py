"""The learners' archive contains what learners need, and nothing that is for instructors."""

from __future__ import annotations

import io
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from packaging.requirements import Requirement

from grader import __main__ as commands
from grader.course import SOLUTIONS, assignments
from grader.releasing import bundle as bundles
from grader.releasing.bundle import BundleFailed, bundle, secrets_in
from tests.exercises.proof.notebook import read, secret_lines

VERSION = metadata.version("attn_lib")
FOLDER = f"attention-course-{VERSION}"
WHEEL = f"attn_lib-{VERSION}-py3-none-any.whl"
BOOK = {
    "index.html": "<h1>The book</h1>",
    "book/masking.html": "<pre><span>a</span></pre>",
    "_static/course.css": "",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """A small book."""
    folder = tmp_path_factory.mktemp("book")
    for name, text in {**BOOK, ".buildinfo": "of Sphinx", ".doctrees/a": ""}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def archive(book, tmp_path_factory) -> Path:
    return bundle(book, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def contents(archive) -> dict[str, bytes]:
    """The files of the archive, by name relative to its top folder."""
    with zipfile.ZipFile(archive) as file:
        assert file.testzip() is None
        return {name.removeprefix(f"{FOLDER}/"): file.read(name) for name in file.namelist()}


@pytest.fixture
def without_notebooks(monkeypatch):
    """Skip the release of the notebooks, which is slow."""
    monkeypatch.setattr(bundles, "_exercises", dict)


@pytest.fixture
def built_wheel(contents, monkeypatch):
    """Take the wheel that is built already."""
    monkeypatch.setattr(bundles, "_wheel", lambda version, sources: (WHEEL, contents[WHEEL]))


@pytest.fixture(scope="module")
def editions(tmp_path_factory) -> Path:
    """A folder with a PDF and an EPUB."""
    folder = tmp_path_factory.mktemp("editions")
    for kind in ("pdf", "epub"):
        (folder / kind).mkdir()
    (folder / "pdf" / "attention-course.pdf").write_bytes(b"%PDF")
    with zipfile.ZipFile(folder / "epub" / "attention-course.epub", "w") as epub:
        epub.writestr("EPUB/masking.xhtml", "<pre><span>a</span></pre>")
    return folder


def in_wheel(contents) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(contents[WHEEL])) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def test_it_contains_exactly_these_files(archive, contents):
    assert archive.name == f"{FOLDER}.zip"
    notebooks = {f"exercises/{name}/{name}.ipynb" for name in assignments()}
    notebooks.add("exercises/start.ipynb")
    texts = {"README.txt", "LICENSE", "LICENSE-TEXT"}
    requirements = {"requirements.txt", "requirements-validate.txt"}
    pages = {f"book/{name}" for name in BOOK}
    assert set(contents) == notebooks | texts | requirements | pages | {WHEEL}
    assert {name.partition("/")[0].partition("-")[0] for name in in_wheel(contents)} == {"attn_lib"}


def test_the_notebooks_are_the_released_ones(contents, root):
    for name in assignments():
        path = f"exercises/{name}/{name}.ipynb"
        assert contents[path] == (root / path).read_bytes()
    path = "exercises/start.ipynb"
    assert contents[path] == (root / path).read_bytes()


def test_no_secret_line_is_in_any_file(contents):
    for name in assignments():
        secret = secret_lines(read(SOLUTIONS / name / f"{name}.ipynb"))
        assert len(secret) > 20
        released = nbformat.reads(contents[f"exercises/{name}/{name}.ipynb"], as_version=4)
        lines = {line.strip() for cell in released.cells for line in cell.source.splitlines()}
        assert secret & lines == set()
        checks = {line for line in secret if line.startswith("check.")}
        assert checks
        for file, content in {**contents, **in_wheel(contents)}.items():
            text = bundled_text(content)
            assert not [line for line in checks if line in text], file


def bundled_text(content: bytes) -> str:
    # In a notebook's JSON, quotes are escaped.
    return content.decode("utf-8", errors="ignore").replace('\\"', '"')


def test_nothing_in_it_is_for_instructors(contents):
    for file, content in {**contents, **in_wheel(contents)}.items():
        text = bundled_text(content)
        assert "BEGIN SOLUTION" not in text, file
        assert "BEGIN HIDDEN" not in text, file
        assert not {"solutions", "grader", "tests"} & set(Path(file).parts), file
        assert not file.endswith(".db"), file


HIDDEN = 'check.value("share", target="weight_at", args=(given, 2, 0), decimals=2)'
HIGHLIGHTED = HIDDEN.replace("check", "<span>check</span>").replace('"', "&quot;")
MODEL = "Marking: 1 point for the value that belongs to the larger weight"


class TestSecrets:
    def test_there_are_none(self, contents):
        assert list(secrets_in(contents)) == []

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("book/a.html", f"<pre>{HIDDEN}</pre>"),
            ("book/a.html", f"<pre>{HIGHLIGHTED}\n</pre>"),
            ("attn_lib/a.py", f"def a():\n    {HIDDEN}\n"),
            ("notes.txt", f"a\n{HIDDEN}"),
        ],
    )
    def test_a_hidden_test_is_found(self, name, content):
        assert list(secrets_in({name: content.encode()})) == [(name, HIDDEN)]

    def test_a_hidden_test_in_the_wheel_is_found(self):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as wheel:
            wheel.writestr("attn_lib/a.py", HIDDEN)
        found = list(secrets_in({"a.whl": out.getvalue()}))
        assert found == [("a.whl/attn_lib/a.py", HIDDEN)]

    def test_secrets_are_found_in_the_instructor_notebook(self):
        path = SOLUTIONS / "dot-products" / "dot-products.ipynb"
        found = [line for _, line in secrets_in({"exercises/a.ipynb": path.read_bytes()})]
        assert HIDDEN in found
        assert "return q @ np.swapaxes(k, -1, -2)" in found
        assert any(line.startswith(MODEL) for line in found)

    def test_code_of_attn_lib_is_not_a_secret(self):
        content = b"return q @ np.swapaxes(k, -1, -2)"
        assert list(secrets_in({"attn_lib/course/targets/dot_products.py": content})) == []

    def test_no_archive_is_made_with_a_secret_in_it(self, book, tmp_path, without_notebooks):
        page = book / "book" / "leak.html"
        page.write_text(f"<pre>{HIDDEN}</pre>", encoding="utf-8")
        try:
            with pytest.raises(
                BundleFailed, match=r"no hidden test .*\n  book/book/leak\.html: ch"
            ):
                bundle(book, tmp_path)
        finally:
            page.unlink()
        assert list(tmp_path.iterdir()) == []


class TestEditions:
    def test_they_are_in_the_archive_and_named_in_the_readme(
        self, book, editions, tmp_path, without_notebooks, built_wheel
    ):
        with zipfile.ZipFile(bundle(book, tmp_path, editions=editions)) as file:
            assert file.read(f"{FOLDER}/attention-course.pdf") == b"%PDF"
            assert f"{FOLDER}/attention-course.epub" in file.namelist()
            readme = file.read(f"{FOLDER}/README.txt").decode()
        assert "\n  attention-course.pdf: to print\n  attention-course.epub: for e-b" in readme

    def test_without_them_the_readme_names_none(self, contents):
        readme = contents["README.txt"].decode()
        assert "attention-course." not in readme
        assert "\nwork.\n\n\n2. Install" in readme

    def test_a_hidden_test_in_the_epub_is_found(self):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as epub:
            epub.writestr("EPUB/a.xhtml", f"<pre>{HIGHLIGHTED}\n</pre>")
        found = list(secrets_in({"a.epub": out.getvalue()}))
        assert found == [("a.epub/EPUB/a.xhtml", HIDDEN)]


START = "exercises/start.ipynb"
NOTEBOOK = nbformat.writes(new_notebook()).encode()


class TestNotebooksOfTheBook:
    def test_chapters_may_show_code_of_answers(self):
        cell = new_code_cell("return q @ np.swapaxes(k, -1, -2)")
        text = nbformat.writes(new_notebook(cells=[cell])).encode()
        assert list(secrets_in({"book/book/dot-products.ipynb": text})) == []
        assert len(list(secrets_in({"exercises/a/a.ipynb": text}))) == 1

    def test_an_exercise_that_somebody_worked_in_is_replaced(
        self, tmp_path, monkeypatch, built_wheel
    ):
        monkeypatch.setattr(bundles, "_exercises", lambda: {"exercises/a/a.ipynb": NOTEBOOK})
        worked_in = tmp_path / "_downloads" / "0a1b" / "a.ipynb"
        worked_in.parent.mkdir(parents=True)
        worked_in.write_bytes(b"worked in")
        (tmp_path / "index.html").touch()
        with zipfile.ZipFile(bundle(tmp_path, tmp_path / "dist")) as file:
            assert file.read(f"{FOLDER}/book/_downloads/0a1b/a.ipynb") == NOTEBOOK


class TestRequirements:
    def test_learners_get_the_ranges_of_the_project(self, contents):
        lines = [
            line
            for line in contents["requirements.txt"].decode().splitlines()
            if not line.startswith("#")
        ]
        assert lines[0] == f"./{WHEEL}[threads]"
        names = [Requirement(line).name for line in lines[1:]]
        assert {"ipykernel", "jupyterlab", "matplotlib", "notebook", "numpy"} <= set(names)
        assert names == sorted(names)
        assert "nbgrader" not in names
        assert all(Requirement(line).specifier for line in lines[1:])

    def test_the_button_validate_is_optional(self, contents):
        lines = contents["requirements-validate.txt"].decode().splitlines()
        assert [line for line in lines if not line.startswith("#")] == ["nbgrader==0.9.6"]

    def test_pip_accepts_them(self, archive, tmp_path):
        """Everything except the wheel is installed, so pip needs no registry."""
        with zipfile.ZipFile(archive) as file:
            file.extractall(tmp_path)
        options = ("--dry-run", "--no-index", "--disable-pip-version-check")
        files = ("-r", "requirements.txt", "-r", "requirements-validate.txt")
        run = subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, *files],
            cwd=tmp_path / FOLDER,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr


def test_the_checks_run_with_only_the_wheel_and_numpy(archive, tmp_path):
    """The environment has only NumPy and the wheel."""
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path)
    folder = tmp_path / FOLDER
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    packages = next(environment.glob("lib/*/site-packages"))
    with zipfile.ZipFile(folder / WHEEL) as wheel:
        wheel.extractall(packages)
    for name in ("numpy", "numpy.libs"):
        (packages / name).symlink_to(Path(metadata.distribution("numpy").locate_file(name)))
    run = subprocess.run(
        [
            *(environment / "bin" / "python", "-m", "attn_lib.course.checks"),
            "exercises/dot-products/dot-products.ipynb",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert run.stdout.endswith("0 of 6 test cells pass.\n")


def test_files_mentioned_in_the_readme_exist(contents):
    text = contents["README.txt"].decode()
    assert VERSION in text.splitlines()[0]
    for name in contents:
        if name.endswith(".ipynb") or name.startswith(("requirements", "LICENSE")):
            # JupyterLab is opened in exercises/, where the reader sees start.ipynb.
            assert name in text or (name == START and "open start.ipynb" in text), name
    assert "book/index.html" in text
    assert WHEEL in text
    assert "as well: python -m pip install -r requirements-validate.txt\n" in text
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.splitlines()) < 100


def test_the_same_contents_give_the_same_bytes(book, tmp_path, without_notebooks):
    once = bundle(book, tmp_path / "once").read_bytes()
    (book / "index.html").touch()
    assert bundle(book, tmp_path / "twice").read_bytes() == once
    with zipfile.ZipFile(io.BytesIO(once)) as file:
        assert file.namelist() == sorted(file.namelist())
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


class TestCommand:
    def test_it_prints_the_path_of_the_archive(self, book, tmp_path, capsys, without_notebooks):
        assert commands.main(["bundle", "--book", str(book), "--into", str(tmp_path)]) == 0
        assert capsys.readouterr().out == f"{tmp_path / FOLDER}.zip\n"

    def test_without_a_book_it_says_what_to_do(self, tmp_path, capsys):
        assert commands.main(["bundle", "--book", str(tmp_path), "--into", str(tmp_path)]) == 2
        assert "found no index.html there. Run `make book`." in capsys.readouterr().err

    def test_an_outdated_environment_is_reported(
        self, book, tmp_path, monkeypatch, without_notebooks
    ):
        monkeypatch.setattr(bundles.importlib.metadata, "version", lambda name: "0.0.1")
        with pytest.raises(BundleFailed, match=r"wheel of attn_lib 0\.0\.1, got none\. Run `make"):
            bundle(book, tmp_path)
