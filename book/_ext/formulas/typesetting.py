"""Typeset formulas with KaTeX, in V8 inside this process: no Node, no browser.

The files of KaTeX stand in book/vendor/katex; its VERSION says how to renew them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from py_mini_racer import MiniRacer

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parents[2] / "vendor" / "katex"

# A command that KaTeX does not trust, such as \href, would be shown in red instead.
RENDER = """
(tex, displayMode) => {
  const trust = ({ command }) => {
    throw new katex.ParseError(`${command} is not allowed in a formula`);
  };
  try {
    return [katex.renderToString(tex, { displayMode, strict: "error", trust }), ""];
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    return ["", error.message];
  }
}
"""


class FormulaError(ValueError):
    """Raised if KaTeX cannot typeset a formula."""


@cache
def _engine() -> tuple[MiniRacer, Callable[[str, bool], tuple[str, str]]]:
    engine = MiniRacer()
    engine.eval((FOLDER / "katex.min.js").read_text(encoding="utf-8"))
    return engine, cast("Callable[[str, bool], tuple[str, str]]", engine.eval(RENDER))


def typeset(tex: str, *, display: bool) -> str:
    r"""Return a formula as HTML, which needs a style sheet, with hidden MathML for screen readers.

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
    _, render = _engine()
    html, problem = render(tex, display)
    if problem:
        raise FormulaError(f"{problem.removeprefix('KaTeX parse error: ')}, in {tex!r}")
    return html
