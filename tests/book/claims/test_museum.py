"""What the museum says of the ten exhibits to begin with is true of the mistakes themselves."""

import numpy as np
import pytest

from attn_lib.course.mistakes import catalogue
from attn_lib.course.museum import wing
from attn_lib.course.targets import TARGETS

PAGE = "museum"
MISTAKES = {mistake.id: mistake for mistake in catalogue()}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def right_and_wrong(id, *arguments):
    mistake = MISTAKES[id]
    with np.errstate(over="ignore", invalid="ignore"):
        return TARGETS[mistake.target](*arguments), mistake.wrong(*arguments)


def agree(id, *arguments):
    return np.allclose(*right_and_wrong(id, *arguments))


def qkv(rng, n_q, n_k, d_k, d_v):
    return [rng.normal(size=size) for size in ((n_q, d_k), (n_k, d_k), (n_k, d_v))]


def test_ten_exhibits_of_several_wings_are_linked(article):
    items = article.find(id="ten-to-begin-with").select("ol > li")
    shown = [(item.a.get_text(), item.a["href"]) for item in items]
    assert len(dict(shown)) == 10
    assert all(href == f"museum-{wing(MISTAKES[id].target)}.html#{id}" for id, href in shown)
    assert len({wing(MISTAKES[id].target) for id, _ in shown}) >= 4
    assert all(item.get_text().strip().endswith(".") for item in items)


def test_right_by_luck(rng):
    assert agree("scale-by-number-of-keys", *qkv(rng, 3, 5, 5, 2))
    assert not agree("scale-by-number-of-keys", *qkv(rng, 3, 5, 7, 2))
    assert agree("softmax-that-overflows", rng.normal(size=(3, 5)))
    assert not agree("softmax-that-overflows", 1000 + rng.normal(size=(3, 5)))
    assert agree("cache-mask-aligned-at-the-start", 5, 5)
    assert not agree("cache-mask-aligned-at-the-start", 1, 5)


def test_the_first_block_with_the_largest_score_hides_a_forgotten_sum(rng):
    q, k, v = qkv(rng, 3, 5, 7, 2)
    q[:, 0], k[:, 0] = 5.0, 0.0
    k[0, 0] = 5.0
    assert agree("running-sum-not-rescaled", q, k, v, 2)
    assert not agree("running-sum-not-rescaled", q, k[::-1], v, 2)


def test_sums_and_shapes_that_look_right(rng):
    _, too_sharp = right_and_wrong("no-scale", *qkv(rng, 3, 5, 7, 2)[:2], np.ones((5, 1)))
    np.testing.assert_allclose(too_sharp, 1)  # what rows of weights sum to
    _, by_column = right_and_wrong("softmax-over-queries", rng.normal(size=(3, 5)))
    np.testing.assert_allclose(by_column.sum(axis=0), 1)
    right, dealt_out = right_and_wrong("heads-by-reshape-alone", np.arange(24).reshape(3, 8), 2)
    assert dealt_out.shape == right.shape
    assert not set(dealt_out[0].ravel()) <= set(right[0].ravel())
