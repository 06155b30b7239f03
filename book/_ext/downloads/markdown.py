"""Write a page's text as the Markdown that Jupyter shows.

It is written from the page as Sphinx has resolved it: computed numbers stand in their sentences,
and citations, terms and links have their texts. Links to other pages need the site's address;
without one, they are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx_design.dropdown import dropdown_main

from ..quiz import quiz, quiz_explanation, quiz_explanations, quiz_option, quiz_question

#: What Markdown or Jupyter would read as more than a character.
SPECIAL = re.compile(r"[\\*`$<]|(?<!\w)_|_(?!\w)")


class NotShown(ValueError):
    """Raised if a page has something that notebooks cannot show."""


class Markdown:
    """Writes parts of one page.

    Parameters
    ----------
    document : docutils.nodes.document
        The resolved page.
    page_address : str
        The page's address on the site, empty if the site has none.
    """

    def __init__(self, document: nodes.document, page_address: str) -> None:
        self._titles = {
            anchor: section.next_node(nodes.title).astext()
            for section in document.findall(nodes.section)
            for anchor in section["ids"]
        }
        self._page_address = page_address

    def blocks(self, node: nodes.Node, level: int = 1) -> Iterator[str]:
        """Yield the Markdown of a block: usually one, between empty lines.

        Raises
        ------
        NotShown
            If there is no way to write it.
        """
        match node:
            case nodes.title():
                yield f"{'#' * level} {self.inline(node)}"
            case nodes.rubric():
                yield f"**{self.inline(node)}**"
            case nodes.paragraph():
                if text := self.inline(node):
                    yield text
            case nodes.math_block():
                yield f"$$\n{_aligned(node.astext().strip())}\n$$"
            case nodes.literal_block():
                language = node.get("language", "")
                yield f"```{'' if language == 'default' else language}\n{node.astext()}\n```"
            case nodes.comment() | nodes.target() | nodes.substitution_definition():
                return
            case _:
                yield from self._compound(node)

    def _compound(self, node: nodes.Node) -> Iterator[str]:
        """Yield the Markdown of a block that contains others."""
        match node:
            case nodes.bullet_list():
                yield self._list(node, lambda number: "- ")
            case nodes.enumerated_list():
                start = node.get("start", 1)
                yield self._list(node, lambda number: f"{start + number}. ")
            case nodes.block_quote():
                yield _prefixed("> ", self._all(node))
            case nodes.Admonition():
                yield _prefixed("> ", self._admonition(node))
            case nodes.table():
                yield self._table(node)
            case dropdown_main():
                title, *content = node.children
                yield from _fold(title.astext(), self._each(content))
            case quiz():
                yield from self._quiz(node)
            case nodes.compound() | nodes.container():
                yield from self._each(node.children)
            case _:
                raise NotShown(f"a notebook cannot show {type(node).__name__}: {node.astext()!r}")

    def inline(self, node: nodes.Node) -> str:
        """Return the Markdown of a line's content, or of a part of it."""
        return "".join(self._piece(child) for child in node.children).strip("\n")

    def _piece(self, node: nodes.Node) -> str:
        match node:
            case nodes.Text():
                return SPECIAL.sub(r"\\\g<0>", node.astext()).replace("\n", " ")
            case nodes.math():
                return f"${node.astext()}$"
            case nodes.literal():
                return _code(node.astext())
            case nodes.emphasis():
                return f"*{self.inline(node)}*"
            case nodes.strong():
                return f"**{self.inline(node)}**"
            case nodes.reference():
                return self._link(node)
            case nodes.raw() | nodes.target():
                return ""
            case nodes.inline() | nodes.paragraph():
                return self.inline(node)
        raise NotShown(f"a notebook cannot show {type(node).__name__}: {node.astext()!r}")

    def _link(self, node: nodes.reference) -> str:
        text, address = self.inline(node), node.get("refuri", "")
        if anchor := node.get("refid") or (address.startswith("#") and address[1:]):
            # Jupyter makes a heading's anchor from its text.
            title = self._titles.get(str(anchor))
            return f"[{text}](#{title.replace(' ', '-')})" if title else text
        if urlsplit(address).scheme:
            return f"[{text}]({address})"
        return f"[{text}]({urljoin(self._page_address, address)})" if self._page_address else text

    def _each(self, children: list[nodes.Node]) -> Iterator[str]:
        for child in children:
            yield from self.blocks(child)

    def _all(self, node: nodes.Element) -> str:
        return "\n\n".join(self._each(node.children))

    def _list(self, node: nodes.Element, marker: Callable[[int], str]) -> str:
        items = []
        for number, item in enumerate(node.children):
            mark = marker(number)
            text = self._all(item) if isinstance(item, nodes.Element) else ""
            items.append(mark + _prefixed(" " * len(mark), text).lstrip())
        return "\n".join(items)

    def _admonition(self, node: nodes.Element) -> str:
        title, *content = node.children
        return "\n\n".join([f"**{self.inline(title)}**", *self._each(content)])

    def _table(self, node: nodes.table) -> str:
        rows = [list(row.findall(nodes.entry)) for row in node.findall(nodes.row)]
        lines = ["| " + " | ".join(self._cell(entry) for entry in row) + " |" for row in rows]
        rules = ["---:" if "text-right" in entry.get("classes", []) else "---" for entry in rows[0]]
        return "\n".join([lines[0], f"| {' | '.join(rules)} |", *lines[1:]])

    def _cell(self, entry: nodes.entry) -> str:
        return self.inline(entry).replace("|", "\\|")

    def _quiz(self, node: quiz) -> Iterator[str]:
        options = []
        for part in node.children:
            match part:
                case quiz_question():
                    yield f"**Question.** {self.inline(part)}"
                case quiz_option():
                    options.append(f"- **{part['letter']}.** {self.inline(part)}")
                case quiz_explanations():
                    yield "\n".join(options)
                    answers = part.children
                    yield from _fold("Answer and explanations", self._explanations(answers))
                case _:
                    yield from self.blocks(part)

    def _explanations(self, answers: list[nodes.Node]) -> Iterator[str]:
        for answer in answers:
            assert isinstance(answer, quiz_explanation)
            verdict = "Right." if answer["right"] else "Not quite."
            first, *others = self._each(answer.children)
            yield f"**{answer['letter']}: {verdict}** {first}"
            yield from others


def _fold(title: str, content: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{title}</summary>"
    yield from content
    yield "</details>"


def _prefixed(prefix: str, text: str) -> str:
    return "\n".join((prefix + line).rstrip() for line in text.split("\n"))


def _code(text: str) -> str:
    """Return text as code; with backticks in it, between two of them.

    Examples
    --------
    >>> print(_code("q @ k.T"), _code("a `b`"))
    `q @ k.T` `` a `b` ``
    """
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _aligned(tex: str) -> str:
    r"""Return a formula with an environment for its line breaks, which Sphinx adds by itself.

    Examples
    --------
    >>> _aligned(r"a \\ b")
    '\\begin{aligned}\na \\\\ b\n\\end{aligned}'
    """
    if r"\\" not in tex or tex.startswith(r"\begin"):
        return tex
    return f"\\begin{{aligned}}\n{tex}\n\\end{{aligned}}"


def address_of(site: str, document: str) -> str:
    """Return the address of a page on the site, or an empty one if the site has none.

    Examples
    --------
    >>> address_of("https://ada.github.io/course/", "book/masking"), address_of("", "book/masking")
    ('https://ada.github.io/course/book/masking.html', '')
    """
    return urljoin(f"{site.rstrip('/')}/", str(PurePosixPath(f"{document}.html"))) if site else ""
