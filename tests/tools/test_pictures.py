"""The README's pictures: their content and their size."""

from __future__ import annotations

import math
import shutil

import pytest
from PIL import Image

from tools import pictures
from tools.pictures import View

BLUE = (0, 114, 178)
PAGE = "<body style='margin: 0'><div style='height: 900px'></div><p>{}</p><div style='height: 9in'>"


def test_a_smaller_picture_looks_the_same(tmp_path):
    file = tmp_path / "squares.png"
    picture = Image.effect_noise((60, 60), 80).convert("RGB")
    picture.paste(BLUE, (0, 0, 30, 30))
    picture.save(file)
    smaller = tmp_path / "smaller.png"
    smaller.write_bytes(pictures.smaller(file.read_bytes()))
    assert smaller.stat().st_size < file.stat().st_size
    with Image.open(smaller) as again:
        assert again.size == picture.size
        assert math.dist(again.convert("RGB").getpixel((10, 10)), BLUE) < 8


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with the page of one view, which shows a blue square 900 pixels below the top."""
    square = f"<span style='display: block; height: 40px; background: rgb{BLUE}'></span>"
    (tmp_path / "page.html").write_text(PAGE.format(square), encoding="utf-8")
    view = View("page.html", "span", above=30, width=300, height=200)
    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path / "docs")
    monkeypatch.setattr(pictures, "VIEWS", {"square.png": view})
    return tmp_path


@pytest.mark.usefixtures("chromium_installed")
def test_each_picture_shows_the_right_part_of_the_page(project, capsys):
    assert pictures.main() == 0
    assert capsys.readouterr().out.startswith("docs/square.png: ")
    with Image.open(project / "docs" / "square.png") as picture:
        assert picture.size == (300, 200)
        column = [picture.convert("RGB").getpixel((150, y)) for y in range(200)]
    blue = [y for y, colour in enumerate(column) if math.dist(colour, BLUE) < 8]
    assert blue == list(range(30, 70))


def test_without_the_pages_no_picture_is_taken(project, capsys):
    (project / "page.html").unlink()
    assert pictures.main() == 1
    assert "expected page.html" in capsys.readouterr().err
    assert not (project / "docs").exists()


@pytest.fixture
def chromium_installed(request):
    """Without Chromium skip the test, or fail it under CI, as the shared browser fixture does."""
    if shutil.which("chromium") is None:
        request.getfixturevalue("chromium")
