"""Where a section of the book is, as seen from a notebook."""

from __future__ import annotations

import pytest

from attn_lib.course.jupyter import book

SECTION = "masking#the-causal-mask"
PAGE = "book/masking.html"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course's folder; the kernel runs in one of its exercises, and no book is served."""
    here = tmp_path / "a course" / "exercises" / "masking"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.delenv(book.SERVED, raising=False)
    monkeypatch.setattr(book, "server_url", lambda: "/user/ada/")
    return tmp_path / "a course"


def build(folder, head: str = "") -> None:
    (folder / "book").mkdir(parents=True)
    for name in ("book/index.html", PAGE):
        (folder / name).write_text(f"<head>{head}</head>", encoding="utf-8")


def test_without_a_book_there_is_no_address(folder):
    assert book.address_of(SECTION) == ""


def test_a_book_that_is_not_served_has_none(folder):
    build(folder / "book")
    assert book.address_of(SECTION) == ""


def test_a_book_that_the_server_serves(folder, monkeypatch):
    build(folder / "book")
    monkeypatch.setenv(book.SERVED, str(folder / "book"))
    assert book.address_of(SECTION) == f"/user/ada/attn_lib/book/{PAGE}#the-causal-mask"
    assert book.address_of("left-out#the-causal-mask") == ""
    monkeypatch.setattr(book, "server_url", lambda: None)
    assert book.address_of(SECTION) == ""


@pytest.mark.parametrize("inside", book.FOLDERS)
def test_the_built_book_is_found_beside_the_exercises(folder, inside):
    assert book.find_book(folder / "exercises") is None
    build(folder / inside)
    assert book.find_book(folder / "exercises") == folder / inside


def test_a_published_book_names_its_own_address(folder):
    link = '<link rel="canonical" href="https://ada.github.io/c/book/index.html">'
    build(folder / "book", link)
    assert book.address_of(SECTION) == f"https://ada.github.io/c/{PAGE}#the-causal-mask"


@pytest.mark.parametrize(
    ("baseurl", "start"),
    [
        ("https://ada.github.io/c/", "https://ada.github.io/c"),
        ("", "/user/ada/attn_lib/book"),
    ],
)
def test_a_clone_has_the_address_in_its_configuration(folder, root, monkeypatch, baseurl, start):
    """The line is that of our own _config.yml."""
    ours = (root / "_config.yml").read_text(encoding="utf-8")
    assert ours.count('  baseurl: ""\n') == 1
    settings = ours.replace('baseurl: ""', f'baseurl: "{baseurl}"')
    (folder / "_config.yml").write_text(settings, encoding="utf-8")
    (folder / "_toc.yml").touch()
    build(folder / "_build/html")
    monkeypatch.setenv(book.SERVED, str(folder / "_build/html"))
    assert book.address_of(SECTION) == f"{start}/{PAGE}#the-causal-mask"
