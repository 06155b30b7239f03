"""The first chapters show weights of the trained model as it computes them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attn_lib.model import (
    draw_sentences,
    encode,
    find_heads,
    forward,
    generate,
    trained_model,
)
from tests.book.claims.arithmetic import shares

HELD_OUT = draw_sentences(200, np.random.default_rng(43), held_out=True)
SHORT, LONG = "the cats near the dog", "the cats near the dog behind the fox"


def weights_of(text: str, layer: int = 1, head: int = 2) -> np.ndarray:
    """The causal weights of one head, from queries and keys, (n, n)."""
    trace = forward(trained_model(), encode(text))
    q, k = (trace[f"layer{layer}.{name}"][head - 1].astype(float) for name in "qk")
    n = len(q)
    rows = [shares([float(q[i] @ k[j]) / 4 for j in range(i + 1)]) for i in range(n)]
    return np.array([row + [0.0] * (n - len(row)) for row in rows])


@pytest.fixture(scope="module")
def article(built_book):
    """A function that returns the main part of a page."""

    def of(page: str):
        html = (built_book / "book" / f"{page}.html").read_text(encoding="utf-8")
        return BeautifulSoup(html, "html.parser").find("article")

    return of


def text_of(article) -> str:
    return " ".join(article.get_text().split())


def test_orientation_shows_where_fox_looks(article):
    page = article("orientation")
    last = weights_of(LONG)[-1]
    words = LONG.split()
    told = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(words, last, strict=True))
    assert f"Where “fox” looks: {told}." in [image["alt"] for image in page.find_all("img")]
    assert f"fox gives {last[1]:.2f} of its weight to cats, and hardly anything to dog." in (
        text_of(page)
    )
    assert last[4] < 0.05
    verb = generate(trained_model(), LONG, 1).text.split()[-1]
    assert f"the model writes “{verb}”" in text_of(page)
    assert not verb.endswith("s")


def test_the_first_weights_that_are_read_are_the_models(article):
    page = article("dot-products")
    weights = weights_of(SHORT)
    figure = page.select_one('[data-live="row-of-weights"]')
    start = json.loads(figure.find("script").string)
    words = SHORT.split()
    (layer, head), row = start["head"], start["row"]
    assert start["sentence"] == SHORT
    assert (layer, head) != (1, 2)  # of which the page asks, so the figure opens with another
    shown = zip(words, weights_of(SHORT, layer, head)[row - 1], strict=True)
    told = ", ".join(f"{w:.2f} to {word}" for word, w in shown)
    said = f"Layer {layer}, head {head}. Row {row}, “{words[row - 1]}”, gives {told}."
    assert figure.find("img")["alt"].startswith(said)
    text = text_of(page)
    columns = weights.sum(axis=0)
    assert columns.argmax() == 1
    assert f"dog gives {weights[4, 1]:.2f} of its weight to cats" in text
    assert f"gets the most: {columns[1]:.2f} in all" in text
    assert f"Column 5 gets {columns[4]:.2f}." in text
    assert find_heads(trained_model(), HELD_OUT)["subject"][:2] == (1, 2)
