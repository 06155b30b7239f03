"""Formulas are typeset when the book is built, and need no script."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import io
import re

import pytest
from docutils import nodes
from fontTools.ttLib import TTFont

from book._ext.formulas import display_tex, typesetting
from book._ext.formulas.fonts import characters, fonts, reduced_font, style_sheet
from book._ext.formulas.stored import StoredFormulas
from book._ext.formulas.typesetting import FormulaError, typeset


@pytest.mark.parametrize("name", ["formulas", "formulas.fonts", "formulas.typesetting"])
def test_examples(name):
    results = doctest.testmod(importlib.import_module(f"book._ext.{name}"))
    assert results.attempted
    assert not results.failed


def test_katex_is_what_its_note_describes(root):
    folder = root / "book" / "vendor" / "katex"
    _, _, listed = (folder / "VERSION").read_text(encoding="utf-8").partition("SHA-256:\n")
    files = [folder / "katex.min.js", folder / "katex.min.css", *fonts()]
    assert len(files) > 10
    assert listed.splitlines() == [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}"
        for file in files
    ]


def test_the_style_sheet_names_all_fonts_and_no_other_file():
    named = re.findall(r"url\((.*?)\)", style_sheet())
    assert sorted(named) == [f"fonts/{font.name}" for font in fonts()]


def test_a_font_keeps_what_is_shown_and_its_licence():
    path = next(font for font in fonts() if font.name == "KaTeX_Main-Regular.woff")
    small = TTFont(io.BytesIO(reduced_font(path, {"a", "√", "+"})))
    assert set(small.getBestCmap()) == {ord(character) for character in "a√+"}
    assert {entry.nameID for entry in small["name"].names} == {0, 13, 14}
    assert "SIL Open Font License" in str(small["name"].getName(13, 3, 1))


def test_the_characters_of_a_formula_are_all_found():
    tex = r"\sqrt{\frac{a}{b}} + \operatorname{softmax}\left(c_{d_k}\right) \le e^\top"
    html = f"<p>zzz{typeset(tex, display=True)}yyy</p>"
    assert set("abcdeksoftmax+≤⊤()") <= characters(html)
    assert not set("yz") & characters(html)


def test_an_equation_has_its_number_and_its_link(build_tiny_book):
    build = build_tiny_book("formulas")
    assert build.status == 0, build.tail()
    html = (build.html / "book" / "index.html").read_text(encoding="utf-8")
    numbers = re.findall(r'id="(equation-[\w-]+)"[^>]*>\s*<span class="eqno">\((\d)\)', html)
    assert numbers[:2] == [("equation-scores", "1"), ("equation-weights", "2")]
    # MyST gives the align environment an id of its own making.
    assert [number for _, number in numbers[2:]] == ["3"]
    links = re.findall(r'href="#(equation-[\w-]+)">\((\d)\)', html)
    assert links == [("equation-weights", "2"), ("equation-scores", "1")]
    assert "eqn-num" not in html, "KaTeX numbers lines by itself"
    sources = re.findall(r'<annotation encoding="application/x-tex">(.*?)</annotation>', html, re.S)
    assert len(sources) == len(re.findall("<math ", html)) == 5
    assert sources[-1] == r"\sqrt{d_v}"


def test_parts_of_a_block_stand_below_each_other():
    block = nodes.math_block("", "a &= b\n\nc &= d \\\\ e &= f", nowrap=False)
    assert (
        display_tex(block)
        == "\\begin{aligned}a &= b\\\\\\begin{split}c &= d \\\\ e &= f\\end{split}\\end{aligned}"
    )
    assert typeset(display_tex(block), display=True).count("<mtr>") == 4


@pytest.mark.parametrize(
    ("tex", "message"),
    [
        (r"\softmaks(s)", r"Undefined control sequence: \\softmaks"),
        ("√d_k", r"Unrecognized Unicode character"),
        (r"\includegraphics{a.png}", r"includegraphics is not allowed in a formula"),
    ],
)
def test_a_formula_that_fails_says_why(tex, message):
    with pytest.raises(FormulaError, match=message) as caught:
        typeset(tex, display=False)
    assert repr(tex) in str(caught.value)


def test_a_formula_is_typeset_once_for_each_version_and_form(tmp_path):
    calls = []

    def render(tex, *, display):
        calls.append((tex, display))
        return f"{tex}, {display}, {len(calls)}"

    def ask(version, *formulas):
        stored = StoredFormulas(tmp_path / "formulas", version)
        found = [stored.get(render, tex, display=display) for tex, display in formulas]
        stored.close()
        return found

    assert ask("1", ("a", True), ("a", False), ("a", True)) == [
        "a, True, 1",
        "a, False, 2",
        "a, True, 1",
    ]
    assert ask("1", ("a", False), ("b", False)) == ["a, False, 2", "b, False, 3"]
    assert ask("2", ("a", False)) == ["a, False, 4"]
    assert calls == [("a", True), ("a", False), ("b", False), ("a", False)]


def test_v8_is_started_once():
    typesetting.typeset("a", display=False)
    typesetting.typeset("b", display=True)
    assert typesetting._engine.cache_info().misses == 1
