"""State the reading time of a chapter below its title.

The configuration value ``reading_time_pages`` lists the pages. The time is estimated from the
number of words and of cells, each of which shows code, a table or a picture. A section with a
displayed formula of its own counts as a derivation, whose words take longer than others.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

WORDS_PER_MINUTE = 200
DERIVED_WORDS_PER_MINUTE = 120
MINUTES_PER_CELL = 0.5
# Minutes; a finer estimate would be false precision.
STEP = 5
#: The class of the line that states the time.
TIME_CLASS = "reading-time"

WORD = re.compile(r"\w+(?:[’'./-]\w+)*")
# Nodes whose text is not counted as words.
NO_WORDS = (nodes.literal_block, nodes.math_block, nodes.raw, nodes.comment)


class Length(NamedTuple):
    """How long a page is."""

    words: int
    derived: int  #: those of the words that stand in derivations
    cells: int

    @property
    def minutes(self) -> int:
        """The estimated time, rounded up to `STEP` minutes.

        Examples
        --------
        >>> Length(200, 0, 0).minutes, Length(1000, 0, 1).minutes, Length(600, 600, 1).minutes
        (5, 10, 10)
        """
        exact = (
            (self.words - self.derived) / WORDS_PER_MINUTE
            + self.derived / DERIVED_WORDS_PER_MINUTE
            + self.cells * MINUTES_PER_CELL
        )
        return STEP * math.ceil(exact / STEP)


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def _derives(node: nodes.Node) -> bool:
    """Return whether a displayed formula is in the node, outside of cells and inner sections."""
    return isinstance(node, nodes.math_block) or any(
        _derives(child)
        for child in node.children
        if not (isinstance(child, nodes.section) or _is_cell(child))
    )


def measure(node: nodes.Node, in_derivation: bool = False) -> Length:
    """Return the length of a page, or of a part of one that may belong to a derivation.

    An inline formula counts as one word; code blocks and displayed formulas do not count.
    """
    if _is_cell(node):
        return Length(0, 0, 1)
    if isinstance(node, NO_WORDS):
        return Length(0, 0, 0)
    if isinstance(node, nodes.math | nodes.Text):
        words = 1 if isinstance(node, nodes.math) else len(WORD.findall(node.astext()))
        return Length(words, words if in_derivation else 0, 0)
    if isinstance(node, nodes.section):
        in_derivation = _derives(node)
    lengths = [measure(child, in_derivation) for child in node.children]
    return Length(*map(sum, zip(*lengths, strict=True))) if lengths else Length(0, 0, 0)


def statement(length: Length) -> str:
    """Return the line shown below the title."""
    words, derived = (f"{count:,}".replace(",", "\u00a0") for count in length[:2])
    words += f" words, {derived} of them in derivations," if length.derived else " words"
    cells = f"{length.cells} cell" if length.cells == 1 else f"{length.cells} cells"
    return f"About {length.minutes} minutes to read: {words} and {cells}."


def _state(app: Sphinx, doctree: nodes.document) -> None:
    if app.env.docname not in app.config.reading_time_pages:
        return
    title = next(doctree.findall(nodes.title))
    text = statement(measure(doctree))
    line = nodes.paragraph("", text, classes=[TIME_CLASS])
    title.parent.insert(title.parent.index(title) + 1, line)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("reading_time_pages", [], "env")
    app.connect("doctree-read", _state)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
