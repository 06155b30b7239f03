"""Warn about code cells that were not executed and images without real alternative text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging

from .html_scan import tags

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

MAY_STAY_UNEXECUTED = "skip-execution"
# Default texts that tools insert if no text is given: matplotlib's repr, or the file's name.
FIGURE_REPR = re.compile(r"<\w+ size", re.IGNORECASE)
PATH = re.compile(r"\S*\.(png|jpe?g|gif|svg|webp|pdf)|data:\S*|\S*/\S*", re.IGNORECASE)


def alt_problem(alt: str | None) -> str | None:
    """Return what is wrong with an alternative text, or None if it is fine.

    Examples
    --------
    >>> alt_problem("../_images/weights.png")
    'is a path'
    >>> alt_problem("Three bars: 0.88, 0.11 and 0.01.")
    """
    if alt is None:
        return "is missing"
    alt = alt.strip()
    if not alt:
        return "is empty"
    if FIGURE_REPR.match(alt):
        return "is a figure's repr"
    if PATH.fullmatch(alt):
        return "is a path"
    return None


def _check_cells(app: Sphinx, doctree: nodes.document) -> None:
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") != "cell_code" or cell.get("exec_count") is not None:
            continue
        source = cell.astext().strip()
        if not source or MAY_STAY_UNEXECUTED in cell["cell_metadata"].get("tags", []):
            continue
        logger.warning(
            "a code cell was not executed: %r. Execute it, or tag it %r.",
            source.splitlines()[0],
            MAY_STAY_UNEXECUTED,
            location=cell,
            type="page_checks",
        )


def _check_images(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    for tag, attributes in tags(context.get("body") or ""):
        if tag != "img":
            continue
        problem = alt_problem(attributes.get("alt"))
        if problem:
            logger.warning(
                "the alternative text of an image %s (src %.60s, alt %r). "
                "Say in words what the image shows.",
                problem,
                attributes.get("src"),
                attributes.get("alt"),
                location=pagename,
                type="page_checks",
            )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("doctree-read", _check_cells)
    app.connect("html-page-context", _check_images)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
