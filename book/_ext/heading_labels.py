"""Let links from other pages lead to labels of headings, as in ``masking.md#before-the-softmax``.

MyST finds headings of other pages by their text alone, which is another one in another language::

    (before-the-softmax)=
    ## Erst maskieren
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def _note_labels(app: Sphinx, doctree: nodes.document) -> None:
    """Add the labels of a page to the headings that MyST knows there."""
    known = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    # docutils gives a label to what stands below it: to a section, or to a text.
    for node in doctree.findall(nodes.Element):
        title = node.next_node(nodes.title) if node.get("ids") else None
        for label in node.get("ids", ()):
            known.setdefault(label, (node.line, label, title.astext() if title else label))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("doctree-read", _note_labels)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
