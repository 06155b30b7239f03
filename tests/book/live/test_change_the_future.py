"""The hidden masks can be found out, and what moves is what attn_lib says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attn_lib.figures.ways_to_mask import way_to_mask

PAGE = "masking"

MOVED = 1e-6
KINDS = {"key and value": (1, 2), "value alone": (2,), "key alone": (1,)}


@pytest.fixture(scope="module")
def figure(live_page):
    return live_page.locator("figure[data-live=change-the-future]")


@pytest.fixture(scope="module")
def start(figure):
    found = json.loads(figure.locator("script").text_content())
    return {name: found[name] for name in ("inputs", "changed", "attentions")}


def moves(start, attention, kind):
    """How far output i moves when position j is changed, (6, 6)."""
    inputs, changed = np.array(start["inputs"]), np.array(start["changed"])
    _, mask, way = start["attentions"][attention]

    def output(q, k, v):
        return way_to_mask(way)(q @ k.T / np.sqrt(4), np.array(mask)) @ v

    before, columns = output(*inputs), []
    for j in range(6):
        others = inputs.copy()
        for part in KINDS[kind]:
            others[part, j] = changed[part - 1, j]
        columns.append(np.linalg.norm(output(*others) - before, axis=1))
    return np.transpose(columns)


def change_all(figure, kind):
    """Change each position by keyboard, and return the distances shown."""
    figure.get_by_label(kind, exact=True).check()
    for j in range(1, 7):
        figure.get_by_role("button", name=f"Change position {j}").press("Enter")
    cells = figure.locator("tbody td").all_inner_texts()
    return np.array(cells, dtype=float).reshape(6, 6)


def test_what_moves_under_the_known_mask(figure, start):
    for kind in KINDS:
        np.testing.assert_allclose(change_all(figure, kind), moves(start, 0, kind), atol=0.00501)
    assert figure.locator(".live-sentence").inner_text() == (
        "Position 6, key alone: output 6 moves, outputs 1, 2, 3, 4 and 5 stay."
    )


def test_nothing_can_be_checked_before_there_is_an_answer(figure):
    check = figure.get_by_role("button", name="Check")
    answers = figure.get_by_role("group", name="Which mask is it?")
    figure.get_by_label("causal", exact=True).first.check()
    assert check.get_attribute("aria-disabled") == "true"
    assert answers.get_by_role("radio").first.is_disabled()
    assert "Choose a hidden one to answer." in answers.inner_text()
    check.press("Enter")
    assert figure.locator(".live-sentence").inner_text().startswith("This mask is known. Choose")
    figure.get_by_label("hidden mask 2").check()
    assert check.get_attribute("aria-disabled") == "true"
    answers.get_by_role("radio").first.check()
    assert check.get_attribute("aria-disabled") == "false"


def test_every_attention_differs_visibly(start):
    """So that what is seen decides, and each output that moves shows more than 0.00."""
    seen = set()
    for attention in range(len(start["attentions"])):
        parts = [moves(start, attention, kind) for kind in KINDS]
        seen.add(b"".join((part > MOVED).tobytes() for part in parts))
        assert all(part[part > MOVED].min() > 0.005 for part in parts)
    assert len(seen) == len(start["attentions"]) == 8


def test_the_hidden_masks_are_found_out_by_looking(figure, start):
    figure.get_by_role("button", name="Other hidden masks").click()
    names = [name for name, *_ in start["attentions"]]
    answers = figure.get_by_role("group", name="Which mask is it?")
    told = figure.locator(".live-sentence")
    found = []
    for number in range(1, 6):
        figure.get_by_label(f"hidden mask {number}").check()
        seen = [change_all(figure, kind) > 0.005 for kind in ("key alone", "value alone")]
        fits = [
            attention
            for attention in range(len(names))
            if all(
                np.array_equal(part, moves(start, attention, kind) > MOVED)
                for part, kind in zip(seen, ("key alone", "value alone"), strict=True)
            )
        ]
        (right,) = fits
        wrong = (right + 1) % len(names)
        answers.get_by_label(names[wrong], exact=True).check()
        figure.get_by_role("button", name="Check").press("Enter")
        assert told.inner_text().startswith("No. ")
        answers.get_by_label(names[right], exact=True).check()
        figure.get_by_role("button", name="Check").press("Enter")
        assert told.inner_text() == (
            f"Right, hidden mask {number} is: {names[right]}. Found: {number} of 5."
        )
        found.append(right)
    assert len(set(found)) == 5


def test_a_wrong_answer_is_met_by_what_was_seen(figure, start):
    """The second round: what would move under the answer, and does not, is named."""
    figure.get_by_role("button", name="Other hidden masks").click()
    figure.get_by_label("hidden mask 1").check()
    change_all(figure, "value alone")
    answers = figure.get_by_role("group", name="Which mask is it?")
    seen = np.array(figure.locator("tbody td").all_inner_texts(), dtype=float).reshape(6, 6) > 0.005
    for guess, (name, *_) in enumerate(start["attentions"]):
        answers.get_by_label(name, exact=True).check()
        figure.get_by_role("button", name="Check").click()
        text = figure.locator(".live-sentence").inner_text()
        expected = moves(start, guess, "value alone") > MOVED
        if (expected == seen).all():
            assert text.startswith("Right") or "fits" in text
            continue
        j, i = np.argwhere((expected != seen).T)[0]
        moved = "" if expected[i, j] else "not "
        assert f"changing position {j + 1} would {moved}move output {i + 1};" in text
