"""Write each chapter as a notebook beside its page, and link it under the chapter's title.

The configuration value ``notebook_pages`` lists the chapters. In Jupyter their figures move with
sliders that need a kernel. Code that only computes numbers for the text is left out: they stand in
the text already.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING, Any

import nbformat
from docutils import nodes
from myst_nb.core.read import create_nb_reader
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.util import logging

from ..reading_time import states_time
from .markdown import Markdown, NotShown, address_of

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

REMOVED = {"remove-cell", "remove_cell"}
HIDDEN = {"hide-input", "hide_input", "remove-input", "remove_input"}
CLASS = "downloads"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
HOW = (
    "> This is a chapter as a notebook. Choose *Run*, *Run All Cells*: then its figures have "
    "sliders that move. It needs what the exercises need: `attn_lib`, from the course, with its "
    "extra `exercises`."
)


def without_glue(source: str, gluing: set[str]) -> str:
    r"""Return code without the statements that only hand numbers to the text.

    Parameters
    ----------
    source : str
        The code of a cell.
    gluing : set of str
        The functions that do so, of this cell and those before it; changed where one is defined.

    Raises
    ------
    NotShown
        If something else is done with such a function.

    Examples
    --------
    >>> cell = "from myst_nb import glue\na = 1\nfor i in (a,):\n    glue('a', i)"
    >>> print(without_glue(cell, {"glue"}))
    a = 1
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return source
    gone = [
        line
        for statement in _glue_alone(tree.body, gluing)
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    ]
    lines = [line for number, line in enumerate(source.splitlines(), 1) if number not in gone]
    left = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n")
    parts = list(ast.walk(ast.parse(left)))
    named = {part.id for part in parts if isinstance(part, ast.Name)}
    if used := named & gluing - {part.arg for part in parts if isinstance(part, ast.arg)}:
        raise NotShown(
            f"a cell does more than hand numbers to the text with {', '.join(sorted(used))}; "
            f"write two statements:\n{source}"
        )
    return left


def _glue_alone(body: list[ast.stmt], gluing: set[str]) -> Iterator[ast.stmt]:
    """Yield the statements that do nothing but glue, also those inside of loops."""
    for statement in body:
        if _only_glues(statement, gluing):
            yield statement
            if isinstance(statement, ast.FunctionDef):
                gluing.add(statement.name)
        elif isinstance(statement, ast.For | ast.With | ast.If):
            yield from _glue_alone(statement.body, gluing)


def _only_glues(statement: ast.stmt, gluing: set[str]) -> bool:
    match statement:
        case ast.ImportFrom(module="myst_nb"):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in gluing
        case ast.FunctionDef(body=[ast.Expr(value=ast.Constant()), *body] | body) if body:
            return all(_only_glues(inner, gluing) for inner in body)
        case ast.For(body=body, orelse=[]) | ast.With(body=body) | ast.If(body=body, orelse=[]):
            return all(_only_glues(inner, gluing) for inner in body)
    return False


def to_notebook(
    document: nodes.document, source: NotebookNode, page_address: str = ""
) -> NotebookNode:
    """Return a page as a notebook.

    Parameters
    ----------
    document : docutils.nodes.document
        The page as Sphinx has resolved it, for its text.
    source : NotebookNode
        The page as it was written, for its code.
    page_address : str
        The page's address on the site, empty if the site has none.

    Raises
    ------
    NotShown
        If the page has something that notebooks cannot show, or other cells than its source.
    """
    markdown = Markdown(document, page_address)
    code = iter([cell for cell in source.cells if cell.cell_type == "code"])
    gluing = {"glue"}
    cells: list[NotebookNode] = []
    text: list[str] = []

    def end_text() -> None:
        if text:
            cells.append(new_markdown_cell("\n\n".join(text)))
            text.clear()

    def walk(node: nodes.Element, level: int) -> None:
        for child in node.children:
            if isinstance(child, nodes.section):
                end_text()
                walk(child, level + 1)
            elif isinstance(child, nodes.container) and child.get("nb_element") == "cell_code":
                end_text()
                cells.extend(_next_cells(code, gluing))
            elif not {CLASS, "reading-time"} & set(
                getattr(child, "attributes", {}).get("classes", [])
            ):
                text.extend(markdown.blocks(child, level))

    walk(document, 0)
    end_text()
    if any(_is_shown(cell) for cell in code):
        raise NotShown("expected every code cell of the source on the page, found fewer")
    cells[0].source += f"\n\n{HOW}"
    for number, cell in enumerate(cells, 1):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def _next_cells(code: Iterator[NotebookNode], gluing: set[str]) -> Iterator[NotebookNode]:
    """Yield the next cell that the page shows, after those before it that it does not show."""
    for cell in code:
        if content := without_glue(cell.source, gluing):
            hidden = not HIDDEN.isdisjoint(_tags(cell)) or not _is_shown(cell)
            metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
            yield new_code_cell(content, metadata=metadata)
        if _is_shown(cell):
            return


def _is_shown(cell: NotebookNode) -> bool:
    return REMOVED.isdisjoint(_tags(cell))


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def _read_source(app: Sphinx, document: str) -> NotebookNode:
    path = Path(app.env.doc2path(document))
    text = path.read_text(encoding="utf-8")
    config: Any = app.env
    reader = create_nb_reader(str(path), config.myst_config, config.mystnb_config, text)
    if reader is None:
        raise NotShown("expected code cells on the page, found none")
    return reader.read(text)


def _write_notebook(app: Sphinx, doctree: nodes.document, document: str) -> None:
    if app.builder.name != "html" or document not in app.config.notebook_pages:
        return
    path = Path(app.outdir) / f"{document}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        address = address_of(app.config.html_baseurl, document)
        notebook = to_notebook(doctree, _read_source(app, document), address)
    except NotShown as problem:
        logger.warning("%s", problem, location=document, type="downloads")
        return
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    title = next(doctree.findall(nodes.title))
    above = next(doctree.findall(states_time), title)
    line = nodes.paragraph("", "Download ", classes=[CLASS])
    name = f"{basename(document)}.ipynb"
    line += nodes.reference("", "this chapter as a notebook", refuri=name, internal=True)
    line += nodes.Text(" for JupyterLab, where its figures move too.")
    above.parent.insert(above.parent.index(above) + 1, line)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("notebook_pages", [], "env")
    app.connect("doctree-resolved", _write_notebook)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
