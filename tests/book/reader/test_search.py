"""The search finds sections, from a file as from a server, while a reader types."""

from __future__ import annotations

import doctest
import gzip
import importlib

import pytest
from docutils import nodes

from book._ext.finding.search_index import sections

#: What readers type, and the page and anchor that come first.
FIRST = {
    "causal mask": "masking.html#the-causal-mask",
    "saturat": "softmax-saturation.html",
    "why square root": "variance-growth.html#why-the-root",
    "padding": "masking.html#the-padding-mask",
    "backward pass": "putting-it-together.html#the-backward-pass",
    "sampling noise": "variance-growth.html#sampling-noise",
    "layer_norm": "library.html#attn_lib.model.layer_norm",
    "grade": "instructor-guide.html#grade",
    "rows with nothing": "masking.html#rows-with-nothing-to-attend-to",
    "MEMORY": "complexity.html#memory",
    "transposed mask": "museum-masking.html#mask-transposed",
    "softmax temperature": "museum-softmax-saturation.html#a-softmax-with-a-temperature",
    "why divide by root": "variance-growth.html#why-the-root",
    "NaN row": "masking.html#rows-with-nothing-to-attend-to",
    # Other names for the same.
    "backpropagation": "putting-it-together.html#the-backward-pass",
    "vanishing gradients": "softmax-saturation.html#do-gradients-vanish",
    "RoPE": "museum-from-text-to-next-word.html#rotary-positions",
    "sqrt(d_k)": "variance-growth.html",
    "√dk": "variance-growth.html",
    "QK^T": "interview.html#what-does-qk-mean",
    "multihead attention": "putting-it-together.html#multi-head-attention",
    "LogSumExp": "glossary.html#term-log-sum-exp",
    # Slips: a letter that is missing, too many, another one, two that are swapped.
    "gradeint": "softmax-saturation.html#passing-a-gradient-back",
    "sofmax": "softmax-saturation.html",
    "maskk": "masking.html",
    "satoration": "softmax-saturation.html",
    "paddding mask": "masking.html#the-padding-mask",
    "complexiyt": "complexity.html",
}
#: What they type, and a page that is among the first three.
AMONG_THE_FIRST = {
    "flash attention": "complexity.html",
    "NaN": "masking.html",
    "key/value cache": "glossary.html",
    "KV cache": "complexity.html",
}


@pytest.fixture(scope="module")
def searching(tabs, built_book):
    """The search page, opened from its file."""
    watched = tabs.open()
    watched.open((built_book / "search.html").as_uri())
    watched.wait_for("typeof search === 'object'")
    yield watched
    assert watched.problems == []
    tabs.close(watched)


def found(page, query: str) -> list[str]:
    page.locator(".search-form input").fill(query)
    return page.locator(".search-results a").evaluate_all(
        "links => links.map(link => link.href.split('/book/').at(-1))"
    )


@pytest.mark.parametrize(("query", "first"), FIRST.items())
def test_the_section_that_a_reader_means_comes_first(searching, query, first):
    assert found(searching.page, query)[0] == first


@pytest.mark.parametrize(("query", "page"), AMONG_THE_FIRST.items())
def test_the_page_that_a_reader_means_is_among_the_first(searching, query, page):
    assert page in [address.partition("#")[0] for address in found(searching.page, query)[:3]]


def test_what_was_found_is_shown_in_its_sentence(searching):
    found(searching.page, "previous word")
    texts = searching.page.locator(".search-results p").all_inner_texts()
    assert max(map(len, texts)) < 220
    marks = searching.page.locator(".search-results mark").all_inner_texts()
    assert "previous-word" in marks
    assert {mark.lower().replace("-", " ").rstrip("s") for mark in marks} <= {
        "previous word", "previous", "word",
    }  # fmt: skip


def test_it_says_how_many_sections_it_found(searching):
    page, status = searching.page, searching.page.locator(".search-status")
    few = found(page, "FlashAttention")
    assert 2 <= len(few) < 15
    assert status.inner_text() == f"{len(few)} sections."
    assert len(found(page, "mask")) == 15
    assert status.inner_text().endswith(" sections. These are the best 15.")
    assert found(page, "qqq") == []
    assert status.inner_text() == (
        "Nothing found for “qqq”. Try fewer words, or the beginning of one."
    )
    # Too far from every word of the course, too short, or with another first letter.
    for word in ("Größe", "einsum", "hed", "nask"):
        assert found(page, word) == []
    assert found(page, "paddding maskk") == found(page, "padding mask")
    found(page, "paddding maskk")
    number = len(page.evaluate("search.find('padding mask').found"))
    assert status.inner_text() == (
        "Nothing has “paddding” or “maskk”. For “padding” and “mask”: "
        f"{number} sections. These are the best 15."
    )
    assert found(page, "mask qqq")
    assert status.inner_text().startswith("No section has all of these words.")
    assert found(page, " ?! ") == []
    assert found(page, "") == []
    assert status.inner_text() == ""


def test_a_query_in_the_address_is_searched(watch, built_book):
    watched = watch()
    watched.open(f"{(built_book / 'search.html').as_uri()}?q=causal+mask")
    first = watched.page.locator(".search-results a").first
    assert first.inner_text() == "The causal mask"
    assert watched.axe() == []
    assert watched.problems == []


@pytest.mark.parametrize("key", ["Control+k", "/"])
def test_any_page_searches_by_keyboard(watch, built_book, key):
    watched = watch()
    watched.open((built_book / "book" / "glossary.html").as_uri())
    page = watched.page
    assert not [name for name in watched.requests if "search-index" in name]
    page.keyboard.press(key)
    page.keyboard.type("1/2 causal")  # In the field, a slash is a slash.
    assert page.locator(".search-form input").input_value() == "1/2 causal"
    page.locator(".search-form input").fill("causal mask")
    page.locator(".search-results a").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.textContent") == "The causal mask"
    assert watched.axe() == []
    page.keyboard.press("Escape")
    assert not page.locator(".search-dialog").is_visible()
    page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/masking.html#the-causal-mask")
    assert watched.problems == []


def test_the_index_is_small(built_book):
    index = built_book / "_static" / "search-index.js"
    assert len(gzip.compress(index.read_bytes())) < 140_000


def test_a_page_is_read_section_by_section():
    page = nodes.document(None, None)
    outer = nodes.section("", nodes.title("", "A page"), ids=["a-page"])
    page += outer
    outer += nodes.paragraph("", "", nodes.Text("Before "), nodes.math("", r"\sqrt{d_k}"))
    outer += nodes.comment("", "not shown")
    cell = nodes.container("", nodes.literal_block("", "code"), nb_element="cell_code")
    cell += nodes.paragraph("", "What it does.")
    cell += nodes.rubric("", "an-exhibit", ids=["an-exhibit"])
    cell += [
        nodes.literal_block("", "code"),
        nodes.paragraph("", "It is wrong."),
        nodes.paragraph(),
    ]
    inner = nodes.section("", nodes.title("", "A part"), cell, ids=["a-part", "old-name"])
    outer += inner
    outer += nodes.section("", nodes.title("", "", nodes.math("", "QK")), ids=["qk"])
    assert sections(page) == [
        ("", "A page", "Before √d_k", False),
        ("a-part", "A part", "What it does.", False),
        ("an-exhibit", "an-exhibit", "It is wrong.", True),
        ("qk", "QK", "", False),
    ]


def test_examples():
    results = doctest.testmod(importlib.import_module("book._ext.finding.search_index"))
    assert results.attempted
    assert not results.failed
