"""Read numbers, estimates and quiz options from a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from bs4 import Tag

from book._ext.finding.search_index import plain_formula

Shown = tuple[float, float]  # a number and its standard error, or 0 if none is shown

#: A formula that is written as a symbol in a table, where cells have text and no formulas.
SYMBOL = re.compile(r"(\\sqrt\{)?([A-Za-z]_[A-Za-z]|d_\{\\mathrm\{model\}\}|\d+)\}?")
NUMBER = r"−?\d+(?:\.\d+)?"
MEASURED = rf"({NUMBER}) ± ({NUMBER})"


def write_formulas(main: Tag) -> None:
    """Replace each formula by its TeX, and in tables a symbol by what a cell of the page wrote."""
    for formula in main.select(".katex"):
        tex = formula.find("annotation").get_text()
        is_symbol = formula.find_parent("table") and SYMBOL.fullmatch(tex)
        formula.replace_with(plain_formula(tex) if is_symbol else rf"\({tex}\)")


def _shown(value: str, error: str | None) -> Shown:
    return float(value.replace("−", "-")), float(error or 0)


def read(text: str) -> Shown:
    """Return the first number in a text and its standard error, or 0 if none follows."""
    return _shown(*re.search(rf"({NUMBER})(?: ± ({NUMBER}))?", text).groups())


def read_measured(text: str) -> Shown:
    """Return the first number in a text that has a standard error, and the error."""
    return _shown(*re.search(MEASURED, text).groups())


def after(text: str, words: str, read: Callable[[str], Shown] = read) -> Shown:
    """Return the result of `read` on the text after `words`."""
    assert words in text, words
    return read(text.partition(words)[2])


def estimates(pattern: str, text: str) -> list[Shown]:
    """Return the numbers in a sentence, with their errors."""
    sentence = re.search(pattern, text)
    assert sentence, pattern
    return [_shown(*found) for found in re.findall(MEASURED, sentence[0])]


def options_of(root: Path, page: str, quiz: str) -> tuple[list[str], str]:
    """Return the options of a quiz as written in the source, and the right one."""
    source = (root / "book" / f"{page}.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^:::{{quiz}} {quiz}\n(.*?)^:::", source, re.DOTALL | re.MULTILINE)
    options = re.findall(r"^- \[(.)\] (.*)$", block, re.MULTILINE)
    (right,) = (text for mark, text in options if mark == "x")
    return [text for _, text in options], right
