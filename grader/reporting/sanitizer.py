"""Remove active content from HTML, so that it only shows text, tables and pictures.

A learner's Markdown and outputs become HTML. Scripts, event handlers, frames, forms, style sheets
and everything that a browser would load from another host are removed.

Defends against two attacks. A learner's text could execute code in the browser of a person who
reads feedback, or of an instructor in formgrader, whose page may execute code on the server. And
its markup could pass for a part of the page itself, such as a link of the class ``full-credit``,
and so misuse the page's script or style sheet.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from nh3 import Cleaner
from pygments.token import STANDARD_TYPES

_TAGS = """
a abbr b blockquote br caption code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6
hr i img kbd li main mark ol p pre s samp small span strong sub summary sup table tbody td tfoot th
thead tr u ul var
"""
TAGS = frozenset(_TAGS.split())

#: The attributes allowed in a learner's text, by tag; those of "*" are allowed in every tag.
_OF_A_TEXT = {
    "*": {"align", "aria-label", "class", "lang", "role", "style", "title"},
    "a": {"href"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}

#: The page around learners' texts also needs ids and names, for its links and its style sheet.
_OF_A_PAGE = _OF_A_TEXT | {
    "*": _OF_A_TEXT["*"] | {"id"},
    "a": _OF_A_TEXT["a"] | {"name", "rel"},
    "div": {"tabindex"},
}

_ANSI_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")

#: The classes allowed in a learner's text: those by which nbconvert colours code and terminal
#: output. No element of the page itself has one of them.
CLASSES_OF_A_TEXT = frozenset(
    {
        "highlight",
        "ansi-bold",
        "ansi-underline",
        *(
            f"ansi-{colour}{shade}-{place}"
            for colour in _ANSI_COLOURS
            for shade in ("", "-intense")
            for place in ("fg", "bg")
        ),
        *(f"ansi-default-inverse-{place}" for place in ("fg", "bg")),
        *filter(None, STANDARD_TYPES.values()),
    }
)

#: A link may lead to another host because it does nothing until it is clicked. A picture has to be
#: embedded in the page.
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*\Z")

STYLES = frozenset(
    {"background-color", "color", "font-style", "font-weight", "text-align", "white-space"}
)

#: The maximum depth of nested tags in a page. Ordinary pages have a depth of about twenty.
MAX_DEPTH = 600

#: A learner's text with tags nested deeper than this is shown as its source.
MAX_DEPTH_OF_A_TEXT = 50

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_EMPTY_TAGS = "area base br col embed hr img input link meta source track wbr"
_EMPTY = frozenset(_EMPTY_TAGS.split())

#: Tags that are removed together with the text inside, which is not meant for readers.
_WITHOUT_TEXT = {"script", "style"}
_PARSED = TAGS | _EMPTY | _WITHOUT_TEXT

_START_OF_A_LINK = re.compile(r"<a( [^>]*)>")
_ATTRIBUTE = re.compile(r' ([\w-]+)="([^"]*)"')


class TooDeep(ValueError):
    """Raised when the tags of a page are nested too deeply."""


def depth(clean: str) -> int:
    """Return the maximum number of elements that are open at once in cleaned HTML.

    Parameters
    ----------
    clean : str
        What nh3 returned. It has parsed the text, so each element that it opens is closed again,
        and an attribute contains no ``<``.

    Examples
    --------
    >>> depth('<p title="&lt;b&gt;">a<br></p> <div><b>c</b></div>'), depth("1 &lt; 2")
    (2, 0)
    """
    deepest = now = 0
    for closes, name in _TAG.findall(clean):
        if closes:
            now -= 1
        elif name not in _EMPTY:
            now += 1
            deepest = max(deepest, now)
    return deepest


def sanitised(body: str) -> str:
    """Return a page's body without active content.

    Learners' texts in it must have gone through `shown_text` before, because this function cannot
    tell their ids and classes from those of the page.

    Raises
    ------
    TooDeep
        If more than `MAX_DEPTH` elements are open at once.

    Examples
    --------
    >>> sanitised('<p onclick="x()">a<script src="//b"></script><img src="http://b/c.png"></p>')
    '<p>a<img></p>'
    """
    clean = _clean(_PAGE, body)
    found = depth(clean)
    if found > MAX_DEPTH:
        raise TooDeep(f"expected tags nested at most {MAX_DEPTH} deep, found {found} open at once")
    return clean


def shown_text(body: str) -> str:
    """Return the HTML of a learner's text or output without active content, ids and names.

    `use_judge` replaces two filters of nbconvert by this function: ``strip_files_prefix``,
    which is applied to every text cell, and ``clean_html``, which is applied to outputs.

    Examples
    --------
    >>> shown_text('<p id="a" class="score">a <b>b</b></p><script>c()</script>')
    '<p>a <b>b</b></p>'
    >>> shown_text('<a href="https://example.org">b</a>')
    '<a href="https://example.org" rel="noopener noreferrer">b</a>'
    """
    clean = _clean(_TEXT, body)
    return clean if depth(clean) <= MAX_DEPTH_OF_A_TEXT else html.escape(body)


def shown_text_without_links(body: str) -> str:
    """Return the HTML as `shown_text` does, with each link's address as its title.

    Formgrader shows learners' texts on a page that acts with the rights of the instructor, on a
    server where a mere click on a link to some addresses has effects.

    Examples
    --------
    >>> shown_text_without_links('<a href="https://example.org">b</a>')
    '<a title="https://example.org">b</a>'
    """
    return _START_OF_A_LINK.sub(_with_its_address, shown_text(body))


def _with_its_address(tag: re.Match[str]) -> str:
    found = dict(_ATTRIBUTE.findall(tag[1]))
    if "href" in found:
        found["title"] = found.pop("href")
    found.pop("rel", None)
    return "".join(["<a", *(f' {name}="{value}"' for name, value in found.items()), ">"])


def _clean(cleaner: Cleaner, body: str) -> str:
    """Clean the body, and keep the text inside the tags that are removed.

    nh3 removes the text inside tags of SVG and MathML: from "the <mask> is added", everything
    after "the". It keeps the text inside unknown tags, so all disallowed tags are renamed first.
    """
    return cleaner.clean(_TAG.sub(_renamed, body))


def _renamed(tag: re.Match[str]) -> str:
    closes, name = tag.groups()
    return tag[0] if name.lower() in _PARSED else f"<{closes}unknown-{name}"


def _cleaner(
    attributes: dict[str, set[str]],
    attribute_filter: Callable[[str, str, str], str | None],
    link_rel: str | None,
) -> Cleaner:
    return Cleaner(
        tags=TAGS,
        clean_content_tags=_WITHOUT_TEXT,
        attributes=attributes,
        attribute_filter=attribute_filter,
        filter_style_properties=STYLES,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel=link_rel,
    )


def _address(_: str, name: str, value: str) -> str | None:
    """Return an attribute's value, or None to remove it because it is a disallowed address."""
    if name == "href":
        return value if _LINK.match(value.strip()) else None
    if name == "src":
        return value if _PICTURE.match(value.strip()) else None
    return value


def _address_or_class(tag: str, name: str, value: str) -> str | None:
    """Return an attribute's value without disallowed classes, or None to remove it."""
    if name == "class":
        return " ".join(each for each in value.split() if each in CLASSES_OF_A_TEXT) or None
    return _address(tag, name, value)


_PAGE = _cleaner(_OF_A_PAGE, _address, link_rel=None)
_TEXT = _cleaner(_OF_A_TEXT, _address_or_class, link_rel="noopener noreferrer")
