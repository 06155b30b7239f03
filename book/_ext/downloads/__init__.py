"""What readers can take along: each chapter as a notebook, and each exercise.

`chapters` writes a notebook beside each chapter's page and links it there, with the text that
`markdown` makes of it. `addresses` knows where Colab and Binder open an exercise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def _refuse_latex(app: Sphinx) -> None:
    """Stop a build whose result would have no figures, since they are HTML."""
    if app.builder.format == "latex":
        raise ExtensionError(
            "expected the builder html, got LaTeX, which would leave out every figure and quiz. "
            "Use `make pdf`, which prints the whole course with them."
        )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up the extensions of this folder."""
    for name in ("addresses", "chapters"):
        app.setup_extension(f"{__name__}.{name}")
    app.connect("builder-inited", _refuse_latex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
