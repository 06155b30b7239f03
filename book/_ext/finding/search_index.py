"""The book's own search: an index of its sections, and the page that searches it.

Sphinx's index knows pages, not sections, and its summaries need a server. Here each page that is
written leaves its sections beside the doctrees, and at the end all are joined into one script,
``_static/search-index.js``, which search.js loads once a reader searches.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

from ..quiz import quiz_explanations
from ..reading_time import states_time

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

# Nodes whose text is not searched. An explanation in a summary would give a quiz away.
UNSEARCHED = (
    nodes.comment, nodes.math_block, nodes.raw, addnodes.index, addnodes.desc, addnodes.glossary,
    nodes.label, quiz_explanations,
)  # fmt: skip
# What the reference describes. Attributes stand in the descriptions of their classes.
DESCRIBED = ("function", "class", "exception", "method", "data")
SIGNS = {
    "top": "ᵀ", "cdot": "·", "times": "×", "infty": "∞", "sum": "Σ", "in": "∈", "le": "≤",
    "ge": "≥", "ne": "≠", "approx": "≈", "pm": "±", "to": "→", "ldots": "…", "partial": "∂",
}  # fmt: skip

Section = tuple[str, str, str, bool]  #: anchor, heading, text, and whether it is a mere entry


def plain_formula(tex: str) -> str:
    r"""Return a formula as one would type it into a search field.

    Examples
    --------
    >>> plain_formula(r"\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V")
    'softmax(QKᵀ/√d_k) V'
    >>> plain_formula(r"\frac{1}{n} \le \sigma^2")
    '1/n ≤ σ^2'
    """
    text = re.sub(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", tex)
    text = text.replace(r"\sqrt", "√").replace(r"^\top", r"\top")

    def sign(command: re.Match[str]) -> str:
        name = command[1]
        try:
            return SIGNS.get(name) or unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}")
        except KeyError:
            return ""

    text = re.sub(r"\\([A-Za-z]+)", sign, text)
    text = re.sub(r"\\[,;: !]", " ", text)
    return " ".join(re.sub(r"[{}\\&]", "", text).split())


def text_of(node: nodes.Node) -> str:
    """Return what is searched in a node: its own text, without code cells and inner sections."""
    return " ".join("".join(_texts(node)).split())


def _is_unsearched(node: nodes.Node) -> bool:
    return states_time(node) or isinstance(node, (nodes.section, nodes.title, *UNSEARCHED))


def _texts(node: nodes.Node) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif isinstance(child, nodes.math):
            yield plain_formula(child.astext())
        elif _is_unsearched(child):
            continue
        elif isinstance(child, nodes.container) and child.get("nb_element") == "cell_code":
            yield from _said(child)
        else:
            yield from _texts(child)
            if not isinstance(child, nodes.Inline):
                yield " "


def _said(cell: nodes.container) -> Iterator[str]:
    """Yield what a cell says in sentences, and neither its tables nor the exhibits in it."""
    for paragraph in cell.findall(nodes.paragraph):
        before = paragraph.parent.children[: paragraph.parent.index(paragraph)]
        in_table = isinstance(paragraph.parent, nodes.entry)
        if not in_table and not any(isinstance(other, nodes.rubric) for other in before):
            yield from _texts(paragraph)
            yield " "


def _exhibit(rubric: nodes.rubric) -> Section:
    """Return an exhibit of the museum: its name, and the sentence below that says what is wrong."""
    sentence = rubric.next_node(nodes.paragraph, descend=False, siblings=True)
    return rubric["ids"][0], text_of(rubric), text_of(sentence) if sentence else "", True


def _summary(description: nodes.Element) -> str:
    """Return the first sentences of a function's description."""
    paragraph = description.next_node(nodes.paragraph)
    return text_of(paragraph) if paragraph else ""


def sections(doctree: nodes.document) -> list[Section]:
    """Return the sections of a page, its terms, functions and exhibits, in the order of the page.

    The first section is the page itself; its anchor is empty.
    """
    found: list[Section] = []
    for node in doctree.findall(nodes.Element):
        if isinstance(node, nodes.section):
            anchor = node["ids"][0] if found else ""
            found.append((anchor, " ".join("".join(_texts(node[0])).split()), text_of(node), False))
        elif isinstance(node, nodes.definition_list_item) and isinstance(
            node.parent.parent, addnodes.glossary
        ):
            for term in node.findall(nodes.term):
                found.append((term["ids"][0], text_of(term), text_of(node[-1]), True))
        elif isinstance(node, nodes.rubric) and node["ids"]:
            found.append(_exhibit(node))
        elif isinstance(node, addnodes.desc) and node["objtype"] in DESCRIBED and node[0]["ids"]:
            name = node[0].next_node(addnodes.desc_name)
            if name:
                found.append((node[0]["ids"][0], name.astext(), _summary(node[-1]), True))
    return found


def _store(app: Sphinx) -> Path:
    return Path(app.doctreedir) / "search-sections"


def _keep_page(
    app: Sphinx,
    page: str,
    template: str,
    context: Mapping[str, Any],
    doctree: nodes.document | None,
) -> None:
    if app.builder.name != "html" or doctree is None:
        return
    file = _store(app) / f"{page}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    chapter = page in app.config.reading_time_pages
    content = {"page": page, "chapter": chapter, "sections": sections(doctree)}
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _write_index(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    files = (_store(app) / f"{page}.json" for page in sorted(app.env.found_docs))
    pages = ",\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
    script = Path(app.outdir) / "_static" / "search-index.js"
    script.write_text(f'"use strict";\n\nconst searchIndex = [\n{pages}\n];\n', encoding="utf-8")


def _replace_search(app: Sphinx) -> None:
    """Keep Sphinx from making its own index and page."""
    if app.builder.name == "html":
        app.builder.search = False  # type: ignore[attr-defined]


def _search_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    if app.builder.name == "html":
        yield "search", {"title": "Search"}, "search.html"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("builder-inited", _replace_search)
    app.connect("html-page-context", _keep_page)
    app.connect("html-collect-pages", _search_page)
    app.connect("build-finished", _write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
