"""Code without an element around each word that has no colour of its own.

Most words of code are names, brackets and blanks. Pages are laid out sooner without their elements,
of which a chapter would have thousands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Punctuation, Text, Whitespace
from sphinx.highlighting import PygmentsBridge

#: What both of the theme's styles show in the colour of all code.
PLAIN = {Name, Name.Namespace, Name.Other, Punctuation, Punctuation.Marker, Whitespace}


class PlainCodeFormatter(HtmlFormatter):
    """Write code as HTML, plain words without an element.

    Examples
    --------
    >>> from pygments import highlight
    >>> from pygments.lexers import PythonLexer
    >>> print(highlight("f(x) + 1", PythonLexer(), PlainCodeFormatter(nowrap=True)).strip())
    f(x) <span class="o">+</span> <span class="mi">1</span>
    """

    def format_unencoded(self, tokensource: Iterable[tuple[Any, str]], outfile: Any) -> None:
        """Write the tokens to a file."""
        plain = ((Text if kind in PLAIN else kind, word) for kind, word in tokensource)
        super().format_unencoded(plain, outfile)


def use_plain_code() -> None:
    """Have Sphinx highlight so."""
    PygmentsBridge.html_formatter = PlainCodeFormatter
