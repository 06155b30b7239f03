"""What readers can take along: each chapter as a notebook, and each exercise.

`chapters` writes a notebook beside each chapter's page and links it there, `exercises` says where an
exercise opens, `addresses` knows Colab and Binder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up the extensions of this folder."""
    for name in ("addresses", "chapters"):
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
