"""The figures on variance growth draw scores as NumPy does, and state what attn_lib computes."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from attn_lib.estimates import Estimate
from attn_lib.experiments import Entries, score_moments

SLIDERS = ("Mean", "Variance", "Correlation in a vector", "Correlation of query and key")


class Spread:
    """A figure, as a reader uses it."""

    def __init__(self, page, place):
        self.page = page
        self.figure = page.locator("figure.attn-live").nth(place)
        self.start = json.loads(self.figure.locator(".attn-live-start").text_content())

    def set(self, label, value):
        self.figure.get_by_label(label, exact=True).fill(str(value))

    def choose(self, label):
        self.figure.get_by_label(label, exact=True).check()

    def press(self, name):
        self.figure.get_by_role("button", name=name, exact=True).click()

    def wait_for(self, pairs):
        cell = self.figure.locator(".spread-table tbody tr:first-child td:nth-of-type(1)")
        cell.get_by_text(f"{pairs:,}".replace(",", "\u202f"), exact=True).wait_for()

    def column(self, number):
        """What a column says about mean, variance and sd."""
        cells = self.figure.locator(f".spread-table tbody td:nth-of-type({number})")
        return cells.all_inner_texts()[1:]

    def bars(self):
        """Where each bar of the histogram begins and ends, and its height, in the chart's units."""
        d = self.figure.locator(".spread-bars").get_attribute("d")
        start = float(re.match(r"M(\S+) ", d)[1])
        corners = [(float(x), 100 - float(y)) for y, x in re.findall(r"V([^HV]+)H([^HV]+)", d)]
        edges = np.array([start, *(x for x, _ in corners)])
        return edges, np.array([height for _, height in corners])


@pytest.fixture(scope="module")
def opened(tabs, built_book):
    watched = tabs.open()  # with reduced motion
    yield watched
    assert watched.problems == []
    tabs.close(watched)


@pytest.fixture
def page(opened, built_book):
    opened.open((built_book / "book" / "variance-growth.html").as_uri())
    opened.start_figures()
    return opened.page


def shown(sample):
    """Mean, variance and standard deviation of a sample, as the figure states them."""
    variance = Estimate.of_variance(sample)
    sd = math.sqrt(variance.value)
    three = (Estimate.of_mean(sample), variance, Estimate(sd, variance.standard_error / (2 * sd)))
    return [str(estimate).replace("-", "−") for estimate in three]


def exact(mean, variance):
    return [f"{x:.4g}".replace("-", "−") for x in (mean, variance, math.sqrt(variance))]


KINDS = {
    "normal": lambda state, shape: state.standard_normal(shape),
    "uniform": lambda state, shape: math.sqrt(12) * (state.random_sample(shape) - 0.5),
    "+1 or −1": lambda state, shape: np.where(state.random_sample(shape) < 0.5, -1.0, 1.0),
    "lopsided (exponential)": lambda state, shape: -np.log(1 - state.random_sample(shape)) - 1,
}


def test_entries_of_every_kind_and_every_divisor(page):
    spread = Spread(page, 0)
    spread.set("Width d_k", 3)
    for kind, draw in KINDS.items():
        spread.choose(kind)
        spread.press("100 pairs" if kind == "normal" else "Draw 1 pair")
        n = 100 + [*KINDS].index(kind)
        spread.wait_for(n)
        raw = (
            draw(np.random.RandomState(spread.start["seed"]), (n, 8, 2)).prod(axis=-1).sum(axis=-1)
        )
        for label, divisor in (("1", 1), ("√d_k", math.sqrt(8)), ("d_k", 8)):
            spread.choose(label)
            assert spread.column(1) == shown(raw / divisor)
            assert spread.column(2) == exact(0, 8 / divisor**2)


def test_the_histogram_counts_the_scores(page):
    spread = Spread(page, 0)
    spread.set("Width d_k", 6)
    spread.press("100 pairs")
    spread.wait_for(100)
    raw = np.random.RandomState(0).standard_normal((100, 64, 2)).prod(axis=-1).sum(axis=-1)
    edges, heights = spread.bars()
    counts, _ = np.histogram(raw, edges / 300 * 200 - 100)
    assert counts.sum() == 100
    np.testing.assert_allclose(heights / heights.sum(), counts / 100, atol=0.002)


def test_signs_fall_into_equal_bins(page):
    """With entries ±1 at width 2 a score is −2, 0 or 2, twice as often 0."""
    spread = Spread(page, 0)
    spread.set("Width d_k", 1)
    spread.choose("+1 or −1")
    spread.choose("√d_k")
    spread.press("10\u202f000 pairs")
    spread.wait_for(10_000)
    edges, heights = spread.bars()
    filled = heights > 0
    shares = heights[filled] / heights.sum()
    np.testing.assert_allclose(shares, [1 / 4, 1 / 2, 1 / 4], atol=0.03)  # 6 standard errors
    np.testing.assert_allclose(np.diff(edges)[1:-1], 2 / math.sqrt(2) * 30, atol=0.05)
    middles = ((edges[1:] + edges[:-1]) / 2)[filled] / 30 - 5
    np.testing.assert_allclose(middles, np.array([-2, 0, 2]) / math.sqrt(2), atol=0.01)


BROKEN = (
    (5, Entries(-0.5, 2.0, 0.3, 0.25)),
    (0, Entries(agreement=-1.0)),
    (2, Entries(correlation=1.0)),
)


def test_broken_assumptions(page):
    spread = Spread(page, 1)
    assert spread.column(2) == ["0", "1", "1"], "the reader is the one to break them"
    spread.press("100 pairs")
    for power, entries in BROKEN:
        for label, value in zip(SLIDERS, entries, strict=True):
            spread.set(label, value)
        spread.set("Width d_k", power)
        spread.wait_for(100)  # a change draws as many pairs again, from the same numbers
        d_k = 2**power
        z = np.random.RandomState(spread.start["seed"]).standard_normal((100, d_k + 1, 2))
        mean, variance, correlation, agreement = entries
        vectors = math.sqrt(correlation) * z[:, :1] + math.sqrt(1 - correlation) * z[:, 1:]
        u, v = np.moveaxis(vectors, 2, 0)
        sd = math.sqrt(variance)
        q, k = mean + sd * u, mean + sd * (agreement * u + math.sqrt(1 - agreement**2) * v)
        assert spread.column(1) == shown((q * k).sum(axis=-1) / math.sqrt(d_k))
        raw_mean, raw_variance = score_moments(d_k, entries)
        assert spread.column(2) == exact(raw_mean / math.sqrt(d_k), raw_variance / d_k)
        assert "as assumed, mean 0, sd 1)" in spread.figure.locator(".spread-name").inner_text()
    spread.press("All as assumed")
    spread.wait_for(100)
    assert spread.column(2) == ["0", "1", "1"]


def test_a_sample_grows_and_a_new_one_is_different(page):
    spread = Spread(page, 0)
    assert spread.column(1) == ["–", "–", "–"]
    spread.press("Draw 1 pair")
    spread.wait_for(1)
    first = np.random.RandomState(0).standard_normal((16, 2)).prod(axis=-1).sum()
    said = spread.figure.locator(".live-sentence:not(.spread-name)")
    assert said.inner_text() == f"The score of the pair is {first:.2f}.".replace("-", "−")
    spread.press("100 pairs")
    spread.wait_for(101)
    seen = spread.column(1)
    variance = Estimate.of_variance(
        np.random.RandomState(0).standard_normal((101, 16, 2)).prod(axis=-1).sum(axis=-1)
    )
    off = (variance.value - 16) / variance.standard_error
    side = "below" if off < 0 else "above"
    assert f"{abs(off):.1f} standard errors {side} theory" in said.inner_text()
    spread.press("New sample")
    spread.wait_for(0)
    spread.press("100 pairs")
    spread.wait_for(100)
    spread.press("Draw 1 pair")
    spread.wait_for(101)
    assert spread.column(1) != seen
    assert spread.column(2) == exact(0, 16)


def test_a_sample_fills_over_many_frames_unless_motion_is_reduced(watch, built_book):
    watched = watch()
    watched.page.emulate_media(reduced_motion="no-preference")
    watched.page.add_init_script(
        """window.seen = new Set();
        addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
          document.querySelectorAll(".spread-table tbody tr:first-child td:first-of-type").forEach(
            (cell) => window.seen.add(cell.textContent));
        }).observe(document.body, {subtree: true, childList: true}));"""
    )
    watched.open((built_book / "book" / "variance-growth.html").as_uri())
    watched.wait_for("document.querySelectorAll('figure.attn-live:not([data-state])').length === 0")
    spread = Spread(watched.page, 0)
    spread.press("100 pairs")
    spread.wait_for(100)
    assert {"3", "51", "99", "100"} <= set(watched.page.evaluate("[...window.seen]"))
    announced = spread.figure.locator(".live-announcement")
    announced.get_by_text("100 pairs, score.").wait_for()
    assert f"Variance {spread.column(1)[1]}, in theory 16" in announced.text_content()
    watched.page.emulate_media(reduced_motion="reduce")
    spread.press("100 pairs")
    spread.wait_for(200)
    assert not {"103", "151"} & set(watched.page.evaluate("[...window.seen]"))
