"""Interview questions have all parts, and their numbers equal plain computations."""

import math
import re

import numpy as np
import pytest

from tests.book.claims.arithmetic import shares, weights
from tests.book.claims.measured import agree, mean
from tests.book.claims.reading import estimates

PAGE = "interview"
PARTS = ["A good answer.", "Often heard.", "Why that is wrong."]


def listed(values, digits):
    return ", ".join(f"{x:.{digits}f}" for x in values).replace("-", "−")


def jacobian_norms(w):
    # ‖diag(w) − wwᵀ‖² = Σw² − 2Σw³ + (Σw²)²
    squares = (w**2).sum(axis=-1)
    return np.sqrt(np.maximum(squares - 2 * (w**3).sum(axis=-1) + squares**2, 0))


def test_every_answer_has_all_parts(article):
    questions = article.find_all("h3")
    assert len(questions) > 20
    for question in questions:
        answer = question.find_parent("section").find("details")
        assert answer, question.get_text()
        written = answer.get_text()
        assert [part for part in PARTS if part not in written] == [], question.get_text()
        derived = written.rpartition("Derived in")[2]
        assert derived, question.get_text()
        assert [a for a in answer.find_all("a") if "#" in a["href"]], question.get_text()


def test_the_required_questions_are_asked(article):
    asked = " ".join(h.get_text() for h in article.find_all("h3"))
    for words in (
        "QKᵀ mean", "softmax, and why after the scores", r"\(\sqrt{d_k}\) and not \(d_k\)",
        "second coordinate not 0", "three projections", "fully masked row",
        "in operations and in memory", "streaming attention stay exact",
    ):  # fmt: skip
        assert words in asked


def test_the_worked_example(text):
    scores = [s / math.sqrt(2) for s in (5, 2, -1)]
    w, second = shares(scores), [0, 8, 1]
    coordinate = sum(a * b for a, b in zip(w, second, strict=True))
    sigmoids = sum(1 / (1 + math.exp(-s)) for s in scores)
    for claim in (
        f"the three sigmoids sum to {sigmoids:.2f}",
        f"the weights {listed(w, 4)}",
        f"The second coordinate is {coordinate:.4f}, and of that {w[1]:.4f} · 8 = {w[1] * 8:.4f}",
        f"a key with {100 * w[1]:.0f} % of the weight brings {100 * w[1] * 8 / coordinate:.0f} %",
    ):
        assert claim in text


def test_tokens_of_equal_length_score_themselves_highest(text):
    own, other = re.search(r"highest: (\d+) on the diagonal .* at most (\d+) off it", text).groups()
    assert int(own) == 512  # the squared length, √512 · √512
    # Products of independent vectors have standard deviation √512; the margin is six of these.
    assert abs(int(other)) < 6 * math.sqrt(512) < int(own)


def test_divisors_at_width_64(text):
    assert "equal weights would be 0.1 each" in text
    flat, scaled = estimates(r"Divided by [^,]*, the largest weight is .*? plain mean", text)
    assert agree(flat, mean(weights(10, 64, 1 / 64).max(axis=-1)))
    assert agree(scaled, mean(weights(10, 64, 1 / 8).max(axis=-1)))


def test_how_far_scores_range(text):
    sd = math.sqrt(64)
    assert f"about 95 % lie within ±{2 * sd:.0f}." in text
    assert f"±64 is {64 / sd:.0f} standard deviations away, ±500 is {500 / sd:.1f}." in text
    within = math.erf(2 / math.sqrt(2))
    assert round(100 * within) == 95


def test_doubled_scores(text):
    once, twice = shares([2, 1])[0], shares([4, 2])[0]
    assert f"the larger weight goes from {once:.2f} to {twice:.2f}" in text


def test_jacobians_with_and_without_the_scale(text):
    raw, scaled = estimates(r"its median norm is .*? with it", text)
    at_64, at_512 = estimates(r"a norm below .*? at 512", text)
    (sharp,) = estimates(r"the largest of 64 is .*? on average", text)
    w = {d: weights(64, d, 1.0) for d in (64, 512)}
    norms = {d: jacobian_norms(w[d]) for d in w}
    medians = float(np.median(norms[64])), float(np.median(jacobian_norms(weights(64, 64, 1 / 8))))
    assert medians[0] > medians[1]
    assert agree(raw, (medians[0], 0.008))
    assert agree(scaled, (medians[1], 0.001))
    assert agree(at_64, mean(100.0 * (norms[64] < 0.01)))
    assert agree(at_512, mean(100.0 * (norms[512] < 0.01)))
    assert agree(sharp, mean(w[64].max(axis=-1)))
    assert re.search(r"and 0 in \d+ rows with the scale", text)
    for d in w:
        assert not (jacobian_norms(weights(64, d, 1 / math.sqrt(d))) < 0.01).any()


def test_the_width_under_the_root(text):
    assert f"By {math.sqrt(512 / 8):.0f}. A head compares vectors of width" in text
    assert f"Divided by {math.sqrt(512):.1f} the weights are too flat" in text
    assert f"in float32 above {math.log(np.finfo(np.float32).max):.1f}." in text


def test_masked_rows(text):
    scores = [2, 0.5, -1, 0]
    w = shares(scores)
    zeros_for_minus_infinity = shares([2, 0.5, 0, 0])
    assert f"the row sums to {w[0] + w[1]:.3f}" in text
    assert f"each hidden key keeps a weight of {zeros_for_minus_infinity[3]:.3f}" in text
    assert f"in float64 the unmasked weights [{listed(w, 3)}]" in text
    # Added to 1e9, a score is lost in float32 but not entirely in float64.
    assert len({float(np.float32(s) + np.float32(-1e9)) for s in scores}) == 1
    assert len({s - 1e9 for s in scores}) == 4


def test_one_query_behind_a_cache(text):
    cached, new = 10, 1
    assert f"may see all {cached + new} keys" in text
    assert f"lets it see {new} key." in text
    assert "a table of one row and eleven columns" in text


def test_costs(text):
    def attention(n, d):
        return 4 * n * n * d

    def projections(n, d):
        return 8 * n * d * d

    crossing = next(n for n in range(1, 10_000) if attention(n, 512) >= projections(n, 512))
    head, billion = attention(2048, 64), attention(2048, 512) / 1e9
    softmax = 5 * 2048**2
    blocks = [shares([1, 2]), shares([4, 0])]
    outputs = [
        sum(a * b for a, b in zip(w, v, strict=True))
        for w, v in zip(blocks, [(10, 20), (30, 40)], strict=True)
    ]
    together = shares([1, 2, 4, 0])
    exact = sum(a * b for a, b in zip(together, (10, 20, 30, 40), strict=True))
    n, d, hidden = 256, 64, 64
    # Two projections, then for each pair and hidden unit: add, tanh, multiply, add.
    additive = 2 * (2 * n * d * hidden) + 4 * n * n * hidden
    for claim in (
        f"which is {crossing} tokens at width 512",
        f"{8 * 2048**2 * 4 / 2**20:.0f} MiB for 8 heads, 2048 tokens and float32",
        f"the projections cost {projections(128, 512) / attention(128, 512):.0f} times as much",
        f"it does {100 * softmax / (softmax + head):.1f} % of the operations of one head",
        f"blocks’ outputs is {sum(outputs) / 2:.1f}, the right answer {exact:.1f}",
        f"the second block holds {100 * (together[2] + together[3]):.0f} % of the weight",
        f"that is {2 * 8192 * 4096 * 2 / 2**20:.0f} MiB in each layer",
        f"takes {additive / (2 * n * n * d):.1f} times the operations for 256 tokens",
        f"take {billion:.1f} billion operations with one head and {billion:.1f} with eight",
        "The softmax takes 8 times as many, and the weights 8 times the memory",
    ):
        assert claim in text


def test_a_text_costs_half_of_all_pairs():
    # The claim: n steps with a cache, where step i has i keys, take about 2·n²·d operations.
    n, d = 4000, 64
    assert sum(4 * i * d for i in range(1, n + 1)) == pytest.approx(2 * n * n * d, rel=1e-3)


def test_the_gradient_at_the_scores(text):
    w, g = [0.5, 0.25, 0.25], [1, 0, 0]
    shared = sum(a * b for a, b in zip(w, g, strict=True))
    right = [a * (b - shared) for a, b in zip(w, g, strict=True)]
    sigmoid = [a * (1 - a) * b for a, b in zip(w, g, strict=True)]
    assert f"it gives [{listed(sigmoid, 3)}]; right is [{listed(right, 3)}]." in text
    assert sum(right) == pytest.approx(0)


def test_dates(text):
    first, new = re.search(r"a preprint in (\d+)\..*, in (\d+)\.”", text).groups()
    assert int(new) - int(first) == 3
    assert "Attention itself was three years old." in text
