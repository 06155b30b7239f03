"""What search engines and messengers read of a page, and the pages that stand for the whole site.

Every page has a description: that in the configuration value ``page_descriptions``, or else how its
text begins. The first page also stands at the root, so that the site's address alone shows it. Once
``html_baseurl`` has that address, pages name their own addresses and a picture, and there is a site
map.
"""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.util import logging

from ..reading_time import states_time
from .search_index import text_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

#: Search engines cut a description after about this many characters.
MAX_DESCRIPTION = 160
PICTURE = "_static/course.png"
#: Width and height of the picture, in pixels, as messengers show it.
PICTURE_SIZE = 1200, 630
VIEWPORT = re.compile(r'<meta[^>]*name="viewport"[^>]*>')
ADDRESS = re.compile(r'\b(href|src|action)="([^"]*)"')


def moved_to_root(html: str, folder: str) -> str:
    """Return a page of a folder as it has to be to stand in the folder's parent.

    Examples
    --------
    >>> moved_to_root('<a href="masking.html#mask">', "book")
    '<a href="book/masking.html#mask">'
    >>> moved_to_root('<img src="../_static/a.png"><a href="#top"><a href="//a.org/">', "book")
    '<img src="_static/a.png"><a href="#top"><a href="//a.org/">'
    """

    def moved(attribute: re.Match[str]) -> str:
        name, address = attribute.groups()
        if not address or address.startswith(("#", "/")) or urlsplit(address).scheme:
            return attribute[0]
        path = re.split(r"[?#]", address, maxsplit=1)[0]
        moved_path = posixpath.normpath(posixpath.join(folder, path))
        return f'{name}="{moved_path}{address.removeprefix(path)}"'

    return ADDRESS.sub(moved, html.replace('data-content_root="../"', 'data-content_root="./"', 1))


def beginning(doctree: nodes.document) -> str:
    """Return how the text of a page begins, as much as a description may have."""
    paragraphs = (
        text_of(node) for node in doctree.findall(nodes.paragraph) if not states_time(node)
    )
    text = next(filter(None, paragraphs), "")
    return textwrap.shorten(text, MAX_DESCRIPTION, placeholder=" …")


def metatags(properties: dict[str, str]) -> str:
    """Return the elements of a page's head for names and their contents.

    Examples
    --------
    >>> metatags({"description": 'It says "no".', "og:type": "article"}).splitlines()
    ['<meta name="description" content="It says &quot;no&quot;.">', \
'<meta property="og:type" content="article">']
    """
    return "\n".join(
        f'<meta {"property" if ":" in name else "name"}="{name}" content="{escape(content)}">'
        for name, content in properties.items()
    )


def _describe(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if app.builder.name != "html" or doctree is None:
        return
    description = app.config.page_descriptions.get(page) or beginning(doctree)
    if len(description) > MAX_DESCRIPTION:
        logger.warning(
            "page_descriptions: expected at most %d characters, got %d",
            MAX_DESCRIPTION,
            len(description),
            location=page,
            type="page_metadata",
        )
    title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
    properties = {
        "description": description,
        "og:title": title,
        "og:description": description,
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": context["docstitle"],
    }
    site = app.config.html_baseurl
    if site:
        width, height = map(str, PICTURE_SIZE)
        properties |= {
            "og:url": urljoin(site, f"{page}.html"),
            "og:image": urljoin(site, PICTURE),
            "og:image:width": width,
            "og:image:height": height,
            "og:image:alt": context["docstitle"],
            "twitter:card": "summary_large_image",
        }
    # The layout names the viewport already.
    others = VIEWPORT.sub("", context.get("metatags") or "")
    context["metatags"] = f"{others}\n{metatags(properties)}\n"


def _lost_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    if app.builder.name == "html":
        # A server shows this page at any address, so its links have to begin at the site's own.
        base = urlsplit(app.config.html_baseurl).path or "/"
        yield "404", {"title": "There is no such page", "base": base}, "404.html"


def _finish(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    folder = posixpath.dirname(app.config.root_doc)
    first = out / f"{app.config.root_doc}.html"
    if folder:
        html = moved_to_root(first.read_text(encoding="utf-8"), folder)
        (out / "index.html").write_text(html, encoding="utf-8")
    site = app.config.html_baseurl
    if not site:
        return
    addresses = "".join(
        f"<url><loc>{escape(urljoin(site, f'{page}.html'))}</loc></url>\n"
        for page in sorted(app.env.found_docs)
    )
    (out / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{addresses}</urlset>\n',
        encoding="utf-8",
    )
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {urljoin(site, 'sitemap.xml')}\n", encoding="utf-8"
    )
    picture = out / PICTURE
    if not picture.is_file():
        from .course_picture import draw

        picture.write_bytes(draw(*PICTURE_SIZE))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("page_descriptions", {}, "html")
    app.connect("html-page-context", _describe)
    app.connect("html-collect-pages", _lost_page)
    # After everything else that changes finished pages.
    app.connect("build-finished", _finish, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
