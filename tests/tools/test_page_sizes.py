"""The sizes that page_sizes.py reports for the pages of a book."""

from __future__ import annotations

import doctest

import pytest

from tools import page_sizes


@pytest.fixture
def book(tmp_path):
    """A book of two pages, one with pictures and one without."""
    files = {
        "index.html": "<p>Start</p>",
        "book/pictures.html": (
            '<link rel="stylesheet" href="../_static/a.css"><link rel="next" href="next.html">'
            '<script src="../_static/b.js"></script>'
            '<img src="../_images/a.webp"><script type="application/json">'
            '["../_images/b.webp", "../_images/a.webp"]</script><img src="plot.png">'
            '<img src="https://a.org/b.png"><a href="next.html">next</a>'
        ),
        "book/next.html": "<p>Next</p>",
        "_static/b.js": "s" * 900,
        "_static/a.css": "c" * 70,
        "_static/template.html": "<p>The theme's own</p>",
        "_images/a.webp": "a" * 300,
        "_images/b.webp": "b" * 30,
        "book/plot.png": "p" * 500,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_theme_templates_are_not_pages(book):
    assert page_sizes.pages(book) == ["book/next.html", "book/pictures.html", "index.html"]


def test_size_is_html_plus_pictures_and_unshared_files(book):
    size = page_sizes.measure(book, "book/pictures.html")
    html = (book / "book" / "pictures.html").stat().st_size
    assert (size.html, size.files, size.own) == (html, 500, html + 500 + 330)
    assert (size.pictures, size.frames) == (330, 2)
    assert 0 < size.sent < html


def test_shared_files_are_listed_separately(book):
    assert page_sizes.shared(book) == {"_static/a.css": 70, "_static/b.js": 900}
    lines = list(page_sizes.report(book))
    assert any(line.startswith("book/pictures.html ") for line in lines)
    assert "shared by all, loaded once: 1 kB, of which" in lines


def test_a_page_over_the_limit_fails(book, monkeypatch, capsys):
    assert page_sizes.main([str(book)]) == 0
    monkeypatch.setattr(page_sizes, "LIMIT", 800)
    assert page_sizes.main([str(book)]) == 1
    heavy = [line for line in capsys.readouterr().out.splitlines() if "over the limit" in line]
    assert [line.split()[0] for line in heavy] == ["book/pictures.html"]


def test_a_missing_book_is_reported(tmp_path, capsys):
    assert page_sizes.main([str(tmp_path)]) == 1
    assert "run make book" in capsys.readouterr().err


def test_examples():
    results = doctest.testmod(page_sizes)
    assert results.attempted
    assert not results.failed
