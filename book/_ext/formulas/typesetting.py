"""Typeset formulas with KaTeX, in V8 inside this process: no Node, no browser.

The files of KaTeX stand in book/vendor/katex; its VERSION says how to renew them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from py_mini_racer import MiniRacer

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parents[2] / "vendor" / "katex"
#: The two forms of a formula: for browsers, with MathML for screen readers, and MathML alone.
WITH_MATHML, MATHML = "htmlAndMathml", "mathml"
MATH_ELEMENT = re.compile(r"<math\b.*</math>", re.DOTALL)

# A command that KaTeX does not trust, such as \href, would be shown in red instead.
RENDER = """
(tex, displayMode, output) => {
  const trust = ({ command }) => {
    throw new katex.ParseError(`${command} is not allowed in a formula`);
  };
  try {
    return [katex.renderToString(tex, { displayMode, output, strict: "error", trust }), ""];
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    return ["", error.message];
  }
}
"""


class FormulaError(ValueError):
    """Raised if KaTeX cannot typeset a formula."""


@cache
def _engine() -> tuple[MiniRacer, Callable[[str, bool, str], tuple[str, str]]]:
    engine = MiniRacer()
    engine.eval((FOLDER / "katex.min.js").read_text(encoding="utf-8"))
    return engine, cast("Callable[[str, bool, str], tuple[str, str]]", engine.eval(RENDER))


def _render(tex: str, display: bool, output: str) -> str:
    _, render = _engine()
    html, problem = render(tex, display, output)
    if problem:
        raise FormulaError(f"{problem.removeprefix('KaTeX parse error: ')}, in {tex!r}")
    return html


def typeset(tex: str, *, display: bool) -> str:
    r"""Return a formula as HTML, which needs katex.css, with hidden MathML for screen readers.

    Parameters
    ----------
    tex : str
        LaTeX, without delimiters.
    display : bool
        Whether the formula stands on a line of its own.

    Raises
    ------
    FormulaError
        If KaTeX does not know a command, or LaTeX would not take the formula.

    Examples
    --------
    >>> html = typeset(r"\sqrt{d_k}", display=False)
    >>> html.startswith('<span class="katex"><span class="katex-mathml"><math'), "<svg" in html
    (True, True)
    >>> typeset(r"\frac{a", display=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    book._ext.formulas.typesetting.FormulaError: Unexpected end of input ..., in '\\frac{a'
    """
    return _render(tex, display, WITH_MATHML)


def mathml(tex: str, *, display: bool) -> str:
    r"""Return a formula as one MathML element, which needs no style sheet, as for EPUB.

    Parameters and errors are those of `typeset`.

    Examples
    --------
    >>> mathml("n^2", display=False)  # doctest: +ELLIPSIS
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><msup>...</math>'
    """
    element = MATH_ELEMENT.search(_render(tex, display, MATHML))
    assert element, "KaTeX writes MathML for every formula that it accepts"
    return element.group()
