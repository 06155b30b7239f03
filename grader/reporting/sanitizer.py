"""Keep of a page's body what only shows text, tables and pictures.

A learner's Markdown and outputs become HTML. Scripts, event handlers, frames, forms, style
sheets and everything that another host would be asked for is dropped.

Defends against: a text that acts in the browser of whoever reads feedback or, through
`shown_text`, in that of the instructor, whose page of formgrader may run code on the server.
"""

from __future__ import annotations

import html
import re

from bleach import Cleaner
from bleach.css_sanitizer import CSSSanitizer

_TAGS = """
a abbr b blockquote body br caption code dd del details div dl dt em figcaption figure h1 h2 h3 h4
h5 h6 hr i img kbd li main mark ol p pre s samp small span strong sub summary sup table tbody td
tfoot th thead tr u ul var
"""
TAGS = frozenset(_TAGS.split())

#: Attributes of every tag, and of some.
EVERYWHERE = frozenset({"align", "aria-label", "class", "id", "lang", "role", "style", "title"})
OF_TAG = {
    "a": {"href", "name"},
    "details": {"open"},
    "div": {"tabindex"},
    "img": {"alt", "height", "src", "width"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}

#: A link may lead elsewhere, since nothing happens until it is clicked; a picture is in the page.
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*\Z")

STYLES = ("background-color", "color", "font-style", "font-weight", "text-align", "white-space")


#: Tags in tags. Cleaning takes time with the square of this; honest pages have some twenty.
MOST_DEEP = 600

#: A text with more tags in tags is shown as it was typed.
DEEP_FOR_A_TEXT = 50

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_EMPTY_TAGS = "area base br col embed hr img input link meta source track wbr"
_EMPTY = frozenset(_EMPTY_TAGS.split())


class TooDeep(ValueError):
    """Raised for a page with tags in tags beyond all measure."""


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
    """Return the body without anything active.

    Raises
    ------
    TooDeep
        If more than `MOST_DEEP` tags are open at once.

    Examples
    --------
    >>> sanitised('<p onclick="x()">a<script src="//b"></script><img src="http://b/c.png"></p>')
    '<p>a<img></p>'
    """
    if depth(body) > MOST_DEEP:
        raise TooDeep(f"expected at most {MOST_DEEP} tags in tags, found {depth(body)}")
    return _cleaner().clean(_without_scripts(body))


def shown_text(body: str) -> str:
    """Return a cell's Markdown, rendered, without anything active.

    nbgrader_config.py puts it in place of nbconvert's filter ``strip_files_prefix``, through
    which every text cell goes and nothing else does.

    Examples
    --------
    >>> shown_text("<p>a <b>b</b></p><script>c()</script>")
    '<p>a <b>b</b></p>'
    """
    if depth(body) > DEEP_FOR_A_TEXT:
        return html.escape(body)
    return sanitised(body)


def _without_scripts(body: str) -> str:
    """Drop scripts and style sheets with their text, which tells a reader nothing.

    What is left of broken ones is the cleaner's to deal with. One pass, however many there are.
    """
    kept, position, begun = [], 0, None
    for tag in re.finditer(r"<(/?)(script|style)\b", body, re.IGNORECASE):
        if tag.start() < position:
            continue
        closes, name = bool(tag[1]), tag[2].lower()
        if begun is None and not closes:
            begun = (name, tag.start())
        elif begun is not None and closes and name == begun[0]:
            end = body.find(">", tag.end())
            if end < 0:
                break
            kept.append(body[position : begun[1]])
            position, begun = end + 1, None
    return "".join([*kept, body[position:]])


def _cleaner() -> Cleaner:
    return Cleaner(
        tags=TAGS,
        attributes=_is_allowed,
        protocols={"http", "https", "mailto", "data"},
        strip=True,
        strip_comments=True,
        css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES),
    )


def _is_allowed(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return tag == "a" and _LINK.match(value.strip()) is not None
    if name == "src":
        return tag == "img" and _PICTURE.match(value.strip()) is not None
    return name in EVERYWHERE or name in OF_TAG.get(tag, ())
