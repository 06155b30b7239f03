"""Leave out pages, and show links to them as text.

The configuration value ``dropped_pages`` lists the pages. They are not in ``_toc.yml`` either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)


class LinksAsText(SphinxTransform):
    """Puts the text of a link to a dropped page in place of the link."""

    default_priority = 10  # before anything looks where links lead

    def apply(self, **_: Any) -> None:
        """Change the page that has just been read."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link.get("reftarget") in self.config.dropped_pages:
                text = nodes.inline("", "", *(child.deepcopy() for child in link.children))
                if not text.astext():  # a link without a text of its own shows the page's title
                    text += nodes.Text(link["reftarget"].rpartition("/")[2])
                link.replace_self(text)


def _leave_out(app: Sphinx, config: Config) -> None:
    for page in config.dropped_pages:
        if not any(app.srcdir.glob(f"{page}.*")):
            logger.warning(
                "dropped_pages: expected names of pages such as book/complexity, got %r",
                page,
                type="dropped_pages",
            )
    config.exclude_patterns += [f"{page}.*" for page in config.dropped_pages]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("dropped_pages", [], "env")
    app.connect("config-inited", _leave_out)
    app.add_transform(LinksAsText)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
