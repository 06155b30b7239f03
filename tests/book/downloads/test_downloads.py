"""Chapters are notebooks that run in Jupyter, and exercises open where readers want them."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from sphinx.errors import ConfigError, ExtensionError

from book._ext.assignments import describe, overview
from book._ext.downloads import _refuse_latex
from book._ext.downloads.addresses import binder_address, colab_address
from book._ext.downloads.chapters import to_notebook, without_glue
from book._ext.downloads.markdown import Markdown, NotShown
from tests.book.test_assignments import ASSIGNMENTS, CHAPTERS, TABLE

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ["orientation", *CHAPTERS]
WIDGET = "application/vnd.jupyter.widget-view+json"
#: What Jupyter would show as it is written: directives, roles, and glue, which needs MyST-NB.
MYST = re.compile(r"^:::|^```\{|\{[a-z:-]+\}`|\bmyst_nb\b|\bglue\(", re.MULTILINE)


@pytest.fixture(scope="module")
def read(built_book):
    """A function that returns a chapter's notebook."""

    def read(chapter):
        path = built_book / "book" / f"{chapter}.ipynb"
        return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)

    return read


def headings(markdown: str) -> int:
    without_code = re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    return len(re.findall(r"^#+ ", without_code, re.MULTILINE))


class TestChapters:
    @pytest.mark.parametrize("chapter", NOTEBOOKS)
    def test_each_is_a_notebook_that_plain_jupyter_shows(self, read, built_book, chapter):
        notebook = read(chapter)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            assert not MYST.search(cell.source), cell.source
            if cell.cell_type == "code":
                ast.parse(cell.source)
        page = built_book / "book" / f"{chapter}.html"
        html = page.read_text(encoding="utf-8")
        assert f'href="{chapter}.ipynb"' in html
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        source = (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")
        assert text.count("**Question.**") == source.count(":::{quiz}")
        assert headings(text) == headings(source) > 5

    def test_computed_numbers_stand_in_the_text(self, read):
        text = "\n".join(cell.source for cell in read("masking").cells)
        assert "gives 0.97 of its weight to *ada*" in text

    def test_one_runs_with_its_widgets(self, read, tmp_path, monkeypatch):
        monkeypatch.delenv("ATTN_LIB_RENDER", raising=False)
        notebook = read("orientation")
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
        outputs = [
            output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
        ]
        assert not [output for output in outputs if output.get("name") == "stderr"]
        figures = sum("live(" in cell.source for cell in notebook.cells)
        assert sum(WIDGET in output.get("data", {}) for output in outputs) == figures > 0


class TestCode:
    def test_only_gluing_is_left_out(self):
        gluing = {"glue"}
        helper = "def show(**numbers):\n    'Show.'\n    for n in numbers:\n        glue(n, 1)"
        assert without_glue(f"{helper}\n\n\na = 2", gluing) == "a = 2"
        assert without_glue("b = a\nshow(b=b)\nc = b", gluing) == "b = a\nc = b"
        assert without_glue("for i in (1, 2):\n    d = i\n    show(d=d)", gluing) == (
            "for i in (1, 2):\n    d = i"
        )
        assert without_glue("%matplotlib inline", gluing) == "%matplotlib inline"

    def test_a_function_that_is_only_named_alike_stays(self):
        code = "def shown(show=str):\n    return show(1)"
        assert without_glue(code, {"glue", "show"}) == code

    def test_a_statement_that_also_does_something_else_is_reported(self):
        with pytest.raises(NotShown, match=r"does more than hand numbers to the text with glue"):
            without_glue("a = glue('a', 1)", {"glue"})

    def test_hidden_cells_come_before_the_next_shown_one_and_stay_folded(self):
        cell = nodes.container("", nb_element="cell_code")
        document = page(nodes.section("", nodes.title("", "Sums"), cell, ids=["sums"]))
        tags = {"tags": ["remove-cell"]}
        source = new_notebook(cells=[new_code_cell("a = 1", metadata=tags), new_code_cell("a")])
        cells = to_notebook(document, source).cells
        assert [(c.cell_type, c.id) for c in cells] == [
            ("markdown", "cell-1"),
            ("code", "cell-2"),
            ("code", "cell-3"),
        ]
        assert [c.source for c in cells[1:]] == ["a = 1", "a"]
        assert [c.metadata for c in cells[1:]] == [{"jupyter": {"source_hidden": True}}, {}]

    def test_a_cell_that_the_page_lacks_is_reported(self):
        document = page(nodes.section("", nodes.title("", "Sums"), ids=["sums"]))
        with pytest.raises(NotShown, match="expected every code cell of the source on the page"):
            to_notebook(document, new_notebook(cells=[new_code_cell("a")]))


def page(*content: nodes.Node) -> nodes.document:
    document = new_document("page", get_default_settings())
    document.extend(content)
    return document


def markdown(*content: nodes.Node, address: str = "") -> str:
    document = page(*content)
    writer = Markdown(document, address)
    return "\n\n".join(text for node in document.children for text in writer.blocks(node))


class TestText:
    def test_what_jupyter_would_misread_is_escaped(self):
        assert markdown(nodes.paragraph("", "2 * 3 costs $5, a_b <b> _c")) == (
            r"2 \* 3 costs \$5, a_b \<b> \_c"
        )

    @pytest.mark.parametrize(
        ("address", "expected"),
        [("", "See it."), ("https://a.org/book/b.html", "See [it](https://a.org/book/c.html#d).")],
    )
    def test_links_need_the_address_of_the_site(self, address, expected):
        link = nodes.reference("", "it", refuri="c.html#d", internal=True)
        paragraph = nodes.paragraph("", "", nodes.Text("See "), link, nodes.Text("."))
        assert markdown(paragraph, address=address) == expected

    def test_links_within_the_page_lead_to_headings(self):
        link = nodes.reference("", "it", refuri="#the-rows", internal=True)
        section = nodes.section("", nodes.title("", "The rows"), ids=["the-rows"])
        writer = Markdown(page(section), "")
        assert list(writer.blocks(nodes.paragraph("", "", link))) == ["[it](#The-rows)"]

    def test_lists_may_contain_blocks(self):
        item = nodes.list_item("", nodes.paragraph("", "One"), nodes.math_block("", "x"))
        other = nodes.list_item("", nodes.paragraph("", "Two"))
        assert markdown(nodes.enumerated_list("", item, other)) == (
            "1. One\n\n   $$\n   x\n   $$\n2. Two"
        )

    def test_formulas_with_lines_are_aligned(self):
        assert markdown(nodes.math_block("", r"a \\ b")) == (
            "$$\n\\begin{aligned}\na \\\\ b\n\\end{aligned}\n$$"
        )

    def test_what_cannot_be_shown_is_reported(self):
        with pytest.raises(NotShown, match="a notebook cannot show sidebar: 'A'"):
            markdown(nodes.sidebar("", nodes.paragraph("", "A")))


class TestExercises:
    def test_without_an_address_there_is_a_file_only(self):
        text = "\n".join(describe(overview("sums", TABLE)))
        assert "Or download {download}`sums.ipynb </exercises/sums/sums.ipynb>`, which" in text
        assert "Colab" not in text
        assert "Binder" not in text

    def test_with_an_address_colab_and_binder_open_it(self):
        repository = "https://github.com/ada/course"
        text = "\n".join(describe(overview("sums", TABLE), repository, "main"))
        path = "exercises/sums/sums.ipynb"
        assert f"(https://colab.research.google.com/github/ada/course/blob/main/{path})" in text
        assert f"(https://mybinder.org/v2/gh/ada/course/main?urlpath=lab/tree/{path})" in text
        assert f'`%pip install "attn_lib @ git+{repository}@main"`' in text

    def test_a_book_with_an_address_links_notebooks_of_the_repository(
        self, tiny_book, jupyter_book, tmp_path
    ):
        source = tiny_book("exercise")
        (source / "exercises").symlink_to(ROOT / "exercises")
        toc = "format: jb-book\nroot: book/index\nchapters:\n  - file: book/how-to-use\n"
        (source / "_toc.yml").write_text(toc, encoding="utf-8")
        page = "# How to use it\n\n## Open the exercises\n\n:::{assignment} quiz\n:::\n"
        (source / "book" / "how-to-use.md").write_text(page, encoding="utf-8")
        config = (source / "_config.yml").read_text(encoding="utf-8")
        for name, value in (("address", "https://github.com/ada/course"), ("branch", "term/27")):
            config, n = re.subn(f"repository_{name}: .*", f"repository_{name}: {value}", config)
            assert n == 1
        (source / "_config.yml").write_text(config, encoding="utf-8")
        build = jupyter_book(source, tmp_path)
        assert build.status == 0, build.tail()
        for page, name in (("index", "masking"), ("how-to-use", "quiz")):
            html = (build.html / "book" / f"{page}.html").read_text(encoding="utf-8")
            links = BeautifulSoup(html, "html.parser").select(".downloads a.external")
            binder, colab = (urlsplit(link["href"]) for link in links)
            assert [link.get_text() for link in links] == ["in Binder", "in Colab"]
            colab_prefix, path = colab.path.split("/blob/term/27/")
            assert (colab.hostname, colab_prefix) == (
                "colab.research.google.com",
                "/github/ada/course",
            )
            assert path == f"exercises/{name}/{name}.ipynb"
            assert (ROOT / path).is_file()
            # A slash in a branch would be taken for the end of its name.
            assert (binder.hostname, binder.path) == ("mybinder.org", "/v2/gh/ada/course/term%2F27")
            assert binder.query == f"urlpath=lab/tree/{path}"

    @pytest.mark.parametrize("make", [colab_address, binder_address])
    @pytest.mark.parametrize("ending", ["", "/", ".git"])
    def test_the_address_may_be_written_in_three_ways(self, make, ending):
        address = make(f"https://github.com/ada/course{ending}", "main", "a.ipynb")
        assert "/ada/course/" in address

    @pytest.mark.parametrize("address", ["github.com/ada/course", "https://gitlab.com/a/b"])
    def test_another_address_is_reported(self, address):
        with pytest.raises(ConfigError, match=r"such as https://github\.com/OWNER/NAME, or an em"):
            colab_address(address, "main", "a.ipynb")

    def test_the_book_has_the_released_notebooks(self, built_book):
        files = {path.name: path for path in built_book.glob("_downloads/*/*.ipynb")}
        assert set(files) == {f"{name}.ipynb" for name in ASSIGNMENTS}
        for path in files.values():
            released = ROOT / "exercises" / path.stem / path.name
            assert path.read_bytes() == released.read_bytes()

    @pytest.mark.parametrize("chapter", CHAPTERS)
    def test_each_chapter_links_its_exercise(self, built_book, chapter):
        html = (built_book / "book" / f"{chapter}.html").read_text(encoding="utf-8")
        line = BeautifulSoup(html[html.index("<article") :], "html.parser").select(".downloads a")
        assert any(
            (built_book / "book" / link["href"]).resolve().name == f"{chapter}.ipynb"
            and "_downloads" in link["href"]
            for link in line
        )


def test_the_latex_builder_is_refused_in_words():
    with pytest.raises(ExtensionError, match=r"every figure and quiz\. Use `make pdf`"):
        _refuse_latex(SimpleNamespace(builder=SimpleNamespace(format="latex")))
    _refuse_latex(SimpleNamespace(builder=SimpleNamespace(format="html")))


@pytest.mark.parametrize("module", ["addresses", "chapters", "markdown"])
def test_examples(module):
    results = doctest.testmod(importlib.import_module(f"book._ext.downloads.{module}"))
    assert results.attempted
    assert not results.failed
