"""Formulas as part of a line: punctuation stays beside them, and symbols in a text are set.

Browsers may break a line between a formula and the full stop after it, because a formula is a box
to them. So both are put into one node, within which no line is broken.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

#: The class of such nodes, and what their formulas are marked with.
GLUED = "glued"
#: What KaTeX does not divide. A long formula has several.
PIECE = '<span class="katex-base">'
OPENING = re.compile(r"[(\[“‘]+$")
CLOSING = re.compile(r"^[.,;:!?…)\]”’]+")
# √d_k, √64, a letter with an index of one letter, d_model. Names such as attn_lib, n_heads and
# divide-by-d_k are no formulas.
SYMBOL = re.compile(
    r"√(?P<number>\d+)(?!\.?\d)|(?P<root>√?)(?<![\w-])(?P<name>[A-Za-z]_[A-Za-z]|d_model)\b"
)
#: Nodes whose text stands as it is written. The reference names arguments as code does.
AS_WRITTEN = (
    nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, addnodes.desc,
)  # fmt: skip


def glue_punctuation(formula: nodes.math) -> None:
    """Put a formula and the punctuation that touches it into one node, which no line divides.

    Parameters
    ----------
    formula : nodes.math
        It stands in a text, which is changed. If it is all of a link, the link is glued.
    """
    whole: nodes.Element = formula
    while isinstance(whole.parent, nodes.Inline) and len(whole.parent) == 1:
        whole = whole.parent
    parent = whole.parent
    place = parent.index(whole)
    before, after = "", ""
    if place + 1 < len(parent) and isinstance(parent[place + 1], nodes.Text):
        text = parent[place + 1].astext()
        if closing := CLOSING.search(text):
            after = closing[0]
            parent[place + 1] = nodes.Text(text[closing.end() :])
    if place and isinstance(parent[place - 1], nodes.Text):
        text = parent[place - 1].astext()
        if opening := OPENING.search(text):
            before = opening[0]
            parent[place - 1] = nodes.Text(text[: opening.start()])
    if before or after:
        formula[GLUED] = True
        glued = nodes.inline(classes=[GLUED])
        parent[place] = glued
        glued += [nodes.Text(before), whole, nodes.Text(after)]


def breakable(html: str) -> str:
    """Allow line breaks between the pieces of a typeset formula, where all else is kept together.

    Examples
    --------
    >>> breakable(f"<b>{PIECE}a =</span>{PIECE}b</span></b>")
    '<b><span class="katex-base">a =</span><wbr><span class="katex-base">b</span></b>'
    """
    before, piece, rest = html.partition(PIECE)
    return before + piece + rest.replace(PIECE, f"<wbr>{PIECE}")


def set_symbols(element: nodes.Element) -> None:
    r"""Replace symbols in a text, such as √d_k, by formulas.

    Examples
    --------
    >>> heading = nodes.title("", "", nodes.Text("Why √d_k and not attn_lib or √64?"))
    >>> set_symbols(heading)
    >>> [child.astext() for child in heading]
    ['Why ', '\\sqrt{d_k}', ' and not attn_lib or ', '\\sqrt{64}', '?']
    """
    for text in list(element.findall(nodes.Text)):
        written = text.astext()
        made: list[nodes.Node] = []
        end = 0
        for symbol in SYMBOL.finditer(written):
            tex = _tex(**symbol.groupdict())
            made += [nodes.Text(written[end : symbol.start()]), nodes.math(tex, tex)]
            end = symbol.end()
        if made and not _is_as_written(text) and not _is_whole_head(text):
            link = _around(text, nodes.reference)
            # A link that shows nothing but a formula would have no name.
            if link is not None and SYMBOL.fullmatch(link.astext()):
                link["reftitle"] = link.astext()
            text.parent.replace(text, [*made, nodes.Text(written[end:])])


def _tex(number: str | None, root: str | None, name: str | None) -> str:
    if number or not name:
        return rf"\sqrt{{{number}}}"
    tex = name.replace("model", r"{\mathrm{model}}")
    return rf"\sqrt{{{tex}}}" if root else tex


def _around(text: nodes.Text, kind: type[nodes.Element]) -> nodes.Element | None:
    parent = text.parent
    while parent is not None and not isinstance(parent, kind):
        parent = parent.parent
    return parent


def _is_whole_head(text: nodes.Text) -> bool:
    """Return whether a table's column would have a formula, and no text, as its head."""
    entry = _around(text, nodes.entry)
    if entry is None or _around(text, nodes.thead) is None:
        return False
    return SYMBOL.fullmatch(entry.astext().strip()) is not None


def _is_as_written(text: nodes.Text) -> bool:
    parent = text.parent
    while parent is not None:
        if isinstance(parent, AS_WRITTEN):
            return True
        parent = parent.parent
    return False


class FormulasWithinText(SphinxPostTransform):
    """Prepare the formulas of a page that is about to be written.

    Menus, titles of windows and the search have taken their texts before, and stay texts.
    """

    default_priority = 700
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Change the page."""
        set_symbols(self.document)
        for formula in list(self.document.findall(nodes.math)):
            glue_punctuation(formula)
