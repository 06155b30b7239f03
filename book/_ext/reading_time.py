"""State the reading time of a chapter below its title.

The configuration value ``reading_time_pages`` lists the pages. The time is estimated from the
number of words and of cells, each of which shows code, a table or a picture. A section with a
displayed formula of its own counts as a derivation, whose words take longer than others.

A page can state the time of a chapter, or of all together, by a role::

    {reading-time}`masking`, {reading-time}`all`
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

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


def states_time(node: nodes.Node) -> bool:
    """Say whether a node is the line that states how long a page takes to read."""
    return isinstance(node, nodes.paragraph) and TIME_CLASS in node["classes"]


def _state(app: Sphinx, doctree: nodes.document) -> None:
    if app.env.docname not in app.config.reading_time_pages:
        return
    title = next(doctree.findall(nodes.title))
    length = measure(doctree)
    _minutes(app.env)[app.env.docname] = length.minutes
    text = statement(length)
    line = nodes.paragraph("", text, classes=[TIME_CLASS])
    title.parent.insert(title.parent.index(title) + 1, line)


def duration(minutes: int) -> str:
    """Return minutes in words; from two hours on in hours, rounded up to halves.

    Examples
    --------
    >>> duration(45), duration(120), duration(121)
    ('45 minutes', '2 hours', '2½ hours')
    """
    if minutes < 120:
        return f"{minutes} minutes"
    hours, half = divmod(math.ceil(minutes / 30), 2)
    return f"{hours}{'½' if half else ''} hours"


class reading_time(nodes.Inline, nodes.TextElement):  # noqa: N801, docutils names nodes so
    """The place of a time that is known once all pages have been read."""


class ReadingTimeRole(SphinxRole):
    """Read ``{reading-time}`PAGE```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        node = reading_time("", page=self.text)
        self.set_source_info(node)
        return [node], []


def _minutes(env: BuildEnvironment) -> dict[str, int]:
    """Return the minutes of each chapter; Sphinx stores them with its environment."""
    return vars(env).setdefault("reading_minutes", {})


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    _minutes(env).update(_minutes(other))


def _fill_in(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    pages = {page.rpartition("/")[2]: _minutes(app.env)[page] for page in _minutes(app.env)}
    dropped = {page.rpartition("/")[2] for page in app.config.dropped_pages}
    for node in list(doctree.findall(reading_time)):
        if node["page"] in dropped:
            node.replace_self(nodes.Text("left out here"))
            continue
        if node["page"] != "all" and node["page"] not in pages:
            logger.warning(
                "reading-time: expected 'all' or a page of reading_time_pages, got %r",
                node["page"],
                location=node,
                type="reading_time",
            )
            node.replace_self(nodes.Text(""))
            continue
        minutes = sum(pages.values()) if node["page"] == "all" else pages[node["page"]]
        node.replace_self(nodes.Text(duration(minutes)))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("reading_time_pages", [], "env")
    app.add_node(reading_time)
    app.add_role("reading-time", ReadingTimeRole())
    app.connect("doctree-read", _state)
    app.connect("env-merge-info", _merge)
    app.connect("doctree-resolved", _fill_in)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
