"""Take typeset formulas out of a page and put them back, as glyphs or as MathML.

Most elements of a page are parts of its formulas. Without them it is parsed several times faster.
"""

from __future__ import annotations

import html as markup
import re
from collections.abc import Callable
from dataclasses import dataclass

OPENING = '<span class="katex">'
SPAN = re.compile(r"<(/?)span\b[^>]*>")
TEX = re.compile(r"<annotation\b[^>]*>(.*?)</annotation>", re.DOTALL)
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
GLYPHS = re.compile(r'<span class="katex-html" aria-hidden="true">.*</span>', re.DOTALL)
EMPTY_ATTRIBUTE = re.compile(r' \w+=""')
TAG = re.compile(r"<[^>]*>")
PLACE = re.compile(r'<span data-formula="(\d+)"></span>')


@dataclass(frozen=True)
class Formula:
    """A formula as KaTeX has typeset it: MathML, the TeX it was made from, and glyphs."""

    html: str

    @property
    def tex(self) -> str:
        """The TeX."""
        return markup.unescape(_part(TEX, self.html, 1))

    @property
    def mathml(self) -> str:
        """The MathML, without the TeX, and without empty attributes, which are not valid."""
        return EMPTY_ATTRIBUTE.sub("", TEX.sub("", _part(MATHML, self.html)))

    @property
    def picture(self) -> str:
        """The glyphs as one picture whose text is the TeX.

        Programs that read a PDF aloud would otherwise get many single letters. Chromium drops the
        text of a picture all of whose content is hidden, so it is not.
        """
        glyphs = _part(GLYPHS, self.html.removesuffix("</span>")).replace(' aria-hidden="true"', "")
        return (
            f'<span class="katex" role="img" aria-label="{markup.escape(self.tex)}">{glyphs}</span>'
        )

    @property
    def text(self) -> str:
        """The glyphs as text, for titles."""
        return markup.unescape(TAG.sub("", _part(GLYPHS, self.html)))


def _part(pattern: re.Pattern[str], html: str, group: int = 0) -> str:
    found = pattern.search(html)
    if found is None:
        raise ValueError(f"expected a formula that KaTeX has typeset, got {html[:200]!r}")
    return found[group]


def take(html: str, taken: list[Formula]) -> str:
    """Return the page with a place for each formula, and append the formulas to `taken`.

    Examples
    --------
    >>> taken = []
    >>> take('<p>If <span class="katex"><span>x</span></span> is 1.</p>', taken)
    '<p>If <span data-formula="0"></span> is 1.</p>'
    >>> taken
    [Formula(html='<span class="katex"><span>x</span></span>')]
    """
    first, *others = html.split(OPENING)
    pieces = [first]
    for piece in others:
        end = _end(piece)
        pieces += [f'<span data-formula="{len(taken)}"></span>', piece[end:]]
        taken.append(Formula(OPENING + piece[:end]))
    return "".join(pieces)


def _end(html: str) -> int:
    """Return where the span ends in which the text begins."""
    depth = 1
    for span in SPAN.finditer(html):
        depth += -1 if span[1] else 1
        if not depth:
            return span.end()
    raise ValueError(f"expected the end of a formula, found none in {html[:200]!r}")


def put_back(html: str, formulas: list[Formula], show: Callable[[Formula], str]) -> str:
    """Return the page with each formula in its place, as `show` shows it.

    Examples
    --------
    >>> formula = Formula('<span class="katex"><math><mi>x</mi></math></span>')
    >>> put_back('<b><span data-formula="0"></span></b>', [formula], lambda it: it.mathml)
    '<b><math><mi>x</mi></math></b>'
    """
    return PLACE.sub(lambda place: show(formulas[int(place[1])]), html)
