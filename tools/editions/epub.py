"""Make an EPUB of the whole course, with formulas as MathML and pictures as PNG.

It follows EPUB 3.3 (https://www.w3.org/TR/epub-33/): a chapter for each page, a package document
that lists all files, and a navigation document.
"""

from __future__ import annotations

import base64
import hashlib
import html as markup
import io
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

from PIL import Image

from tools.editions.pages import PAGES, Course, EditionError, Page, links, text_of
from tools.editions.texts import Texts

ROOT = Path(__file__).resolve().parents[2]
STYLES = Path(__file__).parent / "styles"
DATA_ADDRESS = "data:"
#: The date in the file, as in the learners' archive: the same contents give the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)
MODIFIED = "1980-01-01T00:00:00Z"

CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
"""

XHTML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" \
lang="en" xml:lang="en">
<head><meta charset="utf-8"/><title>{title}</title>
<link rel="stylesheet" type="text/css" href="course.css"/></head>
<body>{body}</body>
</html>
"""

PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:language>en</dc:language>
<dc:creator>{author}</dc:creator>
<dc:rights>© {copyright}</dc:rights>
<meta property="dcterms:modified">{modified}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>
{items}
</manifest>
<spine>
{spine}
</spine>
</package>
"""


@dataclass(frozen=True)
class Item:
    """A file of the EPUB, as its package document lists it."""

    name: str
    content: bytes
    kind: str  #: its media type
    properties: str = ""


def items(course: Course, html: Path, texts: Texts) -> list[Item]:
    """Return all files that the package document lists: navigation, chapters, style, pictures.

    Parameters
    ----------
    course : Course
        Its links and the addresses of its pictures are rewritten.
    html : Path
        The folder with the built book, for pictures.
    texts : Texts
        What stands on the title page.

    Raises
    ------
    EditionError
        If a link leads nowhere, or a picture is missing.
    """
    pages = course.pages
    pictures: dict[str, bytes] = {}
    anchors = {
        page.name: {text_of(e, "id") for e in page.article.find_all(id=True)} for page in pages
    }
    for page in pages:
        _point_links_at_chapters(page, anchors)
        for image in page.article.find_all("img"):
            content = _as_png(_read_picture(text_of(image, "src"), html / PAGES))
            name = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}.png"
            pictures[name] = content
            image["src"] = name
    return [
        Item("navigation.xhtml", _navigation(pages), "application/xhtml+xml", "nav"),
        Item("title.xhtml", _title_page(texts), "application/xhtml+xml"),
        *(_chapter(course, page) for page in pages),
        Item("course.css", _style().encode(), "text/css"),
        *(Item(name, content, "image/png") for name, content in sorted(pictures.items())),
    ]


def _point_links_at_chapters(page: Page, anchors: dict[str, set[str]]) -> None:
    for link, name, anchor in links(page):
        if name not in anchors or (anchor and anchor not in anchors[name]):
            raise EditionError(
                f"expected a link on the page {page.name} to lead into the book, "
                f"got {link['href']}, which is not there. Build the book anew: make book"
            )
        link["href"] = f"{name}.xhtml" + (f"#{anchor}" if anchor else "")


def _read_picture(address: str, folder: Path) -> bytes:
    if address.startswith(DATA_ADDRESS):
        return base64.b64decode(address.partition("base64,")[2])
    path = folder / unquote(address)
    if not path.is_file():
        raise EditionError(f"expected the picture {path}, found none. Run `make book`.")
    return path.read_bytes()


def _as_png(picture: bytes) -> bytes:
    """Return the picture as PNG, which e-book readers show that know no WebP."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as opened:
        opened.convert("RGB").quantize(256).save(file, "png", optimize=True)
    return file.getvalue()


def _chapter(course: Course, page: Page) -> Item:
    body = course.content(page, lambda formula: formula.mathml)
    text = XHTML.format(title=markup.escape(page.title), body=body)
    properties = "mathml" if "<math" in body else ""
    return Item(f"{page.name}.xhtml", text.encode(), "application/xhtml+xml", properties)


def _title_page(texts: Texts) -> bytes:
    lines = "".join(f"<p>{markup.escape(line)}</p>" for line in texts.lines)
    title = markup.escape(texts.title)
    return XHTML.format(title=title, body=f"<h1>{title}</h1>{lines}").encode()


def _navigation(pages: list[Page]) -> bytes:
    entries = "".join(_entries(pages))
    nav = f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{entries}</ol></nav>'
    return XHTML.format(title="Contents", body=nav).encode()


def _entries(pages: list[Page]) -> Iterator[str]:
    for part, group in groupby(pages, key=lambda page: page.part):
        chapters = "".join(
            f'<li><a href="{page.name}.xhtml">{markup.escape(page.title)}</a></li>'
            for page in group
        )
        yield (
            f"<li><span>{markup.escape(part)}</span><ol>{chapters}</ol></li>" if part else chapters
        )


def _style() -> str:
    paths = (STYLES / "text.css", STYLES / "ebook.css", ROOT / "book" / "assets" / "museum.css")
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def package(files: list[Item], texts: Texts) -> str:
    """Return the package document, which lists all files and the order of the chapters."""
    chapters = [file.name for file in files if file.kind == "application/xhtml+xml"]
    chapters.remove("navigation.xhtml")
    chapters.insert(1, "navigation.xhtml")  # after the title page
    listed = "\n".join(
        f'<item id="{_id(file.name)}" href="{file.name}" media-type="{file.kind}"'
        + (f' properties="{file.properties}"' if file.properties else "")
        + "/>"
        for file in files
    )
    contents = hashlib.sha256(b"".join(file.content for file in files)).hexdigest()
    return PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_OID, contents).urn,
        title=markup.escape(texts.title),
        author=markup.escape(texts.author),
        copyright=markup.escape(texts.copyright),
        modified=MODIFIED,
        items=listed,
        spine="\n".join(f'<itemref idref="{_id(name)}"/>' for name in chapters),
    )


def _id(name: str) -> str:
    return name.replace("/", "-").replace(".", "-")


def write_course(course: Course, html: Path, texts: Texts, into: Path) -> str:
    """Write the EPUB of a course and return how long it is, in words.

    The same contents give the same bytes. Parameters and errors are those of `items`; `into` is the
    file to write.
    """
    files = items(course, html, texts)
    into.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(into, "w") as archive:
        # The first entry, not compressed, by which readers recognise the format.
        archive.writestr(zipfile.ZipInfo("mimetype", DATE), "application/epub+zip")
        contents = {"META-INF/container.xml": CONTAINER.encode()}
        contents["EPUB/package.opf"] = package(files, texts).encode()
        contents |= {f"EPUB/{file.name}": file.content for file in files}
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return f"{len(course.pages)} chapters"
