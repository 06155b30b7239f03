"""The numbers on the page on softmax saturation equal independent computations."""

import math
import re

import numpy as np
import pytest

from attn_lib.course.mistakes import catalogue
from attn_lib.course.targets import TARGETS
from tests.book.claims.arithmetic import softmax
from tests.book.claims.measured import assert_measured, assert_near
from tests.book.claims.reading import after, read

PAGE = "softmax-saturation"
SIZES = [(10, 64), (64, 64), (256, 64), (10, 512), (64, 512)]


@pytest.fixture(scope="module")
def rows():
    """Random rows and their derivatives, computed explicitly for each size and scale."""
    rng = np.random.default_rng(2024)
    found = {}
    for n, d in SIZES:
        q, k = (rng.standard_normal((800, m, d), np.float32) for m in (1, n))
        raw = (k @ q.swapaxes(1, 2))[..., 0].astype(float)
        g = rng.standard_normal((800, n))
        g /= np.linalg.norm(g, axis=-1, keepdims=True)
        right = np.eye(n)[rng.integers(n, size=800)]
        for name, c in (("unscaled", 1.0), ("scaled", d**-0.5)):
            w = softmax(raw * c)
            squares = w**2
            norm = (squares * (1 - w) ** 2).sum(-1) + squares.sum(-1) ** 2 - (w**4).sum(-1)
            u = (w * g) - w * (w * g).sum(axis=-1, keepdims=True)
            found[n, d, name] = {
                "largest": w.max(axis=-1),
                "jacobian": np.sqrt(np.maximum(norm, 0)),
                "query": c * np.linalg.norm((u[:, None].astype(np.float32) @ k)[:, 0], axis=-1),
                "entropy": np.linalg.norm(w - right, axis=-1),
                "sharing": 1 / squares.sum(axis=-1),
            }
    return found


def test_the_question_about_weights(text):
    w = softmax(np.array([[2.0, 0, 1], [0, 1, 3]]))
    assert f"these weights: {w.round(2).tolist()}" in text
    options = (w[0, 2], w[1, 1], w[1, 2], w[:, 2].sum())
    shown = text.partition("of query 2?")[2]
    for option in options:
        assert re.search(rf"[A-D]{option:.2f} ", shown)


def test_the_gradient_that_wants_the_worst_key(text):
    weights = [softmax(np.array([15.0, 12, 9]) / divisor)[2] for divisor in (1, 8)]
    raw, scaled = (w * (1 - w) for w in weights)  # diagonal of the Jacobian
    assert f"Key 3 hears {scaled / raw:.0f} times as much" in text


def test_two_and_three_keys(text, tables):
    with np.printoptions(precision=4, suppress=True):
        for scores in ([1.0, 5], [101.0, 105]):
            assert repr(softmax(np.array(scores))) in text
    assert "[0.018, 0.982]" in text
    rows = tables["key", "raw score", "weight", "divided by 8", "weight of these"]
    shown = np.array([[float(cell) for cell in row[1:]] for row in rows]).T
    scores = np.array([15.0, 12.0, 9.0])
    expected = (scores, softmax(scores), scores / 8, softmax(scores / 8))
    np.testing.assert_allclose(shown, expected, atol=0.0005)
    second = 1 / (1 + math.exp(-4))
    assert after(text, "alone,")[0] == round(math.exp(4), 1)
    assert after(text, "of the other key,")[0] == round(1 - second, 3)
    assert after(text, "a unit, at gap 8 by")[0] == round(math.exp(8) / (1 + math.exp(8)) ** 2, 4)
    assert after(text, "at gap 4 it rises by")[0] == round(second * (1 - second), 4)
    assert after(text, "1 to 8 the largest weight falls from")[0] == round(softmax(scores)[0], 3)
    assert f"to {softmax(scores / 8)[0]:.3f}, and the order" in text


def test_the_questions_before_the_live_figures(article):
    answers = [float(form["data-answer"]) for form in article.select(".attn-predict")]
    gap, largest = answers
    np.testing.assert_allclose(softmax(np.array([0, gap]) / 2), softmax(np.array([0.0, 4])))
    rows = np.random.default_rng(0).dirichlet(np.full(4, 0.2), 100_000)
    squared = (rows**2).sum(-1) - 2 * (rows**3).sum(-1) + (rows**2).sum(-1) ** 2
    assert largest - 0.01 < np.sqrt(squared.max()) <= largest


def test_two_keys_share_and_two_are_deaf(text):
    w = softmax(np.array([0.0, 0, -10, -10]))
    row = np.abs(w[2] * (np.eye(4)[2] - w))
    assert after(text, "against")[0] == round(math.sqrt(3) / 4, 3)
    assert f"each has the weight {w[2]:.6f}, and no entry" in text
    assert f"further from 0 than {row.max():.6f}." in text


def test_where_exp_overflows(tables, text):
    for name, _, logarithm, limit in tables["type", "ends near", "its logarithm", "limit of exp"]:
        dtype, value = np.dtype(name), float(limit)
        with np.errstate(over="ignore"):
            assert np.isfinite(np.exp(dtype.type(value - 0.05)))
            assert np.isinf(np.exp(dtype.type(value + 0.07)))
        assert float(logarithm.split()[0]) * math.log(2) == pytest.approx(value, abs=0.05)
    assert after(text, "counts, and not")[0] == 1024
    assert after(text, "counts, and not 1024 or")[0] == round(1024 * math.log10(2))


def test_sums_in_float16(text):
    total = np.float16(0)
    for _ in range(3000):
        total = np.float16(total + np.float16(1))
    assert after(text, "gets stuck at") == (total, 0)
    assert after(text, "their weights would sum to")[0] == round(3000 / float(total), 2)


def test_rows_that_overflow(tables, text):
    shown = {
        row[0]: (read(row[1]), int(row[2]))
        for row in tables["d_k", "% of rows that overflow", "of 3000"]
    }
    assert shown["64"] == ((0, 0), 0)
    for width, said in (("512", 0.7), ("1024", 29)):
        (percent, error), count = shown[width]
        assert count / 30 == pytest.approx(percent, abs=0.05)
        # Both are estimates from 3000 rows, and both were rounded.
        assert_near((percent, error), said, rounding=0.5)
    # The probability of no overflow in 3000 rows if one row in a thousand overflowed.
    assert 0.999**3000 < 1 / 20
    assert after(text, "A true share of") == (0.1, 0)
    assert "naive form fails in 3000 of the 3000 rows" in text
    assert after(text, "largest scaled score at width 1024 is")[0] < 11.1


COURSE = {  # n, d_k: largest weight without and with the scale
    (10, 64): (0.866, 0.32),
    (10, 512): (0.953, 0.32),
    (64, 64): (0.788, 0.11),
    (64, 512): (0.928, 0.11),
}


def test_the_largest_weights(tables, text, rows):
    table = tables["keys, d_k", "unscaled", "% above 99/100", "scaled"]
    assert len(table) == len(COURSE)
    for sizes, unscaled, sharp, scaled in table:
        n, d = map(int, sizes.split(", "))
        raw = rows[n, d, "unscaled"]["largest"]
        assert_measured(read(unscaled), raw)
        assert_measured(read(sharp), 100.0 * (raw > 0.99))
        assert_measured(read(scaled), rows[n, d, "scaled"]["largest"])
        for cell, said in zip((unscaled, scaled), COURSE[n, d], strict=True):
            assert_near(read(cell), said)
        assert (read(sharp)[0] > 50) == (d == 512)
        if d == 64:
            assert f"{read(sharp)[0]:.0f} % with {n}" in text


def test_the_size_of_the_jacobian(tables, text):
    rest = 0.1 / 63
    nine_tenths = [[0.9 * 0.1, -0.9 * rest], [-0.9 * rest, rest * (1 - rest)], [-rest * rest]]
    (first, cross), (_, own), (other,) = nine_tenths
    expected = {
        "equal": math.sqrt(63) / 64,
        "two share": 0.5,
        "one takes 9/10": math.sqrt(first**2 + 126 * cross**2 + 63 * own**2 + 63 * 62 * other**2),
        "one-hot": 0.0,
    }
    shown = dict(tables["weights of 64 keys", "norm of J"])
    assert shown == {name: f"{norm:.3f}" for name, norm in expected.items()}
    assert after(text, "make a softmax")[0] == round(expected["two share"] / expected["equal"], 1)
    # From equal to one-hot weights, the norm first rises and then falls.
    path = [
        TARGETS["softmax_jacobian_norm"](np.r_[p, np.full(63, (1 - p) / 63)])
        for p in (1 / 64, 0.5, 0.9, 1.0)
    ]
    assert path[0] < path[1] > path[2] > path[3] == 0


MEASURED = {  # keys, d_k, scores: median, mean (None: not in the course's table)
    "10, 64, unscaled": (0.076, 0.157),
    "10, 64, scaled": (0.347, 0.347),
    "64, 64, unscaled": (0.206, 0.214),
    "64, 64, scaled": (0.179, 0.183),
    "256, 64, unscaled": (0.265, 0.236),
    "256, 64, scaled": (0.097, None),
    "10, 512, unscaled": (0.0002, 0.063),
    "10, 512, scaled": (0.348, None),
    "64, 512, unscaled": (0.0037, 0.092),
    "64, 512, scaled": (0.180, None),
}


def test_the_jacobians(tables, rows):
    table = tables["keys, d_k, scores", "median", "mean", "% dead"]
    assert [row[0] for row in table] == list(MEASURED)
    for label, *cells in table:
        n, d, name = label.split(", ")
        sample = rows[int(n), int(d), name]["jacobian"]
        shown = [read(cell) for cell in cells]
        assert_measured(shown[0], sample, np.median)
        assert_measured(shown[1], sample)
        assert_measured(shown[2], 100.0 * (sample < 0.01))
        assert (shown[2] == (0, 0)) == (name == "scaled")
        for estimate, said in zip(shown, MEASURED[label], strict=False):
            if said is not None:
                assert_near(estimate, said)
    dead = {row[0]: read(row[3]) for row in table}
    for label, said in (("64, 64, unscaled", 16), ("64, 512, unscaled", 56)):
        assert_near(dead[label], said)


def test_the_gradients_at_the_query(tables, rows):
    medians = {"64, unscaled": 0.105, "64, scaled": 0.021, "512, unscaled": 0.005}
    means = {"512, unscaled": 0.212, "512, scaled": 0.022}
    sizes = tables["d_k, scores, 64 keys", "median", "mean"]
    shares = tables["d_k, scores, 64 keys", "% tiny", "% huge"]
    assert [row[0] for row in sizes] == [row[0] for row in shares] == [*medians, "512, scaled"]
    for (label, median, mean), (_, tiny, huge) in zip(sizes, shares, strict=True):
        d, name = label.split(", ")
        sample = rows[64, int(d), name]["query"]
        usual = np.median(rows[64, int(d), "scaled"]["query"])
        assert_measured(read(median), sample, np.median)
        assert_measured(read(mean), sample)
        assert_measured(read(tiny), 100.0 * (sample < usual / 10))
        assert_measured(read(huge), 100.0 * (sample > 10 * usual))
        for cell, said in ((median, medians.get(label)), (mean, means.get(label))):
            if said:
                assert_near(read(cell), said)


def test_statements_about_the_gradients(tables, text, rows):
    jacobians = {row[0]: row for row in tables["keys, d_k, scores", "median", "mean", "% dead"]}
    queries = {row[0]: row for row in tables["d_k, scores, 64 keys", "median", "mean"]}

    def number(cell, digits):
        """The number of a table's cell as the prose rounds it."""
        return f"{read(cell)[0]:.{digits}f}"

    true = text.partition("nothing vanishes across the board")[2].partition("One learning rate")[0]
    for start, label in (
        ("the Jacobian is", "64, 64, unscaled"),
        ("without the scale,", "64, 64, scaled"),
        ("difference is larger:", "256, 64, unscaled"),
        ("other way round:", "10, 64, unscaled"),
    ):
        assert f"{start} {number(jacobians[label][1], 2)}" in true
    larger = {
        n: read(jacobians[f"{n}, 64, unscaled"][1])[0] > read(jacobians[f"{n}, 64, scaled"][1])[0]
        for n in (10, 64, 256)
    }
    assert larger == {10: False, 64: True, 256: True}
    dead = [number(jacobians[f"64, {d}, unscaled"][3], 0) for d in (64, 512)]
    assert f"With 64 keys it is {dead[0]} % at width 64 and {dead[1]} % at 512" in true
    assert "there are 0 in 4000 at 512" in true
    for start, name in (("the median is", "scaled"), ("with the scale and", "unscaled")):
        assert_measured(after(true, start), rows[64, 64, name]["sharing"], np.median)

    for start, over, under, column in (
        ("unscaled gradient is", "64, unscaled", "64, scaled", 1),
        ("At 512 it is", "512, scaled", "512, unscaled", 1),
        ("the mean there is", "512, unscaled", "512, scaled", 2),
    ):
        ratio, error = after(true, start)
        (a, a_error), (b, b_error) = (read(queries[label][column]) for label in (over, under))
        assert ratio == pytest.approx(a / b, rel=0.02)
        assert error == pytest.approx(ratio * math.hypot(a_error / a, b_error / b), rel=0.25)
    cells = tables["d_k, scores, 64 keys", "% tiny", "% huge"][2][1:]
    tiny, huge = (number(cell, 0) for cell in cells)
    assert f"{tiny} % of the gradients are tiny, {huge} % are huge" in true
    assert "0 of 4000 are one or the other" in true
    pulls = []
    for d, words in ((64, "its gradient is at least"), (512, "at width 64, and at least")):
        usual = np.median(rows[64, d, "scaled"]["query"])
        pulls.append(np.quantile(rows[64, d, "unscaled"]["query"], 0.9) / usual)
        assert after(true, words)[0] == pytest.approx(pulls[-1], rel=0.15)
    assert pulls[1] > 1.3 * pulls[0]


def test_cross_entropy_does_not_vanish(text, rows):
    for start, name, said in (
        ("the mean length ‖", "unscaled", 1.21),
        ("without the scale and", "scaled", 0.99),
    ):
        shown = after(text.partition("the right one chosen at random")[2], start.rstrip("‖ "))
        assert_measured(shown, rows[10, 64, name]["entropy"])
        assert_near(shown, said)
    w = softmax(np.array([0.0, 10.0]))
    error = w - [1.0, 0.0]
    with np.printoptions(precision=4, suppress=True):
        shown = f"({error!r}, {w * (error - w @ error)!r})"
    assert " ".join(shown.split()) in text


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("tempered_softmax", (np.array([15.0, 12.0, 9.0]), 8.0)),
        ("log_sum_exp", (np.array([[1.0, 5.0], [1001.0, 1005.0]]),)),
        (
            "softmax_backward",
            (
                np.array([[0.5, 0.25, 0.25], [1 / 3] * 3]),
                np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]]),
            ),
        ),
        ("cross_entropy_gradient", (np.array([1.0, 5.0]), 0)),
    ],
)
def test_mistakes_show_their_results(tables, target, arguments):
    def shown(function):
        with np.errstate(all="ignore"):
            result = function(*arguments)
        first = result[0] if target == "softmax_backward" else result
        return "[" + ", ".join(f"{round(x, 3) + 0.0:.3f}" for x in first).replace("-", "−") + "]"

    table = tables["what the code does", "result"]
    right = shown(TARGETS[target])
    assert ("right", right) in table
    for mistake in catalogue(target):
        wrong = shown(mistake.wrong)
        assert (mistake.sentence, wrong) in table
        assert wrong != right
