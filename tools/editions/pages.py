"""Read the pages of the built book in course order, without what needs a browser.

Sliders and figures that compute keep the picture of their start, with its caption. Folds are open.
The answers to quizzes and predictions move to a page of their own at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Tag
from pygments.token import STANDARD_TYPES, Name, Operator, Punctuation, Whitespace
from sphinx_external_toc.parsing import parse_toc_yaml

from tools.editions.formulas import Formula, put_back, take

#: What only works in a browser, or says that something else does not: elements, and classes.
DYNAMIC_ELEMENTS = {"script", "style", "noscript", "button", "input", "dialog"}
DYNAMIC_CLASSES = {
    *("headerlink", "downloads", "sd-summary-state-marker"),
    *("attn-explore-controls", "attn-predict-entry", "attn-predict-verdict", "quiz-status"),
}
#: Classes of code that is no keyword, string, number or comment.
PLAIN_CODE = {
    css_class
    for token, css_class in STANDARD_TYPES.items()
    if token in Name or token in Operator or token in Punctuation or token in Whitespace
}
#: Lines of code that are never divided between two pages.
MAX_UNDIVIDED = 16
#: Where the pages stand in the book's folder, from which their pictures' addresses start.
PAGES = "book"
QUIZ, PREDICTION = "quiz", "attn-predict"
ANSWERS = "answers"
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)


class EditionError(Exception):
    """Raised if the pages cannot be made into one file; the message says why and what to do."""


@dataclass
class Page:
    """A page: its file's name without suffix, its title, its part of the course, its content."""

    name: str
    title: str
    part: str
    article: Tag


@dataclass(frozen=True)
class Course:
    """All pages in course order, that of the answers last, and the formulas that they show."""

    pages: list[Page]
    formulas: list[Formula]

    def content(self, page: Page, show: Callable[[Formula], str]) -> str:
        """Return the content of a page, with each formula as `show` shows it."""
        return put_back(page.article.decode_contents(), self.formulas, show)


def read_course(html: Path, toc: Path) -> Course:
    """Read all pages, and make a page of the answers.

    Parameters
    ----------
    html : Path
        The folder with the built book.
    toc : Path
        The file that lists the pages, `_toc.yml`.

    Raises
    ------
    EditionError
        If a page has not been built, or is built in another way than this module knows.
    """
    pages: list[Page] = []
    formulas: list[Formula] = []
    for document, part in _in_order(toc):
        path = html / f"{document}.html"
        if not path.is_file():
            raise EditionError(f"expected the built page {path}, found none. Run `make book`.")
        # Only the article is parsed: it is the smaller part of a page, and parsing is slow.
        found = ARTICLE.search(path.read_text(encoding="utf-8"))
        content = take(found.group() if found else "", formulas)
        article = inner(BeautifulSoup(content, "html.parser"), "article")
        _make_still(article)
        title = put_back(inner(article, "h1").decode_contents(), formulas, lambda it: it.text)
        title = BeautifulSoup(title, "html.parser").get_text().strip()
        pages.append(Page(basename(document), title, part, article))
    return Course([*pages, _answers(pages)], formulas)


def inner(element: Tag, name: str = "", css_class: str = "") -> Tag:
    """Return the first element inside of another one that has this name, or else this class.

    Raises
    ------
    EditionError
        If there is none.
    """
    found = element.find(name) if name else element.find(class_=css_class or True)
    if not isinstance(found, Tag):
        raise EditionError(
            f"expected {name or css_class} in the page, found none in {element.get_text()[:60]!r}. "
            "Build the book anew: make book"
        )
    return found


def text_of(element: Tag, attribute: str) -> str:
    """Return an attribute's text, empty if there is none."""
    value = element.get(attribute) or ""
    return value if isinstance(value, str) else " ".join(value)


def _in_order(toc: Path) -> Iterator[tuple[str, str]]:
    """Yield each page's document and the caption of its part of the course."""
    site = parse_toc_yaml(toc)

    def below(document: str, part: str) -> Iterator[tuple[str, str]]:
        yield document, part
        for tree in site[document].subtrees if document in site else []:
            for item in tree.items:
                if isinstance(item, str):
                    yield from below(item, tree.caption or part)

    return below(site.root.docname, "")


def _make_still(article: Tag) -> None:
    # One walk over all elements is several times faster than one for each CSS selector.
    for element in article.find_all(True):
        if element.decomposed:
            continue
        classes = set(text_of(element, "class").split())
        if (
            element.name in DYNAMIC_ELEMENTS
            or "hidden" in element.attrs
            or not DYNAMIC_CLASSES.isdisjoint(classes)
        ):
            element.decompose()
        elif element.name == "span" and _is_plain_code(classes):
            element.unwrap()
        elif element.name == "img":
            del element["loading"]
        elif element.name == "pre" and element.get_text().count("\n") > MAX_UNDIVIDED:
            element["class"] = "long"
        elif "attn-live-still" in classes or _holds_blocks(element):
            element.unwrap()
        elif element.name == "details":
            _open(element, classes)


def _is_plain_code(classes: set[str]) -> bool:
    """Return whether this is a word of code without a colour, of which there are very many."""
    return len(classes) == 1 and classes <= PLAIN_CODE | {"pre"}


def _holds_blocks(element: Tag) -> bool:
    """Return whether this is a paragraph with blocks in it, as some docstrings become."""
    return element.name == "p" and element.find(["p", "ul", "ol"], recursive=False) is not None


def _open(fold: Tag, classes: set[str]) -> None:
    summary = inner(fold, "summary")
    if "hide" in classes:
        summary.decompose()  # "Show the source"
        fold.unwrap()
    elif not (_is_question(fold.parent) if fold.parent else False):
        fold.name, fold.attrs = "div", {}
        fold["class"] = "fold"
        summary.name, summary.attrs = "p", {}
        summary["class"] = "fold-title"


def _is_question(element: Tag) -> bool:
    return not {QUIZ, PREDICTION}.isdisjoint(text_of(element, "class").split())


def _answers(pages: list[Page]) -> Page:
    """Number all questions, take their answers away, and return a page of them."""
    title = "Answers to the questions"
    article = _element("article")
    article.append(_element("h1", title))
    number = 0
    for page in pages:
        questions = page.article.find_all(_is_question)
        if questions:
            heading = _element("h2", id=f"to-{page.name}")
            heading.append(_element("a", page.title, href=f"{page.name}.html"))
            article.append(heading)
        for question in questions:
            number += 1
            article.append(_take_answer(page, question, number))
    return Page(ANSWERS, title, "Appendix", article)


def _take_answer(page: Page, question: Tag, number: int) -> Tag:
    question["id"] = text_of(question, "id") or f"question-{number}"
    asked, folded = (
        _plain_prediction(question) if question.name == "form" else _plain_quiz(question)
    )
    back = f"{page.name}.html#{question['id']}"
    answer = _element("div", css_class="answer", id=f"answer-{number}")
    answer.append(_paragraph("question-number", f"Question {number}", back))
    answer.append(BeautifulSoup(str(asked), "html.parser"))
    inner(folded, "summary").decompose()
    answer.extend(list(folded.extract().children))
    forward = f"{ANSWERS}.html#answer-{number}"
    question.insert(0, _paragraph("question-number", f"Question {number}"))
    question.append(_paragraph("question-answer", f"Answer {number}", forward))
    return answer


def _plain_prediction(question: Tag) -> tuple[Tag, Tag]:
    """Make a form with a question plain, and return the question and its folded answer."""
    asked = inner(question, "label")
    asked.name, asked.attrs = "p", {}
    question.name, question.attrs = "div", {"id": text_of(question, "id")}
    question["class"] = QUIZ
    return asked, inner(question, "details")


def _plain_quiz(question: Tag) -> tuple[Tag, Tag]:
    """Make a quiz plain, and return its question and its folded answers."""
    asked = inner(question, "legend")
    asked.name = "p"
    inner(question, "fieldset").unwrap()
    for label in question.find_all("label"):
        label.unwrap()
    return asked, inner(question, css_class="quiz-answers")


def _element(name: str, text: str = "", css_class: str = "", **attributes: str) -> Tag:
    element = BeautifulSoup("", "html.parser").new_tag(name)
    element.attrs = {**({"class": css_class} if css_class else {}), **attributes}
    if text:
        element.string = text
    return element


def _paragraph(css_class: str, text: str, address: str = "") -> Tag:
    paragraph = _element("p", css_class=css_class)
    paragraph.append(_element("a", text, href=address) if address else text)
    return paragraph


def links(page: Page) -> Iterator[tuple[Tag, str, str]]:
    """Yield each link of a page into the book, with the page and the anchor that it leads to.

    The anchor is empty if a link leads to a page. Links to other files of the site, such as
    downloads, are made text.
    """
    for link in page.article.find_all("a", href=True):
        address = urlsplit(text_of(link, "href"))
        if address.scheme:
            continue
        path = address.path or f"{page.name}.html"
        if path.endswith(".html") and "/" not in path:
            yield link, path.removesuffix(".html"), address.fragment
        else:
            link.unwrap()
