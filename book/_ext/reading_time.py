"""State the reading time of a chapter below its title.

The configuration value ``reading_time_pages`` lists the pages. The time is estimated from the
number of words, at a pace for demanding text, and the number of cells, each of which shows code,
a table or a picture.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

WORDS_PER_MINUTE = 200
MINUTES_PER_CELL = 0.5
# Minutes; a finer estimate would be false precision.
STEP = 5

WORD = re.compile(r"\w+(?:[’'./-]\w+)*")
# Nodes whose text is not counted as words.
NO_WORDS = (nodes.literal_block, nodes.math_block, nodes.raw, nodes.comment)


def minutes(words: int, cells: int) -> int:
    """Return the estimated time, rounded up to `STEP` minutes.

    Examples
    --------
    >>> minutes(words=200, cells=0), minutes(words=1000, cells=1)
    (5, 10)
    """
    exact = words / WORDS_PER_MINUTE + cells * MINUTES_PER_CELL
    return STEP * math.ceil(exact / STEP)


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def count(document: nodes.Node) -> tuple[int, int]:
    """Return the number of words and of cells on a page.

    An inline formula counts as one word; code blocks and displayed formulas do not count.
    """
    if _is_cell(document):
        return 0, 1
    if isinstance(document, NO_WORDS):
        return 0, 0
    if isinstance(document, nodes.math):
        return 1, 0
    if isinstance(document, nodes.Text):
        return len(WORD.findall(document.astext())), 0
    counts = [count(child) for child in document.children]
    return sum(words for words, _ in counts), sum(cells for _, cells in counts)


def statement(words: int, cells: int) -> str:
    """Return the line shown below the title."""
    cells_in_words = f"{cells} cell" if cells == 1 else f"{cells} cells"
    return (
        f"About {minutes(words, cells)} minutes to read: {words:,} words and {cells_in_words}."
    ).replace(",", "\u00a0")


def _state(app: Sphinx, doctree: nodes.document) -> None:
    if app.env.docname not in app.config.reading_time_pages:
        return
    title = next(doctree.findall(nodes.title))
    text = statement(*count(doctree))
    line = nodes.paragraph("", text, classes=["reading-time"])
    title.parent.insert(title.parent.index(title) + 1, line)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("reading_time_pages", [], "env")
    app.connect("doctree-read", _state)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
