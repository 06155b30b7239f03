"""Where a section of the book is, as seen from a notebook."""

from __future__ import annotations

import pytest

from attn_lib.course.jupyter import book
from attn_lib.course.jupyter.front_end import Server

SECTION = "masking#the-causal-mask"
PAGE = "book/masking.html"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with notebooks, in which the kernel runs; the server serves the folder above."""
    here = tmp_path / "a course" / "exercises" / "masking"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.delenv(book.SERVED, raising=False)
    monkeypatch.setattr(book, "server", lambda: Server("/user/ada/", tmp_path / "a course"))
    return tmp_path / "a course"


def build(folder, head: str = "") -> None:
    (folder / "book").mkdir(parents=True)
    for name in ("book/index.html", PAGE):
        (folder / name).write_text(f"<head>{head}</head>", encoding="utf-8")


def test_without_a_book_there_is_no_address(folder):
    assert book.address_of(SECTION) == ""


@pytest.mark.parametrize("inside", book.FOLDERS)
def test_a_book_among_the_files_of_the_server(folder, inside):
    build(folder / inside)
    start = f"/user/ada/files/{inside}"
    assert book.address_of(SECTION) == f"{start}/{PAGE}#the-causal-mask"
    assert book.address_of("no-such-page#the-causal-mask") == ""


def test_a_book_that_the_server_does_not_serve(folder, tmp_path):
    build(tmp_path / "book")
    assert book.address_of(SECTION) == ""


def test_a_book_that_the_server_serves_beside_its_files(folder, tmp_path, monkeypatch):
    build(tmp_path / "elsewhere")
    monkeypatch.setenv(book.SERVED, str(tmp_path / "elsewhere"))
    assert book.address_of(SECTION) == f"/user/ada/static/{PAGE}#the-causal-mask"


def test_without_a_server_only_a_published_book_has_an_address(folder, monkeypatch):
    monkeypatch.setattr(book, "server", lambda: None)
    build(folder / "book")
    assert book.address_of(SECTION) == ""


def test_a_published_book_names_its_own_address(folder):
    build(folder / "book", '<link rel="canonical" href="https://ada.github.io/c/book/index.html">')
    assert book.address_of(SECTION) == f"https://ada.github.io/c/{PAGE}#the-causal-mask"


@pytest.mark.parametrize(
    ("baseurl", "start"),
    [("https://ada.github.io/c/", "https://ada.github.io/c"), ("", "/user/ada/files/book")],
)
def test_a_clone_has_the_address_in_its_configuration(folder, root, baseurl, start):
    """The line is that of our own _config.yml."""
    ours = (root / "_config.yml").read_text(encoding="utf-8")
    assert ours.count('  baseurl: ""\n') == 1
    settings = ours.replace('baseurl: ""', f'baseurl: "{baseurl}"')
    (folder / "_config.yml").write_text(settings, encoding="utf-8")
    (folder / "_toc.yml").touch()
    build(folder / "book")
    assert book.address_of(SECTION) == f"{start}/{PAGE}#the-causal-mask"
