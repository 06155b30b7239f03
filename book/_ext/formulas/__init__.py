"""Typeset every formula when the book is built, so that pages need no script for it.

Pages get KaTeX's HTML with hidden MathML, from which tools/editions takes the one or the other. A
formula that fails is a warning with its page and line.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from .stored import StoredFormulas
from .typesetting import FOLDER, FormulaError, typeset
from .within_text import GLUED, FormulasWithinText, breakable

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

CLASSES = "math notranslate nohighlight"
# Sphinx numbers equations, so KaTeX must not.
NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")


def display_tex(node: nodes.math_block) -> str:
    r"""Return the LaTeX of a block, in which line breaks and empty lines are allowed as in Sphinx.

    Examples
    --------
    >>> display_tex(nodes.math_block("", r"a \\ b", nowrap=False))
    '\\begin{split}a \\\\ b\\end{split}'
    >>> display_tex(nodes.math_block("", r"\begin{align}a\end{align}", nowrap=True))
    '\\begin{align*}a\\end{align*}'
    """
    text = node.astext()
    if node.get("nowrap") or "amsmath" in node.get("classes", []):
        return NUMBERED.sub(r"\\\1{\2*}", text)
    parts = [
        rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part
        for part in text.split("\n\n")
        if part.strip()
    ]
    lines = r"\\".join(parts)
    return lines if len(parts) == 1 else rf"\begin{{aligned}}{lines}\end{{aligned}}"


class Formulas:
    """The formulas of one build."""

    def __init__(self) -> None:
        self._stored: StoredFormulas | None = None

    def open(self, app: Sphinx) -> None:
        """Find what earlier builds have typeset."""
        if app.builder.format == "html":
            version = hashlib.sha256((FOLDER / "katex.min.js").read_bytes()).hexdigest()
            self._stored = StoredFormulas(Path(app.outdir).parent / ".formulas.sqlite", version)

    def close(self, app: Sphinx, exception: Exception | None) -> None:
        """Store what was typeset, for later builds."""
        if self._stored is not None:
            self._stored.close()

    def visit_math(self, translator: HTML5Translator, node: nodes.math) -> None:
        """Write a formula within a line."""
        html = self._html(translator, node, node.astext(), display=False)
        if node.get(GLUED):
            html = breakable(html)
        opening = translator.starttag(node, "span", "", CLASS=CLASSES)
        translator.body.append(f"{opening}{html}</span>")
        raise nodes.SkipNode

    def visit_math_block(self, translator: HTML5Translator, node: nodes.math_block) -> None:
        """Write a formula on a line of its own, with its number if it has a label."""
        translator.body.append(translator.starttag(node, "div", CLASS=CLASSES))
        if node["number"]:
            number = get_node_equation_number(translator, node)
            translator.body.append(f'<span class="eqno">({number})')
            translator.add_permalink_ref(node, "Link to this equation")
            translator.body.append("</span>")
        html = self._html(translator, node, display_tex(node), display=True)
        translator.body.append(f"{html}</div>\n")
        raise nodes.SkipNode

    def _html(
        self, translator: HTML5Translator, node: nodes.Element, tex: str, *, display: bool
    ) -> str:
        assert self._stored is not None
        try:
            return self._stored.get(typeset, tex, display=display)
        except FormulaError as error:
            place = node
            while place.line is None and place.parent is not None:
                place = place.parent
            logger.warning(
                "a formula cannot be typeset: %s", error, location=place, type="formulas"
            )
            return f"<code>{translator.encode(tex)}</code>"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    formulas = Formulas()
    app.add_html_math_renderer(
        "katex", (formulas.visit_math, None), (formulas.visit_math_block, None)
    )
    app.add_post_transform(FormulasWithinText)
    app.connect("builder-inited", formulas.open)
    app.connect("build-finished", formulas.close)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
