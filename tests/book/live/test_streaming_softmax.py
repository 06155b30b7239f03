"""The stepper through streaming softmax shows attn_lib's output of the keys read so far."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attn_lib import scaled_dot_product_attention, softmax
from attn_lib.course.mistakes import catalogue
from tests.book.live.shown import number

PAGE = "complexity"


@pytest.fixture
def figure(live_page):
    found = live_page.locator("figure[data-live=streaming-softmax]")
    found.get_by_role("button", name="Start again").click()
    return found


def given(figure):
    start = json.loads(figure.locator("script").text_content())
    return np.array(start["scores"]), np.array(start["values"])


def numbers(texts):
    return [number(text) for text in texts]


def assert_read(figure, scores, values, size, n_blocks):
    """The rows of the blocks, and each key's term, are those of the keys read so far."""
    rows = figure.locator(".stream-steps tbody tr:visible").all()
    assert len(rows) == -(-len(scores) // size)
    before = -np.inf
    for n, row in enumerate(rows, start=1):
        cells = row.locator("td").all_inner_texts()
        if n > n_blocks:
            assert cells == [""] * 4
            continue
        part = scores[: n * size]
        largest = part.max()
        output = scaled_dot_product_attention(
            [[1.0]], part[:, None], values[: n * size, None], scale=1.0, method="streaming"
        )
        expected = [largest, np.exp(before - largest), np.exp(part - largest).sum(), output[0, 0]]
        assert numbers(cells) == pytest.approx(expected, abs=0.00501)
        before = largest
    terms = figure.locator(".stream-term").all_inner_texts()
    read = min(n_blocks * size, len(scores))
    assert numbers(terms[:read]) == pytest.approx(np.exp(scores[:read] - before), abs=0.000501)
    assert terms[read:] == ["not read"] * (len(scores) - read)
    dense, difference = numbers(figure.locator(".stream-steps tfoot td").all_inner_texts())
    assert dense == pytest.approx(softmax(scores) @ values, abs=0.00501)
    assert difference == pytest.approx(
        numbers(rows[n_blocks - 1].locator("td").all_inner_texts())[-1] - dense, abs=0.011
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_block_by_block(figure, size):
    scores, values = given(figure)
    figure.get_by_label(str(size), exact=True).check()
    n_blocks = -(-8 // size)
    for n in range(1, n_blocks + 1):
        assert_read(figure, scores, values, size, n)
        figure.get_by_role("button", name="Next block").press("Enter")
    assert_read(figure, scores, values, size, n_blocks)  # there is no block after the last
    said = figure.locator(".live-sentence").inner_text()
    assert said.endswith("All keys are read: the output is that of all keys at once.")
    assert figure.locator(".stream-steps tfoot td").last.inner_text() == "0.00"


def test_scores_and_values_of_ones_own(figure):
    scores, values = given(figure)
    figure.get_by_label("Score of key 8").fill("300")
    figure.get_by_label("Value of key 8").fill("-7.5")
    figure.get_by_label("Score of key 1", exact=True).fill("-250")
    scores[[0, 7]], values[7] = [-250, 300], -7.5
    for n in (1, 2, 3, 4):
        assert_read(figure, scores, values, 2, n)
        figure.get_by_role("button", name="Next block").press("Enter")
    said = figure.locator(".live-sentence").inner_text()
    assert (
        "brings a larger score, 300.00. What was kept is multiplied by exp(4.00 − 300.00)" in said
    )


def test_what_is_said_of_each_step(figure):
    told = figure.locator(".live-sentence")
    assert told.inner_text() == (
        "Block 1 of 4: the first, with nothing before it to rescale. The output so far is 17.31."
    )
    figure.get_by_role("button", name="Next block").press("Enter")
    assert told.inner_text().startswith(
        "Block 2 of 4 brings a larger score, 4.00. "
        f"What was kept is multiplied by exp(2.00 − 4.00) = {np.exp(-2):.3f}."
    )
    figure.get_by_role("button", name="Next block").press("Enter")
    assert "no score is larger than 4.00, so what was kept stays." in told.inner_text()
    for _ in range(3):
        figure.get_by_role("button", name="Back").press("Enter")
    assert told.inner_text() == "Nothing is read yet. What will the first block give?"


@pytest.mark.parametrize(
    ("label", "id"),
    [
        ("the output alone", "running-sum-not-rescaled"),
        ("the sum alone", "running-output-not-rescaled"),
        ("neither", "nothing-rescaled"),
    ],
)
def test_what_is_not_rescaled_makes_the_output_wrong(figure, label, id):
    scores, values = given(figure)
    figure.get_by_label(label, exact=True).check()
    for _ in range(3):
        figure.get_by_role("button", name="Next block").press("Enter")
    (wrong,) = (m.wrong for m in catalogue("streaming_attention") if m.id == id)
    output = wrong(np.ones((1, 1)), scores[:, None], values[:, None], 2)[0, 0]
    off = output - softmax(scores) @ values
    assert numbers([figure.locator(".stream-steps tfoot td").last.inner_text()]) == pytest.approx(
        [off], abs=0.00501
    )
    said = figure.locator(".live-sentence").inner_text()
    assert said.endswith(f"All keys are read, and the output is wrong by {abs(off):.2f}.")
