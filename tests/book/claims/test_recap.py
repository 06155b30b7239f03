"""The recap page: its numbers equal plain computations, and every line has a link."""

import math
import re

import numpy as np
import pytest

from tests.book.claims.arithmetic import weights
from tests.book.claims.measured import agree, mean
from tests.book.claims.reading import estimates
from tests.differences import central_differences

PAGE = "recap"


def test_the_three_numbers(text):
    assert "8 is the standard deviation of a raw score" in text
    assert math.sqrt(64) == 8
    ((variance, error),) = estimates(r"the variance is .*? Divide by", text)
    assert abs(variance - 64) < 5 * 1.5 * error
    # The relative error of N products of width d is √((2 + 6/d) / N).
    assert error == pytest.approx(64 * math.sqrt((2 + 6 / 64) / 40_000), rel=0.1)

    scaled, unscaled = estimates(r"of 10 random keys at that width, .*? Then", text)
    assert agree(scaled, mean(weights(10, 64, 1 / 8).max(axis=-1)))
    assert agree(unscaled, mean(weights(10, 64, 1.0).max(axis=-1)))
    assert f"{scaled[0]:.2f} is the mean largest weight" in text


def test_where_costs_cross(text):
    d = 512
    first = {
        part: next(n for n in range(1, 10_000) if 4 * n * n * d >= factor * n * d * d)
        for part, factor in {"projections": 8, "all": 8 + 16}.items()
    }
    assert f"{first['projections']} tokens: from there on" in text
    assert f"With the feed-forward part it takes \\(6d\\), {first['all']}." in text
    assert first == {"projections": 2 * d, "all": 6 * d}


def test_the_table_of_costs(article):
    n, d, h = 2048, 512, 8
    rows = {
        row.find("td").get_text(): row.find_all("td")[-1].get_text()
        for row in article.find_all("table")[-1].find_all("tr")[1:]
    }

    def million(count):
        return f"{count / 1e6:,.0f} million".replace(",", "\u00a0")

    assert rows == {
        "projections": million(8 * n * d * d),
        "feed-forward part": million(16 * n * d * d),
        "scores and mix": million(4 * n * n * d),
        "softmax": million(5 * h * n * n),
        "one step with a cache": million(4 * n * d),
        "memory of the cache": f"{2 * n * d * 4 / 2**20:.0f} MiB",
        "memory of all weights": f"{h * n * n * 4 / 2**20:.0f} MiB",
        "streaming, exact": "no table of weights",
    }


def test_the_gradients(text):
    # The formulas on the page, evaluated and compared with central differences.
    for formula in (r"dV = W^\top dO", r"dW = dO\,V^\top", r"dQ = dS\,K/\sqrt{d_k}"):
        assert formula in text
    rng = np.random.default_rng(3)
    inputs = [rng.normal(size=size) for size in ((3, 4), (5, 4), (5, 2))]
    d_out = rng.normal(size=(3, 2))

    def forward(q, k, v):
        s = q @ k.T / math.sqrt(4)
        w = np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)
        return w, w @ v

    q, k, v = inputs
    w, _ = forward(*inputs)
    d_w = d_out @ v.T
    d_s = w * (d_w - (d_w * w).sum(axis=-1, keepdims=True))
    gradients = d_s @ k / math.sqrt(4), d_s.T @ q / math.sqrt(4), w.T @ d_out
    for place, gradient in enumerate(gradients):

        def loss(moved, place=place):
            changed = [*inputs[:place], moved, *inputs[place + 1 :]]
            return (forward(*changed)[1] * d_out).sum()

        expected = central_differences(loss, inputs[place])
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-7)


def test_every_line_links_to_its_section(article):
    lines = [*article.select("li"), *article.select("tbody tr")]
    assert len(lines) > 20
    for line in lines:
        links = [a["href"] for a in line.find_all("a")]
        assert [link for link in links if re.match(r"[\w-]+\.html#", link)], line.get_text()
