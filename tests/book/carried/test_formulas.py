"""Formulas are typeset when the book is built, and need no script."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import io
import re

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from fontTools.ttLib import TTFont

from book._ext.formulas import display_tex, typesetting
from book._ext.formulas.fonts import characters, fonts, reduced_font, style_sheet
from book._ext.formulas.stored import StoredFormulas
from book._ext.formulas.typesetting import FormulaError, typeset
from book._ext.formulas.within_text import SYMBOL, glue_punctuation, set_symbols

#: The formulas that end a line of which the next one begins with punctuation.
LEFT_ALONE = """() => {
  const LIMIT = "p, li, td, th, dd, legend, label";
  const after = (formula) => {
    const texts = document.createTreeWalker(formula.closest(LIMIT), NodeFilter.SHOW_TEXT);
    texts.currentNode = formula;
    while (formula.contains(texts.currentNode)) if (!texts.nextNode()) return null;
    return texts.currentNode;
  };
  const followed = [...document.querySelectorAll("article span.math")]
    .filter((formula) => formula.checkVisibility() && formula.closest(LIMIT))
    .map((formula) => [formula, after(formula)])
    .filter(([, text]) => text && /^[.,;:!?)]/.test(text.data));
  const alone = followed.filter(([formula, text]) => {
    const character = document.createRange();
    character.setStart(text, 0);
    character.setEnd(text, 1);
    const last = [...formula.querySelectorAll(".katex-base")].at(-1);
    return character.getBoundingClientRect().left < last.getBoundingClientRect().left;
  });
  const tex = ([formula]) => formula.querySelector("annotation").textContent;
  return [followed.length, alone.map(tex)];
}"""


@pytest.mark.parametrize(
    "name", ["formulas", "formulas.fonts", "formulas.typesetting", "formulas.within_text"]
)
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


@pytest.mark.parametrize(
    ("before", "after", "glued"),
    [
        ("So (", ") it is.", "(F)"),
        ("That is ", ". Then", "F."),
        ("“", "”, he said", "“F”,"),
        ("By ", " it is", ""),
        ("In an ", "-gram", ""),
    ],
)
def test_punctuation_stays_beside_its_formula(before, after, glued):
    formula = nodes.math("F", "F")
    paragraph = nodes.paragraph("", "", nodes.Text(before), formula, nodes.Text(after))
    glue_punctuation(formula)
    assert paragraph.astext() == f"{before}F{after}"
    assert [part.astext() for part in paragraph.findall(nodes.inline)] == ([glued] if glued else [])


def test_a_link_that_is_a_formula_is_glued_as_a_whole():
    formula = nodes.math("F", "F")
    link = nodes.reference("", "", formula, refuri="a.html")
    paragraph = nodes.paragraph("", "", link, nodes.Text(". Then"))
    glue_punctuation(formula)
    (glued,) = paragraph.findall(nodes.inline)
    assert (glued.astext(), link.parent, link.astext()) == ("F.", glued, "F")


def test_code_in_a_heading_is_no_formula():
    heading = nodes.title("", "", nodes.literal("", "d_k"), nodes.Text(" and d_v"))
    set_symbols(heading)
    assert [part.astext() for part in heading.findall(nodes.math)] == ["d_v"]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("divide by √d_k, not d_k", [r"\sqrt{d_k}", "d_k"]),
        ("1/√d_model for n_q − n_k", [r"\sqrt{d_{\mathrm{model}}}", "n_q", "n_k"]),
        ("w_i·w_j, √64, √3/4.", ["w_i", "w_j", r"\sqrt{64}", r"\sqrt{3}"]),
        ("√0.5 and √64.5", []),
        ("attn_lib, n_heads, w_score, divide-by-d_k", []),
    ],
)
def test_symbols_in_a_text_are_formulas_and_names_are_not(text, formulas):
    paragraph = nodes.paragraph("", "", nodes.Text(text))
    set_symbols(paragraph)
    assert [part.astext() for part in paragraph.findall(nodes.math)] == formulas
    set_symbols(paragraph)
    assert [part.astext() for part in paragraph.findall(nodes.math)] == formulas


def test_a_link_that_is_a_symbol_has_a_name():
    links = [
        nodes.reference("", "", nodes.inline("", text), refuri="glossary.html")
        for text in ("√d_k", "the width d_k")
    ]
    set_symbols(nodes.paragraph("", "", *links))
    assert [link.get("reftitle") for link in links] == ["√d_k", None]
    assert [len(list(link.findall(nodes.math))) for link in links] == [1, 1]


@pytest.mark.parametrize(
    ("name", "selector", "tex"),
    [
        ("variance-growth", "th", r"\sqrt{d_k}"),
        ("dot-products", "td", r"\sqrt{d_k}"),
        ("museum-dot-products", "p", r"\sqrt{d_k}"),
        ("orientation", "a", "d_k"),
        ("glossary", "dt", r"d_{\mathrm{model}}"),
    ],
)
def test_symbols_are_set_in_tables_terms_links_and_sentences(built_book, name, selector, tex):
    html = (built_book / "book" / f"{name}.html").read_text(encoding="utf-8")
    article = BeautifulSoup(html, "html.parser").find("article")
    inside = [part for part in article.select(selector) if part.find("annotation")]
    assert tex in [formula.string for part in inside for formula in part.select("annotation")]
    # For programs that check a page, a column headed by a formula alone has no head.
    alone = [head for head in article.select("th") if SYMBOL.fullmatch(head.get_text().strip())]
    for part in [*alone, *article.select("pre, code, script, .katex, .live, figure, form")]:
        part.decompose()
    assert re.findall(r"(?<![\w-])√?[a-z]_[a-z]\b", article.get_text()) == []


@pytest.mark.parametrize("width", [320, 375])
@pytest.mark.parametrize("name", ["orientation", "complexity", "softmax-saturation"])
def test_no_line_begins_with_the_punctuation_after_a_formula(tabs, built_book, name, width):
    watched = tabs.open(width=width)
    watched.open((built_book / "book" / f"{name}.html").as_uri())
    followed, alone = watched.page.evaluate(LEFT_ALONE)
    assert followed > 5
    assert alone == []
    tabs.close(watched)


def test_a_symbol_is_a_formula_in_its_heading_and_text_in_menus(built_book):
    html = (built_book / "book" / "variance-growth.html").read_text(encoding="utf-8")
    page = BeautifulSoup(html, "html.parser")
    section = page.find("article").find("section")
    assert section["id"] == "variance-growth-why-d-k"
    assert section.h1.find("annotation").string == r"\sqrt{d_k}"
    title = "Variance growth: why √d_k"
    assert page.title.string.startswith(f"3. {title}")
    current = page.select_one("nav.bd-links a.current, nav.bd-links .current.active > a")
    assert current.get_text(strip=True) == f"3. {title}"
