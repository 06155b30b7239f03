"""Keep of HTML what only shows text, tables and pictures.

A learner's Markdown and outputs become HTML. Scripts, event handlers, frames, forms, style
sheets and everything that another host would be asked for is dropped.

Defends against: a text that acts in the browser of whoever reads feedback or, through
`shown_text`, in that of the instructor, whose page of formgrader may run code on the server;
and markup that a page's own script or style sheet would take for the page's, such as a link of
the class ``full-credit``.
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

#: Attributes of every tag ("*") and of some, in a learner's text.
_OF_A_TEXT = {
    "*": {"align", "aria-label", "class", "lang", "role", "style", "title"},
    "a": {"href"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}

#: The page around learners' texts also has names, for its links and its style sheet.
_OF_A_PAGE = _OF_A_TEXT | {
    "*": _OF_A_TEXT["*"] | {"id"},
    "a": _OF_A_TEXT["a"] | {"name", "rel"},
    "div": {"tabindex"},
}

_ANSI_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")

#: The classes that a learner's text may have: those by which nbconvert colours code and terminal
#: output. No other element of a page has them.
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

#: A link may lead elsewhere, since nothing happens until it is clicked; a picture is in the page.
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*\Z")

STYLES = frozenset(
    {"background-color", "color", "font-style", "font-weight", "text-align", "white-space"}
)

#: The most tags inside each other in a page. Honest pages have some twenty.
MAX_DEPTH = 600

#: A text with more tags inside each other is shown as it was typed.
MAX_DEPTH_OF_A_TEXT = 50

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_EMPTY_TAGS = "area base br col embed hr img input link meta source track wbr"
_EMPTY = frozenset(_EMPTY_TAGS.split())

#: Their text goes with them: it tells a reader nothing.
_WITHOUT_TEXT = {"script", "style"}
_PARSED = TAGS | _EMPTY | _WITHOUT_TEXT


class TooDeep(ValueError):
    """Raised for a page with too many tags inside each other."""


def depth(text: str) -> int:
    """Return how many tags are open at once, as far as counting tells.

    Examples
    --------
    >>> depth("<p>a<br></p> <div><b>c</b></div>"), depth("1 < 2")
    (2, 0)
    """
    most = now = 0
    for closes, name in _TAG.findall(text):
        if closes:
            now = max(0, now - 1)
        elif name.lower() not in _EMPTY:
            now += 1
            most = max(most, now)
    return most


def sanitised(body: str) -> str:
    """Return a page's body without anything active.

    Learners' texts in it have gone through `shown_text` before: here nobody can tell their names
    from the page's.

    Raises
    ------
    TooDeep
        If more than `MAX_DEPTH` tags are open at once.

    Examples
    --------
    >>> sanitised('<p onclick="x()">a<script src="//b"></script><img src="http://b/c.png"></p>')
    '<p>a<img></p>'
    """
    found = depth(body)
    if found > MAX_DEPTH:
        raise TooDeep(f"expected at most {MAX_DEPTH} tags in tags, found {found}")
    return _clean(_PAGE, body)


def shown_text(body: str) -> str:
    """Return what a learner wrote or put out as HTML, without anything active and without names.

    nbgrader_config.py puts it in place of two of nbconvert's filters: ``strip_files_prefix``,
    through which every text cell goes, and ``clean_html``, through which outputs go.

    Examples
    --------
    >>> shown_text('<p id="a" class="score">a <b>b</b></p><script>c()</script>')
    '<p>a <b>b</b></p>'
    >>> shown_text('<a href="https://example.org">b</a>')
    '<a href="https://example.org" rel="noopener noreferrer">b</a>'
    """
    if depth(body) > MAX_DEPTH_OF_A_TEXT:
        return html.escape(body)
    return _clean(_TEXT, body)


def _clean(cleaner: Cleaner, body: str) -> str:
    """Return the body as a cleaner leaves it, with the text of tags that it does not keep.

    nh3 drops what stands in tags of SVG and MathML: of "the <mask> is added", all from there on.
    Of tags with names that nobody knows it keeps the text.
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
    """Return an attribute's value, or None where it is an address that must not be there."""
    if name == "href":
        return value if _LINK.match(value.strip()) else None
    if name == "src":
        return value if _PICTURE.match(value.strip()) else None
    return value


def _address_or_class(tag: str, name: str, value: str) -> str | None:
    """Return an attribute's value, a class only if a text may have it."""
    if name == "class":
        return " ".join(each for each in value.split() if each in CLASSES_OF_A_TEXT) or None
    return _address(tag, name, value)


_PAGE = _cleaner(_OF_A_PAGE, _address, link_rel=None)
_TEXT = _cleaner(_OF_A_TEXT, _address_or_class, link_rel="noopener noreferrer")
