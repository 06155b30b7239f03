"""Let the folds of hidden cells be called what they say, as in *Show the source*.

MyST-NB gives each the name "Toggle hidden content", which readers who speak to their computer do
not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

NAMED = '<summary aria-label="Toggle hidden content">'


def _rename(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if "body" in context:
        context["body"] = context["body"].replace(NAMED, "<summary>")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("html-page-context", _rename)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
