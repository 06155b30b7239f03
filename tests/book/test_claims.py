"""The numbers on the pages equal those that attn_lib computes."""

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attn_lib import scaled_dot_product_attention
from attn_lib.course.mistakes import catalogue
from attn_lib.course.museum import wing
from tests.book.claims.reading import write_formulas
from tests.book.test_assignments import CHAPTERS

Q = np.array([[2.0, 1.0]])
K = np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
V = np.array([[10.0, 0.0], [0.0, 8.0], [1.0, 1.0]])
TRACE = scaled_dot_product_attention(Q, K, V, return_trace=True)
WINGS = dict.fromkeys(wing(mistake.target) for mistake in catalogue())

WITHOUT_DECIMALS = [
    "bibliography",
    "common-confusions",
    "complexity",
    "from-text-to-next-word",
    "glossary",
    "how-to-use",
    "index",
    "instructor-guide",
    "library",
    "museum",
    *(f"museum-{place}" for place in WINGS),
    "museum-trained-model",
    "numpy-and-pytorch",
    "orientation",
    "putting-it-together",
    "recap",
    "softmax-saturation",
    "variance-growth",
]
# Decimals typed into prose, with the values that they must equal when rounded to the same number
# of digits. All other decimals come from a cell by `glue`.
TYPED_DECIMALS = {
    "dot-products": {
        "0.005": 0.5 * 10.0**-2,  # half a unit of the second digit
        "0.1": TRACE.weights[0, 1],
        "0.8": TRACE.weights[0, 1] * V[1, 1],
    },
    "interview": {
        "0.5": 1 / 2,  # a score and a weight, both chosen freely
        "0.25": 1 / 4,
    },
    "masking": {
        "0.5": 1 / 2,  # a freely chosen score
        "2.7": np.e,
    },
    **{page: {} for page in WITHOUT_DECIMALS},
}
# Names with a decimal point, not quantities: sections of papers, versions of models and programs.
NAMES = {
    "section 3.2.1",
    "table 2.1",
    "section 3.4",
    "Llama 3.1",
    "Python 3.11",
    "Docker 20.10",
    "Linux 5.14",
}


def text_of(page):
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find("main").get_text()


def prose(root, page):
    source = (root / "book" / f"{page}.md").read_text(encoding="utf-8")
    source = re.sub(r"\A---\n.*?\n---\n", "", source, flags=re.DOTALL)
    source = re.sub(r"^```.*?^```", "", source, flags=re.DOTALL | re.MULTILINE)
    source = re.sub(r"`[^`]*`", "", source)
    return re.sub("|".join(map(re.escape, NAMES)), "", source, flags=re.IGNORECASE)


def test_every_page_is_listed_here(root):
    pages = {path.stem for path in (root / "book").glob("*.md")}
    assert pages == TYPED_DECIMALS.keys()
    claims = {path.stem for path in (root / "tests" / "book" / "claims").glob("test_*.py")}
    # The worked example of the first chapter is tested below.
    assert {f"test_{page.replace('-', '_')}" for page in CHAPTERS[1:]} <= claims


@pytest.mark.parametrize("page", TYPED_DECIMALS)
def test_every_typed_decimal_is_recomputed(root, page):
    expected = TYPED_DECIMALS[page]
    assert set(re.findall(r"\d+\.\d+", prose(root, page))) == set(expected)
    for typed, value in expected.items():
        digits = len(typed.split(".")[1])
        assert f"{value:.{digits}f}" == typed


def test_the_worked_example_is_printed_exactly_and_rounded(built_book):
    text = text_of(built_book / "book" / "dot-products.html")
    with np.printoptions(precision=4, suppress=True):
        for name, step in TRACE._asdict().items():
            assert f"{name:8}{step[0]}" in text
        rounded = TRACE.weights[0].round(2)
        assert repr(rounded) in text
        assert repr(rounded @ V) in text
    for figures in ("[ 3.5355  1.4142 -0.7071]", "[0.8816 0.1057 0.0127]", "[8.8291 0.8582]"):
        assert figures in text
    assert "elsewhere with the output [8.81, 0.89]" in text


def test_apple_takes_its_meaning_from_its_neighbour(built_book):
    page = BeautifulSoup(
        (built_book / "book" / "dot-products.html").read_text(encoding="utf-8"), "html.parser"
    )
    rows = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in page.find_all("tr")]
    # apple = [1, 1] meets buy = [0, 0], itself and a neighbour with a 3 in one place.
    exponentials = np.exp(np.array([0, 2, 3]) / np.sqrt(2))
    buy, own, neighbour = exponentials / exponentials.sum()
    near, far = f"{own + 3 * neighbour:.2f}", f"{own:.2f}"
    assert ["apple", "0", "2", "3"] in rows
    for other, meaning in (("phones", f"[{near}, {far}]"), ("pies", f"[{far}, {near}]")):
        weights = f"buy {buy:.2f}, apple {own:.2f}, {other} {neighbour:.2f}"
        assert [f"buy apple {other}", weights, meaning] in rows
    assert neighbour > 0.5  # the text: most of it comes from the neighbour


def test_the_table_of_mistakes_shows_each_result(built_book):
    page = built_book / "book" / "dot-products.html"
    article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find("article")
    write_formulas(article)
    tables = article.find_all("table")
    rows = [
        # The page has typographic apostrophes.
        [cell.get_text().replace("’", "'") for cell in row.find_all("td")]
        for table in tables
        for row in table.find_all("tr")
    ]
    for mistake in catalogue("attention"):
        a, b = mistake.wrong(Q, K, V)[0]
        assert [mistake.sentence, f"[{a:.4f}, {b:.4f}]"] in rows


def test_the_heads_of_the_largest_llama_are_counted(built_book):
    text = text_of(built_book / "book" / "orientation.html")
    layers, heads = map(int, re.search(r"(\d+) layers with (\d+) heads", text).groups())
    assert f"That makes {layers * heads} softmaxes" in text
