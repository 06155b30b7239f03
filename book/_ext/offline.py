"""Warn about everything on a built page that a browser would fetch from another host.

Ordinary links are allowed, because nothing is fetched until a reader follows them.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

from .html_scan import tags

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

FETCHING = ("src", "srcset", "poster", "data", "href", "xlink:href", "action", "style")
# Values of `rel` with which a `<link>` only names a page, so the browser fetches nothing.
PASSIVE_LINKS = {"author", "canonical", "license", "next", "prev", "search"}
REMOTE = re.compile(r"(?:^|[\s,(\"'])((?:https?:)?//[^\s\"')]+)", re.IGNORECASE)


def remote_references(html: str) -> list[str]:
    """Return the addresses on other hosts that the page would fetch.

    Parameters
    ----------
    html : str
        A whole page.

    Returns
    -------
    list of str
        Each as "tag attribute=address".

    Examples
    --------
    >>> remote_references('<a href="https://a.org">A</a><script src="//b.org/c.js"></script>')
    ['script src=//b.org/c.js']
    """
    found = []
    for tag, attributes in tags(html):
        if tag == "a":
            continue
        if tag == "link" and set((attributes.get("rel") or "").split()) <= PASSIVE_LINKS:
            continue
        for name in FETCHING:
            for address in REMOTE.findall(attributes.get(name) or ""):
                found.append(f"{tag} {name}={address}")
    return found


def _check_pages(app: Sphinx, started: float) -> None:
    for page in sorted(Path(app.outdir).rglob("*.html")):
        if page.stat().st_mtime < started:
            continue  # Checked by the earlier build that wrote it.
        for reference in remote_references(page.read_text(encoding="utf-8")):
            logger.warning(
                "%s names another host: %s. Keep a copy below book/assets instead.",
                page.relative_to(app.outdir),
                reference,
                type="offline",
            )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    # Some file systems round modification times to whole seconds.
    started = time.time() - 1

    def check(app: Sphinx, exception: Exception | None) -> None:
        if not exception and app.builder.format == "html":
            _check_pages(app, started)

    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
