"""Write the bibliography as a plain list.

docutils gives each entry the role doc-biblioentry. ARIA has withdrawn it, and accessibility
checkers reject it on the element that docutils uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator


def _visit_citation(self: HTML5Translator, node: nodes.Element) -> None:
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<ul class="citation-list">\n')
    self.body.append(self.starttag(node, "li", CLASS="citation"))


def _depart_citation(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</li>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        self.body.append("</ul>\n")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_node(nodes.citation, override=True, html=(_visit_citation, _depart_citation))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
