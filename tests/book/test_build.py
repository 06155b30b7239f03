"""The book builds without a warning, and content that must not be published fails the build."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from book._ext.executing.library_cache import library_hash
from book._ext.offline import remote_references
from book._ext.page_checks import alt_problem
from tests.book.contents import listed_pages


def test_the_book_builds_without_a_warning(book_build):
    assert book_build.status == 0, book_build.tail()
    assert "WARNING" not in book_build.output
    assert "ERROR" not in book_build.output


@pytest.mark.parametrize(
    ("page", "messages"),
    [
        ("failing-cell", ["ValueError: the weights do not sum to 1"]),
        ("warning-cell", ["stderr was found in the cell outputs"]),
        ("unexecuted-cell", ["a code cell was not executed: 'weights = scores / 2'"]),
        (
            "wrong-images-and-formulas",
            [
                "the alternative text of an image is empty (src ../_images/favicon.svg, alt '')",
                "the alternative text of an image is a path",
                "the alternative text of an image is a figure's repr",
                "names another host: img src=https://pictures.example/weights.png",
                r"index.md:39: WARNING: a formula cannot be typeset: Undefined control",
                "index.md:41: WARNING: a formula cannot be typeset: Unexpected end of input",
                r"index.md:48: WARNING: a formula cannot be typeset: \href is not allowed",
            ],
        ),
    ],
)
def test_a_page_that_must_not_be_published_fails_the_build(build_tiny_book, page, messages):
    build = build_tiny_book(page)
    assert build.status == 1
    for message in messages:
        assert message in build.output
    # The messages are the only ones, and they are about this page.
    reports = re.findall(r"^.*(?:WARNING|ERROR): .*$", build.output, re.MULTILINE)
    assert len(reports) == len(messages), reports


def test_a_chapter_missing_from_the_table_of_contents_fails_the_build(
    tiny_book, jupyter_book, tmp_path
):
    source = tiny_book("good-quiz")
    (source / "book" / "forgotten.md").write_text("# A forgotten chapter", encoding="utf-8")
    (source / "README.md").write_text("# Not a chapter", encoding="utf-8")
    build = jupyter_book(source, tmp_path)
    assert build.status == 1
    reports = re.findall(r"(\S+): WARNING: (.*)$", build.output, re.MULTILINE)
    assert ("forgotten.md", "document isn't included in any toctree") in [
        (Path(file).name, report) for file, report in reports
    ]


def test_a_change_of_the_library_executes_the_pages_again(
    tiny_book, jupyter_book, tmp_path_factory
):
    source = tiny_book("library-reader")
    (source / "attn_lib").unlink()
    (source / "attn_lib").mkdir()
    version = source / "attn_lib" / "version.py"
    output = tmp_path_factory.mktemp("library-reader-built")

    version.write_text("one", encoding="utf-8")
    build = jupyter_book(source, output)
    assert build.status == 0, build.tail()
    assert "one static" in (build.html / "book" / "index.html").read_text(encoding="utf-8")
    compiled = compiled_templates(build)
    assert compiled

    version.write_text("two", encoding="utf-8")
    build = jupyter_book(source, output)
    assert build.status == 0, build.tail()
    assert "Executed index.md" in build.output
    assert "two static" in (build.html / "book" / "index.html").read_text(encoding="utf-8")
    # The cache of compiled templates was reused.
    assert compiled_templates(build) == compiled


def compiled_templates(build):
    folder = build.html.parent / ".jinja_cache"
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}


@pytest.fixture
def library(tmp_path):
    """A library of one module and one file of data, with a lock."""
    (tmp_path / "attn_lib").mkdir()
    (tmp_path / "attn_lib" / "softmax.py").write_text("a = 1", encoding="utf-8")
    (tmp_path / "attn_lib" / "model").mkdir()
    (tmp_path / "attn_lib" / "model" / "trained.npz").write_bytes(b"weights")
    (tmp_path / "requirements.txt").write_text("numpy==2.4.6", encoding="utf-8")
    return tmp_path


def test_the_hash_of_an_unchanged_library_is_stable(library):
    before = library_hash(library)
    (library / "attn_lib" / "softmax.pyc").write_bytes(b"compiled")
    (library / "README.md").write_text("other", encoding="utf-8")
    assert library_hash(library) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "attn_lib/softmax.py").write_text("a = 2"),
        lambda root: (root / "attn_lib/softmax.py").rename(root / "attn_lib/masks.py"),
        lambda root: (root / "attn_lib/masks.py").write_text(""),
        lambda root: (root / "attn_lib/model/trained.npz").write_bytes(b"other weights"),
        lambda root: (root / "requirements.txt").write_text("numpy==2.5.5"),
    ],
    ids=["content", "name", "another file", "data", "lock"],
)
def test_the_hash_of_a_library_changes_with(library, change):
    before = library_hash(library)
    change(library)
    assert library_hash(library) != before


@pytest.mark.parametrize(
    ("alt", "problem"),
    [
        (None, "is missing"),
        ("  ", "is empty"),
        ("<Figure size 640x480 with 1 Axes>", "is a figure's repr"),
        ("../_images/weights.png", "is a path"),
        ("weights.svg", "is a path"),
        ("data:image/webp;base64,UklG", "is a path"),
        ("Weights 0.88, 0.11 and 0.01 of the keys/values.", None),
        ("Scores against d_k.", None),
    ],
)
def test_alternative_texts(alt, problem):
    assert alt_problem(alt) == problem


@pytest.mark.parametrize(
    ("html", "references"),
    [
        ('<a href="https://a.org">A</a>', []),
        ('<link rel="canonical" href="https://a.org/">', []),
        ('<script src="_static/a.js"></script>', []),
        ('<svg xmlns="http://www.w3.org/2000/svg"></svg>', []),
        ('<script src="https://a.org/a.js"></script>', ["script src=https://a.org/a.js"]),
        ('<link rel="preconnect" href="//a.org">', ["link href=//a.org"]),
        ('<link rel="stylesheet" href="https://a.org/a.css">', ["link href=https://a.org/a.css"]),
        ('<img srcset="a.png 1x, http://a.org/b.png 2x">', ["img srcset=http://a.org/b.png"]),
        ("<p style=\"background: url('https://a.org/a')\">", ["p style=https://a.org/a"]),
        ('<iframe src="https://a.org/"></iframe>', ["iframe src=https://a.org/"]),
    ],
)
def test_remote_references(html, references):
    assert remote_references(html) == references


@pytest.mark.parametrize("name", ["html_scan", "offline", "page_checks", "picture_files"])
def test_examples_in_the_extensions(name):
    results = doctest.testmod(importlib.import_module(f"book._ext.{name}"))
    assert results.attempted
    assert not results.failed


def test_every_page_is_in_the_table_of_contents(root):
    written = [f"book/{page.stem}" for page in (root / "book").glob("*.md")]
    assert sorted(listed_pages(root)) == sorted(written)


def test_no_heading_contains_a_formula(root):
    # The sidebar shows a heading's formula as raw TeX.
    headings = []
    for page in (root / "book").glob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        headings += re.findall(r"^#+ .*$", text, re.MULTILINE)
    assert len(headings) > 10
    assert not [heading for heading in headings if "$" in heading or "{math}" in heading]
