"""The rows of scores in the chapter on saturation show what the library computes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import attn_lib
from attn_lib.softmax import entropy, softmax_jacobian_norm
from tests.book.live.shown import number

PAGE = "softmax-saturation"


class Row:
    """A figure, as a reader uses it."""

    def __init__(self, figure):
        self.figure = figure
        self.start = json.loads(figure.locator(".attn-live-start").text_content())
        figure.get_by_role("button", name="Start again").click()

    def type(self, scores):
        for field, score in zip(self.figure.locator(".live-number").all(), scores, strict=True):
            field.fill(str(score))

    def set_temperature(self, power):
        """Set it to two to this power."""
        self.figure.get_by_label("Temperature").fill(str(power))

    def read(self, name):
        row = self.figure.locator("tr", has=self.figure.page.get_by_role("rowheader", name=name))
        return row.locator("td").inner_text()

    def weights(self):
        texts = self.figure.locator(".scores-weight + text").all_text_contents()
        return [{"<0.001": 0, ">0.999": 1}.get(text, text) for text in texts]

    def jacobian(self):
        rows = self.figure.locator(".scores-jacobian tbody tr").all()
        texts = [row.locator("td").all_text_contents() for row in rows]
        return np.array([[number(text) for text in row] for row in texts])

    def done(self):
        marks = self.figure.locator(".scores-mark").all_text_contents()
        return [mark == "✓" for mark in marks]

    def reason(self):
        return self.figure.locator(".scores-reason").inner_text()


@pytest.fixture
def row(live_page):
    return Row(live_page.locator("figure.attn-live").nth(0))


@pytest.fixture
def lively(live_page):
    return Row(live_page.locator("figure.attn-live").nth(1))


@pytest.mark.parametrize(
    ("scores", "power"), [([2, -1.5, 0.5, 3.25], 0), ([8, -8, 7.5, 0], -3), ([1, 1, 1, 1], 4)]
)
def test_it_shows_what_the_library_computes(lively, scores, power):
    lively.type(scores)
    lively.set_temperature(power)
    weights = attn_lib.softmax(np.array(scores) / 2.0**power)
    np.testing.assert_allclose(np.float64(lively.weights()), weights, atol=0.00051)
    assert lively.read("entropy") == f"{entropy(weights):.2f} of 2.00"
    assert float(lively.read("norm")) == pytest.approx(softmax_jacobian_norm(weights), abs=0.00051)
    np.testing.assert_allclose(lively.jacobian(), attn_lib.softmax_jacobian(weights), atol=0.00501)


def test_keys_are_added_and_removed_and_moved_by_keyboard(lively):
    lively.figure.get_by_role("button", name="Add a key").click()
    handle = lively.figure.get_by_role("slider", name="Score of key E")
    handle.press("End")
    handle.press("ArrowLeft")
    scores = np.array([*lively.start["scores"], lively.start["reach"] - 0.5])
    assert handle.get_attribute("aria-valuenow") == f"{scores[-1]:.2f}"
    weights = attn_lib.softmax(scores)
    assert lively.read("largest weight") == f"{weights.max():.3f}"
    assert lively.jacobian().shape == (5, 5)
    remove = lively.figure.get_by_role("button", name="Remove a key")
    for _ in range(5):
        remove.press("Enter")
    assert remove.get_attribute("aria-disabled") == "true"
    weights = attn_lib.softmax(scores[:2])
    np.testing.assert_allclose(np.float64(lively.weights()), weights, atol=0.00051)


@pytest.mark.parametrize(
    ("challenge", "scores", "power", "reason"),
    [
        (0, [15, 9, 3], 0, "ahead by 6.0 ÷ 1.00 = 6.00, and the exponential makes that 403 times"),
        (1, [15, 12, 9], 3.25, "now 6.0 ÷ 9.51 = 0.63, and the exponential of that is 1.88."),
        (2, [12.5, 9.5, 6.5], 0, "All scores moved by −2.5."),
        (3, [16, 10, 4], 1, "A lead of 6.0 ÷ 2.00 = 3.00 counts as much as 3.00 at temperature 1"),
    ],
)
def test_challenges_about_weights(row, challenge, scores, power, reason):
    assert not any(row.done())
    row.set_temperature(power)
    row.type(scores)
    assert row.done() == [i == challenge for i in range(4)]
    assert reason in row.reason()
    row.type([0, 0, 0])
    assert row.done()[challenge], "a challenge stays met"


@pytest.mark.parametrize(
    ("met", "scores", "power", "reason"),
    [
        ([True, False, False], [8, 0, 0, 0], 0, "Key A has the weight 0.999. Every entry"),
        ([False, True, False], [-1.5, 4, 4, -2], 0, "Keys B and C share 0.995 of the weight"),
        ([False, False, True], [1, 0, -8, 0], 0, "Key C has the weight <0.001"),
        ([False, False, False], [-4, 0.5, 0, -4], 0, ""),
    ],
)
def test_challenges_about_the_jacobian(lively, met, scores, power, reason):
    lively.type(scores)
    lively.set_temperature(power)
    assert lively.done() == met
    assert reason in lively.reason()


def test_what_is_announced(row):
    row.type([1, 1, -9])
    said = row.figure.locator(".live-announcement")
    said.get_by_text("Keys A and B have the largest weight, 0.500.").wait_for()
    bits = entropy(attn_lib.softmax([1.0, 1, -9]))
    assert f"The entropy is {bits:.2f} bits." in said.inner_text()
