"""Read the pages of the built book in course order, without what needs a browser.

Sliders and figures that compute keep the picture of their start, with its caption. Folds are open.
The answers to quizzes and predictions move to a page of their own at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Tag
from pygments.token import STANDARD_TYPES, Name, Operator, Punctuation, Whitespace
from sphinx_external_toc.parsing import parse_toc_yaml

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
ANSWERS = "answers"
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)


class EditionError(Exception):
    """Raised if the pages cannot be made into one file; the message says why and what to do."""


@dataclass
class Page:
    """One page: the name of its file without suffix, its title, its part of the course, its text."""

    name: str
    title: str
    part: str
    article: Tag


def read_pages(html: Path, toc: Path) -> list[Page]:
    """Return all pages in course order, and the page of answers as the last one.

    Parameters
    ----------
    html : Path
        The folder with the built book.
    toc : Path
        The file that lists the pages, `_toc.yml`.

    Raises
    ------
    EditionError
        If a page has not been built.
    """
    pages = []
    for document, part in _in_order(toc):
        path = html / f"{document}.html"
        if not path.is_file():
            raise EditionError(f"expected the built page {path}, found none. Run `make book`.")
        # Only the article is parsed: it is the smaller part of a page, and parsing is slow.
        found = ARTICLE.search(path.read_text(encoding="utf-8"))
        article = BeautifulSoup(found.group() if found else "", "html.parser").find("article")
        if not isinstance(article, Tag) or not isinstance(title := article.find("h1"), Tag):
            raise EditionError(f"expected an article with a title in {path}, found none.")
        _make_still(article)
        article.attrs = {}
        pages.append(Page(basename(document), title.get_text().strip(), part, article))
    return [*pages, _answers(pages)]


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
        classes = element.get("class") or []
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
        elif "attn-live-still" in classes or _holds_blocks(element):
            element.unwrap()
        elif element.name == "details":
            _open(element, classes)


def _is_plain_code(classes: list[str]) -> bool:
    """Return whether this is a word of code without a colour; there are tens of thousands of them."""
    return classes == ["pre"] or (len(classes) == 1 and classes[0] in PLAIN_CODE)


def _holds_blocks(element: Tag) -> bool:
    """Return whether this is a paragraph with blocks in it, which Sphinx makes of some docstrings."""
    return element.name == "p" and element.find(["p", "ul", "ol"], recursive=False) is not None


def _open(fold: Tag, classes: list[str]) -> None:
    summary = fold.find("summary")
    if not isinstance(summary, Tag) or "quiz-answers" in classes or fold.parent.name == "form":
        return
    if "hide" in classes:
        summary.decompose()  # "Show the source"
        fold.unwrap()
        return
    fold.name, fold.attrs = "div", {"class": ["fold"]}
    summary.name, summary.attrs = "p", {"class": ["fold-title"]}


def _answers(pages: list[Page]) -> Page:
    """Number all questions, take their answers away, and return a page of them."""
    soup = BeautifulSoup("", "html.parser")
    article = soup.new_tag("article")
    heading = soup.new_tag("h1", string="Answers to the questions")
    article.append(heading)
    number = 0
    for page in pages:
        questions = page.article.find_all(_is_question)
        if not questions:
            continue
        section = soup.new_tag("h2", id=f"to-{page.name}")
        section.append(soup.new_tag("a", href=f"{page.name}.html", string=page.title))
        article.append(section)
        for question in questions:
            number += 1
            article.append(_answer(soup, page, question, number))
    return Page(ANSWERS, heading.get_text(), "", article)


def _is_question(element: Tag) -> bool:
    return not {"quiz", "attn-predict"}.isdisjoint(element.get("class") or [])


def _answer(soup: BeautifulSoup, page: Page, question: Tag, number: int) -> Tag:
    question["id"], anchor = question.get("id") or f"question-{number}", f"answer-{number}"
    question.insert(0, _paragraph(soup, "question-number", f"Question {number}"))
    answer = soup.new_tag("div", attrs={"class": "answer", "id": anchor})
    top = _paragraph(soup, "question-number", "")
    back = soup.new_tag("a", href=f"{page.name}.html#{question['id']}", string=f"Question {number}")
    top.append(back)
    answer.append(top)
    if question.name == "form":
        question.name, question.attrs = "div", {"class": ["quiz"], "id": question["id"]}
        label, folded = question.find("label"), question.find("details")
        label.name, label.attrs = "p", {}
        asked = label
    else:
        asked, folded = question.find("legend"), question.select_one(".quiz-answers")
        asked.name = "p"
        question.find("fieldset").unwrap()
        for label in question.find_all("label"):
            label.unwrap()
    answer.append(BeautifulSoup(str(asked), "html.parser"))
    folded.find("summary").decompose()
    answer.extend(list(folded.extract().children))
    forward = _paragraph(soup, "question-answer", "")
    forward.append(soup.new_tag("a", href=f"{ANSWERS}.html#{anchor}", string=f"Answer {number}"))
    question.append(forward)
    return answer


def _paragraph(soup: BeautifulSoup, css_class: str, text: str) -> Tag:
    return soup.new_tag("p", attrs={"class": css_class}, string=text)


def links(page: Page) -> Iterator[tuple[Tag, str, str]]:
    """Yield each link of a page into the book, with the page and the anchor that it leads to.

    The anchor is empty if a link leads to a page. Links to other files of the site, such as
    downloads, are made text.
    """
    for link in page.article.find_all("a", href=True):
        address = urlsplit(link["href"])
        if address.scheme:
            continue
        path = address.path or f"{page.name}.html"
        if path.endswith(".html") and "/" not in path:
            yield link, path.removesuffix(".html"), address.fragment
        else:
            link.unwrap()
