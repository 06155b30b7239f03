"""Find the tags of a built page."""

from __future__ import annotations

from html.parser import HTMLParser


class _Collector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the name and attributes of every start tag, in order.

    Examples
    --------
    >>> tags('<p><img src="a.png" alt="A"></p>')
    [('p', {}), ('img', {'src': 'a.png', 'alt': 'A'})]
    """
    collector = _Collector()
    collector.feed(html)
    collector.close()
    return collector.tags
