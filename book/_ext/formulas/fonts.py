"""KaTeX's style sheet and its fonts, of which pages get the characters that they show."""

from __future__ import annotations

import io
import logging
import re
from html import unescape
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

from .typesetting import FOLDER

SHOWN = '<span class="katex-html" aria-hidden="true">'
SPAN = re.compile(r"<(/?)span\b")
TAGS = re.compile(r"<[^>]*>")
OTHER_FORMATS = re.compile(r'url\(fonts/[\w-]+\.(?:woff2|ttf)\) format\("\w+"\),?')
#: The names that stay in a font: its copyright and licence. The licence reserves the others.
NAMES = [0, 13, 14]


def style_sheet() -> str:
    """Return KaTeX's style sheet, with each font in one format, which all browsers read."""
    css = (FOLDER / "katex.min.css").read_text(encoding="utf-8")
    return OTHER_FORMATS.sub("", css).replace('format("woff"),', 'format("woff")')


def fonts() -> list[Path]:
    """Return the files that the style sheet names, which it expects in a folder `fonts`."""
    return sorted((FOLDER / "fonts").glob("*.woff"))


def characters(html: str) -> set[str]:
    """Return the characters of the formulas that a page shows.

    Examples
    --------
    >>> from .typesetting import typeset
    >>> page = f"<p>Some text. <span>{typeset('a_1 < b', display=False)}</span> More.</p>"
    >>> sorted(characters(page) - {"\N{ZERO WIDTH SPACE}"})
    ['1', '<', 'a', 'b']
    """
    found: set[str] = set()
    for formula in html.split(SHOWN)[1:]:
        depth = 1
        for span in SPAN.finditer(formula):
            depth += -1 if span[1] else 1
            if not depth:
                found.update(unescape(TAGS.sub("", formula[: span.start()])))
                break
    return found


def reduced_font(path: Path, shown: set[str]) -> bytes:
    """Return the part of a font that draws some characters, as a file."""
    options = subset.Options(
        name_IDs=NAMES, hinting=False, layout_features=[], flavor="woff", notdef_outline=True
    )
    # It doubts the dates of fonts that were made reproducibly.
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    font = TTFont(path)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(shown))
    subsetter.subset(font)
    font.flavor = "woff"
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()
