"""PDF and EPUB of the course have every figure, formula and answer, and no dead link."""

from __future__ import annotations

import doctest
import importlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from pypdf import PdfReader
from pypdf.generic import (
    DictionaryObject,
    IndirectObject,
    StreamObject,
)

from tools.editions import __main__ as command
from tools.editions import epub, pdf
from tools.editions.pages import ANSWERS, Course, EditionError, Page, links, read_course
from tools.editions.texts import read_texts

ROOT = Path(__file__).resolve().parents[2]
XHTML = "{http://www.w3.org/1999/xhtml}"
MATH = "{http://www.w3.org/1998/Math/MathML}math"
OPF = "{http://www.idpf.org/2007/opf}"
#: Elements that do nothing outside of a browser, or whose pictures e-book readers draw badly.
DYNAMIC = {f"{XHTML}{name}" for name in ("script", "button", "form", "input", "details", "svg")}
#: Pages with figures, formulas, a quiz, a prediction, grids and folds, for a short PDF.
SHORT = ("orientation", "museum-variance-growth")

PAGE = """<main><article class="bd-article"><section id="a">
<h1>Sums<a class="headerlink" href="#a">#</a></h1>
<p>See <a href="other.html#b">this</a>, <a href="#a">here</a> and
<a href="../_downloads/x.csv">it</a>.</p>
<div class="quiz" id="quiz-one"><fieldset><legend class="quiz-question">One?</legend>
<div class="quiz-option"><input type="radio" id="A"><label for="A">
<span class="quiz-letter">A</span><span class="quiz-text">Yes</span></label></div></fieldset>
<button class="quiz-check" hidden>Check</button>
<details class="quiz-answers"><summary>Answer</summary><div class="quiz-explanation">
<p class="quiz-verdict">A: Right.</p><p>Since it is.</p></div></details></div>
<details class="sd-dropdown"><summary>Hint</summary><p>Look.</p></details>
<details class="admonition hide above-input"><summary>Show</summary><div><pre>\
<span class="n">a</span> <span class="o">=</span> <span class="mi">1</span></pre></div></details>
<figure class="attn-live"><div class="attn-live-still"><img alt="A." src="a.png" loading="lazy">\
<figcaption>A.</figcaption></div><script>1</script></figure></section></article></main>"""


@pytest.fixture
def small(tmp_path):
    """A course of two pages, with a link from each to the other."""
    toc = tmp_path / "_toc.yml"
    toc.write_text(
        "format: jb-book\nroot: book/sums\nparts:\n- caption: More\n  chapters:\n"
        "  - file: book/other\n",
        encoding="utf-8",
    )
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "sums.html").write_text(PAGE, encoding="utf-8")
    other = '<article><h1>Other</h1><h2 id="b">B</h2><p><a href="sums.html">Sums</a></p></article>'
    (tmp_path / "book" / "other.html").write_text(other, encoding="utf-8")
    return tmp_path


class TestPages:
    def test_they_come_in_course_order_with_the_answers_last(self, small):
        pages = read_course(small, small / "_toc.yml").pages
        assert [(page.name, page.title, page.part) for page in pages] == [
            ("sums", "Sums", ""),
            ("other", "Other", "More"),
            (ANSWERS, "Answers to the questions", "Appendix"),
        ]

    def test_a_figure_keeps_its_picture_and_caption(self, small):
        figure = read_course(small, small / "_toc.yml").pages[0].article.find("figure")
        assert str(figure) == (
            '<figure class="attn-live"><img alt="A." src="a.png"/><figcaption>A.</figcaption>'
            "</figure>"
        )

    def test_folds_are_open(self, small):
        text = str(read_course(small, small / "_toc.yml").pages[0].article)
        assert '<div class="fold"><p class="fold-title">Hint</p><p>Look.</p></div>' in text
        assert '<div><pre>a = <span class="mi">1</span></pre></div>' in text
        assert "Show" not in text

    def test_answers_are_numbered_and_linked_both_ways(self, small):
        page, _, answers = read_course(small, small / "_toc.yml").pages
        quiz = page.article.find(id="quiz-one")
        assert "Since" not in quiz.get_text()
        assert quiz.find("button") is None
        assert quiz.find("a")["href"] == "answers.html#answer-1"
        answer = answers.article.find(id="answer-1")
        assert answer.find("a")["href"] == "sums.html#quiz-one"
        assert " ".join(answer.get_text(" ").split()) == "Question 1 One? A: Right. Since it is."

    def test_a_page_that_is_not_built_is_reported(self, small):
        (small / "book" / "other.html").unlink()
        with pytest.raises(EditionError, match=r"other\.html, found none\. Run `make book`"):
            read_course(small, small / "_toc.yml")

    def test_links_of_one_document_lead_to_its_ids(self, small):
        course = read_course(small, small / "_toc.yml")
        whole = pdf.document(course, read_texts(ROOT), [])
        assert '<a href="#other--b">this</a>' in whole
        assert '<a href="#sums--a">here</a>' in whole
        assert '<a href="#sums">Sums</a>' in whole
        assert "x.csv" not in whole
        assert len(ids := re.findall(r' id="([^"]*)"', whole)) == len(set(ids))
        assert set(re.findall(r'href="#([^"]*)"', whole)) <= set(ids)

    @pytest.mark.parametrize("make", [pdf.document, epub.items])
    def test_a_link_that_leads_nowhere_is_reported(self, small, make):
        other = small / "book" / "other.html"
        other.write_text(other.read_text("utf-8").replace('"b"', '"c"'), "utf-8")
        course = read_course(small, small / "_toc.yml")
        rest = (read_texts(ROOT), []) if make is pdf.document else (small, read_texts(ROOT))
        with pytest.raises(EditionError, match=r"on the page sums .* got other\.html#b, which is"):
            make(course, *rest)


@pytest.mark.parametrize("module", ["formulas"])
def test_examples(module):
    results = doctest.testmod(importlib.import_module(f"tools.editions.{module}"))
    assert results.attempted
    assert not results.failed


def count(html: Path, pattern: str, pages: list[Page]) -> int:
    """Return how often a pattern is in the articles of the built pages."""
    found = 0
    for page in pages:
        if page.name != ANSWERS:
            text = (html / "book" / f"{page.name}.html").read_text(encoding="utf-8")
            found += len(re.findall(pattern, text[text.index("<article") :]))
    return found


@pytest.fixture(scope="module")
def course(built_book) -> Course:
    return read_course(built_book, ROOT / "_toc.yml")


@pytest.fixture(scope="module")
def short_course(course) -> Course:
    """Two pages and their answers, with links to other pages as text."""
    kept = [page for page in course.pages if page.name in (*SHORT, ANSWERS)]
    pages = [replace(page, article=page.article.__copy__()) for page in kept]
    names = {page.name for page in pages}
    for answer in pages[-1].article.select(".answer, h2"):
        if answer.find("a")["href"].partition(".html")[0] not in names:
            answer.decompose()
    for page in pages:
        for link, name, _ in links(page):
            if name not in names:
                link.unwrap()
    return Course(pages, course.formulas)


class TestCourse:
    def test_every_question_has_its_answer(self, course, built_book):
        questions = count(built_book, r'class="quiz"|class="attn-predict"', course.pages)
        assert questions > 70
        answers = course.pages[-1].article
        assert len(answers.select(".answer")) == questions
        explanations = count(built_book, r'class="quiz-explanation"', course.pages)
        assert len(answers.select(".quiz-explanation")) == explanations
        assert all(answer.get_text().strip()[-1:] for answer in answers.select(".answer"))

    def test_every_formula_and_figure_is_on_its_page(self, course, built_book):
        pages = course.pages
        assert len(course.formulas) == count(built_book, r'class="katex"', pages) > 1000
        shown = {
            int(number)
            for page in pages
            for number in re.findall(r'data-formula="(\d+)"', str(page.article))
        }
        assert shown == set(range(len(course.formulas)))
        pictures = sum(len(page.article.find_all("img")) for page in pages)
        assert pictures == count(built_book, r"<img ", pages) > 50
        grids = sum(len(page.article.select("figure.museum")) for page in pages)
        assert grids == count(built_book, r'<figure class="museum', pages) > 300


@pytest.fixture(scope="module")
def archive(short_course, built_book, tmp_path_factory):
    into = tmp_path_factory.mktemp("epub") / "course.epub"
    texts = read_texts(ROOT)
    copied = [replace(p, article=p.article.__copy__()) for p in short_course.pages]
    length = epub.write_course(Course(copied, short_course.formulas), built_book, texts, into)
    assert length == "3 chapters"
    return zipfile.ZipFile(into)


@pytest.fixture(scope="module")
def documents(archive):
    """Every chapter as parsed XML, by its name: what is not well-formed does not parse."""
    return {
        name.removeprefix("EPUB/"): ElementTree.fromstring(archive.read(name))
        for name in archive.namelist()
        if name.endswith(".xhtml")
    }


class TestEpub:
    def test_readers_recognise_it_by_its_first_bytes(self, archive):
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert archive.read(first) == b"application/epub+zip"

    def test_its_package_lists_exactly_its_files(self, archive, documents):
        package = ElementTree.fromstring(archive.read("EPUB/package.opf"))
        listed = {item.get("id"): item for item in package.iter(f"{OPF}item")}
        inside = {name for name in archive.namelist() if name.startswith("EPUB/")}
        files = {f"EPUB/{item.get('href')}" for item in listed.values()}
        assert files == inside - {"EPUB/package.opf"}
        spine = [listed[ref.get("idref")].get("href") for ref in package.iter(f"{OPF}itemref")]
        chapters = [f"{name}.xhtml" for name in (*SHORT, ANSWERS)]
        assert spine == ["title.xhtml", "navigation.xhtml", *chapters]
        with_math = {i.get("href") for i in listed.values() if i.get("properties") == "mathml"}
        assert with_math == {name for name, page in documents.items() if list(page.iter(MATH))}

    def test_every_link_and_picture_leads_to_something(self, archive, documents):
        ids = {name: {e.get("id") for e in page.iter()} for name, page in documents.items()}
        followed = 0
        for name, page in documents.items():
            for element in page.iter():
                address = element.get("href") or element.get("src") or ""
                if not address or address.startswith("https:"):
                    continue
                file, _, anchor = address.partition("#")
                assert f"EPUB/{file}" in archive.namelist(), (name, address)
                assert not anchor or anchor in ids[file], (name, address)
                followed += 1
        assert followed > 15

    def test_formulas_are_mathml_and_pictures_png(self, archive, documents, short_course):
        for page in short_course.pages:
            shown = list(documents[f"{page.name}.xhtml"].iter())
            formulas = sum(element.tag == MATH for element in shown)
            assert formulas == len(page.article.find_all(attrs={"data-formula": True}))
            pictures = [element for element in shown if element.tag == f"{XHTML}img"]
            assert len(pictures) == len(page.article.find_all("img"))
            for picture in pictures:
                assert archive.read(f"EPUB/{picture.get('src')}").startswith(b"\x89PNG")
                assert len(picture.get("alt")) > 20

    def test_nothing_in_it_needs_a_script(self, documents):
        for name, page in documents.items():
            assert {element.tag for element in page.iter()} & DYNAMIC == set(), name
            assert not [e.tag for e in page.iter() if e.tag.endswith("annotation")], name

    def test_the_same_pages_give_the_same_bytes(self, small):
        file = io.BytesIO()
        Image.new("RGB", (3, 2), "red").save(file, "png")
        (small / "book" / "a.png").write_bytes(file.getvalue())
        written = []
        for name in ("once", "twice"):
            course = read_course(small, small / "_toc.yml")
            texts = read_texts(ROOT)
            epub.write_course(course, small, texts, small / name)
            written.append((small / name).read_bytes())
        assert written[0] == written[1]


@pytest.fixture(scope="module")
def reader(short_course, built_book, tmp_path_factory, chromium_path):
    into = tmp_path_factory.mktemp("pdf") / "course.pdf"
    length = pdf.print_course(short_course, built_book, read_texts(ROOT), into)
    reader = PdfReader(into)
    assert length == f"{len(reader.pages)} pages"
    return reader


@pytest.fixture(scope="module")
def text(reader):
    return [page.extract_text() for page in reader.pages]


class TestPdf:
    def test_every_picture_and_formula_is_there_with_its_text(self, reader, short_course):
        alternatives = [
            str(element["/Alt"])
            for element in structure(reader.trailer["/Root"]["/StructTreeRoot"])
            if "/Alt" in element
        ]
        expected = [
            short_course.formulas[int(element["data-formula"])].tex
            if element.name == "span"
            else element["alt"]
            for page in short_course.pages
            for element in page.article.find_all(["span", "img"])
            if element.name == "img" or "data-formula" in element.attrs
        ]
        assert len(expected) > 20
        assert alternatives == [" ".join(text.split()) for text in expected]

    def test_its_tags_are_compressed(self, reader):
        tags = sum(1 for _ in structure(reader.trailer["/Root"]["/StructTreeRoot"]))
        assert tags > 1000
        assert len(reader.xref_objStm) > tags
        # What stands by itself are streams, such as pages, pictures and fonts.
        alone = [number for number, place in reader.xref[0].items() if place]
        assert alone
        for number in alone:
            assert isinstance(IndirectObject(number, 0, reader).get_object(), StreamObject)

    def test_the_outline_has_chapters_and_their_sections(self, reader, short_course):
        titles = ["Contents", *(page.title for page in short_course.pages)]
        assert [str(entry.title) for entry in chapters(reader)] == titles
        headings = sum(
            len(page.article.find_all(re.compile("h[1-6]"))) for page in short_course.pages
        )
        assert sum(1 for _ in flat(reader.outline)) == headings + 1

    def test_the_contents_name_the_pages_on_which_chapters_begin(self, reader, text, short_course):
        begin = {str(e.title): reader.get_destination_page_number(e) + 1 for e in chapters(reader)}
        for page in short_course.pages:
            assert re.search(rf"{re.escape(page.title)}\s*{begin[page.title]}\b", text[1])
            assert page.title in text[begin[page.title] - 1]

    def test_links_lead_to_places_inside(self, reader, short_course):
        places = {name.removeprefix("/") for name in reader.named_destinations}
        inside = 0
        for page in reader.pages:
            for reference in page.get("/Annots", []):
                link = reference.get_object()
                address = str(link.get("/A", {}).get("/URI", ""))
                assert (
                    address.startswith("https://") or str(link["/Dest"]).removeprefix("/") in places
                )
                inside += not address
        assert inside >= 10

    def test_its_text_can_be_found(self, text, short_course):
        words = " ".join(" ".join(text).split())
        for answer in short_course.pages[-1].article.select(".quiz-verdict"):
            assert " ".join(answer.get_text().split()) in words
        assert "Check answer" not in words
        assert "Show the source" not in words

    def test_each_page_has_its_number_and_its_chapter(self, reader, text, short_course):
        begin = [reader.get_destination_page_number(e) for e in chapters(reader)[1:]]
        for page, first, end in zip(
            short_course.pages, begin, [*begin[1:], len(text)], strict=True
        ):
            for number in range(first, end):
                margins = text[number].split("\n")[:2]
                assert sorted(margins) == sorted([page.title, str(number + 1)])


class TestCommand:
    def test_without_chromium_it_says_what_to_install(self, small, monkeypatch, capsys):
        monkeypatch.setenv("PATH", str(small))
        monkeypatch.setattr(command, "ROOT", small)
        monkeypatch.setattr(command, "read_texts", lambda _: read_texts(ROOT))
        assert command.main([str(small), str(small / "course.pdf")]) == 1
        assert "sudo apt-get install chromium" in capsys.readouterr().err

    def test_another_kind_of_file_is_refused(self, tmp_path, capsys):
        with pytest.raises(SystemExit):
            command.main([str(tmp_path), "course.mobi"])
        assert "ends in .pdf or .epub, got course.mobi" in capsys.readouterr().err


def structure(element: object) -> Iterator[DictionaryObject]:
    """Yield the elements of a PDF's structure in reading order."""
    element = element.get_object() if hasattr(element, "get_object") else element
    if isinstance(element, list):
        for part in element:
            yield from structure(part)
    elif isinstance(element, DictionaryObject):
        yield element
        yield from structure(element.get("/K"))


def chapters(reader: PdfReader) -> list:
    """Return the entries of the outline that are no sections of others."""
    return [entry for entry in reader.outline if not isinstance(entry, list)]


def flat(outline: list) -> Iterator[object]:
    for entry in outline:
        yield from flat(entry) if isinstance(entry, list) else [entry]
