"""What search engines and messengers read of a page, the page at the root, and that for no page."""

from __future__ import annotations

import doctest
import importlib
import re
import struct
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup
from docutils import nodes

from book._ext.finding.course_picture import draw
from book._ext.finding.page_metadata import MAX_DESCRIPTION, PICTURE_SIZE, beginning
from book._ext.reading_time import TIME_CLASS
from tests.book.contents import listed_pages

SITE = "https://owner.example/course/"


def head(html: str) -> dict[str, str]:
    page = BeautifulSoup(html.partition("</head>")[0], "html.parser")
    found = {tag.get("name") or tag.get("property"): tag.get("content") for tag in page("meta")}
    assert len([tag for tag in page("meta") if tag.get("name") == "viewport"]) == 1
    links = {rel: link["href"] for link in page("link") for rel in link["rel"]}
    return {**found, "title": page.title.string, "canonical": links.get("canonical", "")}


def test_each_page_has_a_title_and_a_description_of_its_own(built_book, root):
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    written = config["sphinx"]["config"]["page_descriptions"]
    pages = listed_pages(root)
    assert set(written) == set(pages)
    titles = set()
    for name in pages:
        found = head((built_book / f"{name}.html").read_text(encoding="utf-8"))
        assert found["description"] == found["og:description"] == written[name]
        assert 60 < len(written[name]) <= MAX_DESCRIPTION, name
        assert found["og:title"] in found["title"] or name == "book/index"
        assert found["canonical"] == ""  # There is no address yet.
        titles.add(found["title"])
    assert len(titles) == len(set(written.values())) == len(pages)


@pytest.fixture(scope="module")
def site(tiny_book, jupyter_book, tmp_path_factory):
    """A tiny book that knows where it is published."""
    source = tiny_book("good-quiz")
    config = (source / "_config.yml").read_text(encoding="utf-8")
    assert config.count('baseurl: ""') == 1
    (source / "_config.yml").write_text(
        config.replace('baseurl: ""', f"baseurl: {SITE}"), encoding="utf-8"
    )
    build = jupyter_book(source, tmp_path_factory.mktemp("site"))
    assert build.status == 0, build.tail()
    return build.html


def test_a_published_page_names_its_address_and_a_picture(site):
    found = head((site / "book" / "index.html").read_text(encoding="utf-8"))
    assert found["canonical"] == found["og:url"] == f"{SITE}book/index.html"
    assert found["og:image"] == f"{SITE}_static/course.png"
    # Width and height stand at the beginning of a PNG.
    size = struct.unpack(">II", (site / "_static" / "course.png").read_bytes()[16:24])
    assert size == PICTURE_SIZE == (int(found["og:image:width"]), int(found["og:image:height"]))


def test_a_published_book_has_a_site_map(site):
    tree = ElementTree.parse(site / "sitemap.xml")
    assert [place.text for place in tree.iter() if place.tag.endswith("loc")] == [
        f"{SITE}book/index.html"
    ]
    assert f"Sitemap: {SITE}sitemap.xml" in (site / "robots.txt").read_text(encoding="utf-8")


def test_links_of_a_lost_page_begin_at_the_address_of_the_site(site, built_book):
    for folder, base in ((site, urlsplit(SITE).path), (built_book, "/")):
        html = (folder / "404.html").read_text(encoding="utf-8")
        links = re.findall(r'(?:href|src)="([^"]*)"', html)
        assert links == [f"{base}book/index.html", f"{base}search.html"]


def test_the_page_at_the_root_is_the_first_page(watch, built_book):
    watched = watch()
    watched.open((built_book / "index.html").as_uri())
    watched.start_figures()
    first = (built_book / "book" / "index.html").read_text(encoding="utf-8")
    text = watched.page.locator("article h1").inner_text()
    assert text.startswith(BeautifulSoup(first, "html.parser").h1.contents[0])
    assert watched.overflow() <= 0
    watched.page.get_by_role("link", name="Start the course").click()
    watched.page.wait_for_url("**/book/orientation.html")
    watched.open_until(
        (built_book / "index.html").as_uri(),
        lambda page: page.locator(".continue a").count() == 1,
    )
    watched.page.locator(".continue a").click()
    watched.page.wait_for_url("**/book/orientation.html*")
    assert watched.problems == []


def test_a_page_without_a_description_has_its_beginning():
    page = nodes.document(None, None)
    page += nodes.section("", nodes.title("", "A page"), ids=["a-page"])
    page[0] += nodes.paragraph("", "About 5 minutes to read.", classes=[TIME_CLASS])
    page[0] += nodes.paragraph("", "", nodes.Text("Word " * 40), nodes.math("", r"\sqrt{n}"))
    assert beginning(page) == "Word " * 31 + "…"
    page[0][-1].children = [nodes.Text("It has "), nodes.math("", r"\sqrt{n}")]
    assert beginning(page) == "It has √n"
    assert beginning(nodes.document(None, None)) == ""


def test_a_long_description_fails_the_build(tiny_book, jupyter_book, tmp_path):
    source = tiny_book("good-quiz")
    config = (source / "_config.yml").read_text(encoding="utf-8")
    first = "      book/index: >-\n"
    assert config.count(first) == 1
    (source / "_config.yml").write_text(
        config.replace(first, f"{first}        {'Long ' * 40}\n"), encoding="utf-8"
    )
    build = jupyter_book(source, tmp_path)
    assert build.status == 1
    (report,) = re.findall(r"WARNING: (.*)$", build.output, re.MULTILINE)
    assert report.startswith("page_descriptions: expected at most 160 characters, got ")


def test_the_picture_is_the_same_each_time():
    assert draw(*PICTURE_SIZE) == draw(*PICTURE_SIZE)


def test_examples():
    results = doctest.testmod(importlib.import_module("book._ext.finding.page_metadata"))
    assert results.attempted
    assert not results.failed
