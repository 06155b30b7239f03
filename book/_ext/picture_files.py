"""Put the pictures that cells show into files, which a browser loads when a reader comes near.

Cells return HTML that contains its pictures, because a notebook has no place for files. On a page
they would be loaded before the text, all of them, although most are never looked at.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

FOLDER = "_images"
#: Characters below which a picture costs less within the page than as a file.
SMALL = 2000
EMBEDDED = re.compile(rf"data:image/(png|jpeg|webp|gif);base64,([A-Za-z0-9+/=]{{{SMALL},}})")
IMAGE = re.compile(rf'<img (?=[^>]*\bsrc="{EMBEDDED.pattern})(?![^>]*\bloading=)')


def pictures(html: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of the file for each picture that a page contains.

    Examples
    --------
    >>> list(pictures('<img src="data:image/png;base64,AAAA">'))
    []
    >>> [(name, content)] = pictures(f'<img src="data:image/png;base64,{"A" * 2000}">')
    >>> name, len(content)
    ('4aef92218368e0df083c.png', 1500)
    """
    for kind, text in EMBEDDED.findall(html):
        content = base64.b64decode(text)
        yield _name(kind, content), content


def _name(kind: str, content: bytes) -> str:
    return f"{hashlib.sha1(content, usedforsecurity=False).hexdigest()[:20]}.{kind}"


def without_pictures(html: str, folder: str) -> str:
    """Return a page that names the files of its pictures, in `folder`, and loads them when near.

    Examples
    --------
    >>> without_pictures(f'<img alt="A" src="data:image/png;base64,{"A" * 2000}">', "../_images")
    '<img loading="lazy" alt="A" src="../_images/4aef92218368e0df083c.png">'
    """

    def address(match: re.Match[str]) -> str:
        return f"{folder}/{_name(match[1], base64.b64decode(match[2]))}"

    return EMBEDDED.sub(address, IMAGE.sub('<img loading="lazy" ', html))


def _move_pictures(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    body = context.get("body")
    if not body:
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pictures(body):
        (folder / name).write_bytes(content)
    context["body"] = without_pictures(body, context["pathto"](FOLDER, resource=True))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("html-page-context", _move_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
