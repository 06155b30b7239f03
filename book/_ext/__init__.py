"""The book's Sphinx extensions, listed in _config.yml under this one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

EXTENSIONS = (
    "assignments",
    "citations",
    "dropped_pages",
    "downloads",
    "executing",
    "finding",
    "fold_names",
    "formulas",
    "heading_labels",
    "live_figures",
    "offline",
    "page_checks",
    "picture_files",
    "quick_rebuild",
    "quiz",
    "reading_time",
    "styles",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up every extension of this folder."""
    for name in EXTENSIONS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
