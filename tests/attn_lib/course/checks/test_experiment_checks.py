"""The reports of checks on estimates and drawings."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attn_lib.course.checks import Checks, Line
from attn_lib.course.checks.core import STANDARD_ERRORS
from attn_lib.course.checks.drawings import Drawing, as_drawing
from attn_lib.estimates import variance_noise
from tests.attn_lib.course.checks.telling import verdict

D_K, N = 7, 4000
STANDARD_ERROR = D_K * variance_noise(D_K, N)


def estimated(function, **options) -> str:
    given = {"seeds": (1, 2), "target": "score_variance", "target_args": (D_K,)}
    return verdict("estimate", function, D_K, N, **given, standard_error=STANDARD_ERROR, **options)


def variance_of(draws):
    def estimate(d_k, n, seed):
        q, k = draws(np.random.default_rng(seed), d_k, n)
        return np.var((q * k).sum(axis=-1))

    return estimate


def normal(rng, d_k, n):
    return rng.normal(size=(2, n, d_k))


class TestEstimate:
    def test_an_experiment_passes(self):
        assert estimated(variance_of(normal)) == "ok"

    def test_right_answers_pass_with_any_seed(self):
        """At five standard errors, one in two million right answers fails; 600 are tried."""
        for seed in range(300):
            given = {"seeds": (2 * seed, 2 * seed + 1), "target": "score_variance"}
            told = verdict(
                "estimate",
                variance_of(normal),
                D_K,
                200,
                **given,
                target_args=(D_K,),
                standard_error=D_K * variance_noise(D_K, 200),
            )
            assert told == "ok"

    def test_a_mistake_in_it_is_named(self):
        def spread(d_k, n, seed):
            return np.sqrt(variance_of(normal)(d_k, n, seed))

        told = estimated(spread)
        assert "sd-for-variance; see the book, variance-growth#" in told
        assert f"f for {D_K}, {N}, 1: expected 7, got 2.6" in told

    def test_a_mistake_in_a_larger_noisier_result_is_named(self):
        def sum_of_variances(d_k, n, seed):
            q, k = normal(np.random.default_rng(seed), d_k, n)
            return np.var((q + k).sum(axis=-1))

        assert "variances-added; see the book" in estimated(sum_of_variances)

    def test_the_bound_is_in_standard_errors(self):
        def off(errors):
            return lambda d_k, n, seed: d_k + STANDARD_ERROR * (errors - 0.01 * seed)

        assert estimated(off(STANDARD_ERRORS)) == "ok"
        assert "expected 7, got 7." in estimated(off(STANDARD_ERRORS + 0.1))

    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda d_k, n, seed: float(d_k), "it gave 7 for two different seeds. Draw random"),
            (lambda d_k, n, seed: np.random.default_rng().normal(), "for the same seed. Draw from"),
            (lambda d_k, n, seed: [1.0, 2.0], "expected shape () (a single number), got (2,)."),
            (lambda d_k, n, seed: None, "expected a number, got None. Is there a `return`"),
            (lambda d_k, n: 1.0, "it raised TypeError"),
            (3.0, "f: expected a function, got float."),
        ],
    )
    def test_invalid_experiments_are_reported(self, function, told):
        assert told in estimated(function)


XS = [1, 4, 16]
LINES = {
    "raw": Line(XS, target="score_variance", args=[(x,) for x in XS]),
    "scaled": Line(XS, target="scaled_variance", args=[(x, x**0.5) for x in XS]),
}


def draw(raw=XS, scaled=(1, 1, 1), xs=XS, log="xy", labels=("d_k", "variance"), image=None):
    _, ax = plt.subplots()
    if raw is not None:
        ax.plot(xs, raw, label="raw")
    ax.plot(xs, scaled, label="scaled")
    if image is not None:
        ax.imshow(image)
    for axis in log:
        getattr(ax, f"set_{axis}scale")("log")
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    return ax


def drawn(function, **options) -> str:
    given = options if options else {"lines": LINES, "logarithmic": "xy", "labelled": True}
    return verdict("drawing", function, **given)


class TestDrawing:
    @pytest.mark.parametrize(
        "function",
        [
            draw,
            lambda: draw().figure,
            lambda: draw(xs=XS[::-1], raw=XS[::-1]),
            lambda: draw(np.array(XS, dtype=np.float32), labels=("number of entries", "Varianz")),
        ],
    )
    def test_right_in_any_form(self, function):
        assert drawn(function) == "ok"

    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda: draw(raw=[1, 2, 4]), "line 'raw', y: entry [1]: expected 4, got 2 (2 of 3"),
            (lambda: draw(raw=[1, 2, 4]), "(sd-for-variance; see the book"),
            (lambda: draw(xs=[1, 4, 17]), "line 'raw', x: entry [2]: expected 16, got 17"),
            (lambda: draw(xs=[1, 4], raw=[1, 4], scaled=[1, 1]), "expected 3 numbers, got 2."),
            (lambda: draw(raw=None), "expected a line labelled 'raw', found lines labelled 'sc"),
            (lambda: plt.subplots()[1].loglog() or plt.gca(), "found no line with a label."),
            (lambda: plt.subplots()[1], "expected lines or an image in its axes, found neither."),
            (lambda: plt.subplots()[1].plot(1, 1)[0].axes, "image in its axes, found neither."),
            (lambda: draw(log="x"), 'a log y axis, got linear: ax.set_yscale("log").'),
            (lambda: draw(labels=("", "y")), "its x axis has no label: ax.set_xlabel(...)."),
            (lambda: draw(labels=("x", " ")), "its y axis has no label: ax.set_ylabel(...)."),
            (lambda: None, "expected the Axes that it drew into, got NoneType. Is there a `return"),
            (lambda: plt.subplots(1, 2)[0], "expected the Axes that it drew into, got Figure."),
            (lambda: draw(1, 2, 3, 4, 5, 6), "it raised TypeError"),
        ],
    )
    def test_a_wrong_drawing_is_reported(self, function, told):
        assert told in drawn(function)

    def test_required_linear_axes(self):
        assert drawn(lambda: draw(log=""), logarithmic="") == "ok"
        assert "expected a linear x axis, got log" in drawn(draw, logarithmic="")

    def test_an_image(self):
        weights = np.array([[0.25, 0.75], [0.5, 0.5]])
        assert drawn(lambda: draw(log="", image=weights), image=weights) == "ok"
        told = drawn(lambda: draw(log="", image=weights.T), image=weights)
        assert "f, image: entry [0, 1]: expected 0.75, got 0.5" in told
        assert "expected an image, found none: ax.imshow(...)." in drawn(draw, image=weights)

    def test_required_words_in_labels(self):
        words = {"x": "d_k", "y": "Variance"}
        assert drawn(draw, labelled=words) == "ok"
        assert drawn(lambda: draw(labels=("width D_K", "its variance")), labelled=words) == "ok"
        told = drawn(lambda: draw(labels=("variance", "d_k")), labelled=words)
        assert "expected 'd_k' in the label of the x axis, got 'variance'" in told
        told = drawn(lambda: draw(labels=("", "variance")), labelled=words)
        assert "its x axis has no label: ax.set_xlabel('d_k')." in told

    def test_scales_and_labels_are_reported_as_right_or_wrong(self):
        check = Checks({"f": draw})
        check.part("axes", points=1)
        check.drawing("f", logarithmic="xy", labelled=True)
        assert not any(finding.only_form for finding in check.parts[0].findings)

    def test_attn_lib_may_help_to_draw(self):
        from attn_lib import softmax

        def with_help():
            softmax(np.ones(3))
            return draw()

        assert drawn(with_help) == "ok"

    def test_a_check_of_nothing_is_an_authoring_error(self):
        with pytest.raises(
            ValueError, match="expected lines, image, logarithmic or labelled, got none"
        ):
            drawn(draw, lines=None)

    def test_figures_are_closed(self):
        plt.close("all")
        assert drawn(draw) == "ok"
        assert plt.get_fignums() == []


def test_a_drawing_is_data():
    drawing = as_drawing(draw(image=np.eye(2)))
    assert isinstance(drawing, Drawing)
    assert (drawing.x_label, drawing.y_scale) == ("d_k", "log")
    assert [curve.label for curve in drawing.curves] == ["raw", "scaled"]
    np.testing.assert_array_equal(drawing.curves[0].y, XS)
    np.testing.assert_array_equal(drawing.images[0], np.eye(2))


BORROWED = {
    "a function": ("from attn_lib.softmax import softmax", "softmax([1.0])"),
    "of a module": ("import attn_lib.softmax as theirs", "theirs.softmax([1.0])"),
    "in the function": (
        "",
        "__import__('sys'); from attn_lib.softmax import softmax; softmax([1.0])",
    ),
    "a target": ("from attn_lib.course.targets import TARGETS", "TARGETS['softmax']([1.0])"),
    "in a helper": (
        "from attn_lib.softmax import softmax\ndef helper():\n    return softmax([1.0])",
        "helper()",
    ),
    "in a function of its own": (
        "from attn_lib.softmax import softmax",
        "(lambda: softmax([1.0]))()",
    ),
}


@pytest.mark.parametrize(("above", "use"), BORROWED.values(), ids=BORROWED)
def test_a_drawing_that_uses_an_answer_earns_nothing(above, use):
    names = {"plt": plt}
    exec(f"{above}\ndef draw():\n    {use}\n    ax = plt.subplots()[1]\n    return ax", names)
    told = verdict("drawing", names["draw"], name="draw", labelled=True)
    assert "draw: it calls attn_lib's own " in told


def test_a_drawing_may_use_what_is_given_for_figures():
    names = {"plt": plt}
    above = "from attn_lib.figures.style import course_style\nimport attn_lib"
    exec(f"{above}\ndef draw():\n    course_style\n    return plt.subplots()[1]", names)
    assert "attn_lib's own" not in verdict("drawing", names["draw"], name="draw", labelled=True)
