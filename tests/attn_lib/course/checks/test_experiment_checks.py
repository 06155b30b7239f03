"""The reports of checks on estimates and drawings."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attn_lib.course.checks import Checks, Image, Line
from attn_lib.course.checks.core import STANDARD_ERRORS
from attn_lib.course.checks.drawings import Drawing, as_drawing
from attn_lib.course.targets.scatter import scatter_problem
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

    def test_exchanged_axes_are_named_only_if_both_numbers_are_there(self):
        wide = np.array([2.0, 8.0])
        root = {"root": Line(wide, target="score_sd", args=[(2,), (8,)])}

        def told(*numbers):
            return drawn(lambda: plt.subplots()[1].plot(*numbers, label="root")[0].axes, lines=root)

        assert told(wide, wide**0.5) == "ok"
        assert "line 'root': its x and y are exchanged: in ax.plot(x, y)" in told(wide**0.5, wide)
        assert "line 'root', x: entry [0]: expected 2, got 0" in told(wide)

    def test_exchanged_labels_are_named_in_place_of_a_cause(self):
        told = drawn(lambda: draw(raw=(1, 1, 1), scaled=XS), lines=LINES)
        assert "line 'raw': its numbers stand in the line labelled 'scaled'. Are the" in told
        assert "line 'scaled': its numbers stand in the line labelled 'raw'" in told
        assert "see the book" not in told
        assert "stand in" not in drawn(lambda: draw(raw=XS, scaled=(2, 2, 2)), lines=LINES)

    def test_required_linear_axes(self):
        assert drawn(lambda: draw(log=""), logarithmic="") == "ok"
        assert "expected a linear x axis, got log" in drawn(draw, logarithmic="")

    def test_an_image(self):
        weights = np.array([[0.25, 0.75], [0.5, 0.5]])
        image = Image(target="softmax", args=(np.log(weights),))
        assert drawn(lambda: draw(log="", image=weights), image=image) == "ok"
        told = drawn(lambda: draw(log="", image=weights.T), image=image)
        assert "f, image: entry [0, 1]: expected 0.75, got 0.5" in told
        assert "expected one image, found none: ax.imshow(...)." in drawn(draw, image=image)

        def twice():
            return draw(log="", image=weights).imshow(weights).axes

        assert "expected one image, found 2: ax.imshow(...)." in drawn(twice, image=image)

    def test_an_image_names_its_cause(self):
        scores = np.array([[0.0, 2.0], [1.0, 1.0]])
        image = Image(target="softmax", args=(scores,))
        overall = np.exp(scores) / np.exp(scores).sum()
        assert "(softmax-over-everything; see" in drawn(lambda: draw(image=overall), image=image)

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (
                lambda ax: ax.set_xlim(2, 16),
                "its x axis goes from 2 to 16, what is drawn from 1 to",
            ),
            (lambda ax: ax.set_ylim(1e-20, 1e20), "choose limits that show it"),
            (lambda ax: ax.axis("off"), "both axes are turned off"),
            (lambda ax: ax.set_visible(False), "both axes are turned off"),
            (lambda ax: ax.yaxis.set_visible(False), "its y axis is turned off"),
            (lambda ax: ax.plot(XS, XS, label="raw"), "expected one line labelled 'raw', found 2"),
            (lambda ax: ax.lines[0].set_visible(False), "labelled 'raw' cannot be seen"),
            (lambda ax: ax.lines[0].set_alpha(0), "labelled 'raw' cannot be seen"),
            (lambda ax: ax.lines[0].set_linewidth(0), "labelled 'raw' cannot be seen"),
            (lambda ax: ax.lines[0].set_linestyle(""), "labelled 'raw' cannot be seen"),
            (lambda ax: ax.lines[0].set_color("w"), "labelled 'raw' cannot be seen"),
            (lambda ax: ax.lines[0].set_color("none"), "labelled 'raw' cannot be seen"),
            (lambda ax: ax.set_xticklabels([]), "its x axis shows no numbers"),
            (lambda ax: ax.tick_params(labelleft=False), "its y axis shows no numbers"),
            (
                lambda ax: ax.tick_params(labelleft=False, labelbottom=False),
                "its axes show no numbers",
            ),
            (lambda ax: ax.yaxis.label.set_visible(False), "its y axis has no label"),
        ],
    )
    def test_what_cannot_be_seen_is_reported(self, change, told):
        def changed():
            ax = draw()
            change(ax)
            return ax

        assert told in drawn(changed)

    def test_numbers_on_the_other_side_and_white_lines_on_black_can_be_seen(self):
        def other():
            ax = draw()
            ax.tick_params(labelbottom=False, labeltop=True, labelleft=False, labelright=True)
            ax.set_facecolor("k")
            for line in ax.lines:
                line.set_color("w")
            return ax

        assert drawn(other) == "ok"

    def test_a_number_at_one_tick_is_enough(self):
        def other():
            ax = draw()
            ax.set_xticks([2, 4], ["", "4"])
            ax.set_yticks([])
            ax.set_yticks([1, 10], ["", "10"], minor=True)
            return ax

        assert drawn(other) == "ok"

    @pytest.mark.parametrize(
        "hide", [lambda image: image.set_clim(2, 3), lambda image: image.set_alpha(0)]
    )
    def test_an_image_that_shows_nothing_is_reported(self, hide):
        weights = np.array([[0.25, 0.75], [0.5, 0.5]])
        image = Image(target="softmax", args=(np.log(weights),))

        def hidden():
            ax = draw(log="", image=weights)
            hide(ax.images[0])
            return ax

        assert "its image cannot be seen" in drawn(hidden, image=image)

    def test_an_image_of_equal_numbers_may_have_one_colour(self):
        weights = np.full((2, 2), 0.5)
        image = Image(target="softmax", args=(np.log(weights),))
        assert drawn(lambda: draw(log="", image=weights), image=image) == "ok"

    def test_points_without_a_line_can_be_seen(self):
        def points():
            ax = draw()
            for line in ax.lines:
                line.set(linestyle="", marker="o")
            return ax

        assert drawn(points) == "ok"

    def test_each_point_of_a_positive_line_has_its_own_tolerance(self):
        told = drawn(lambda: draw(scaled=(1, 1.0002, 1), raw=XS))
        assert "line 'scaled', y: entry [1]: expected 1, got 1.0002" in told
        wide = np.array([1.0, 1e6])
        args = [(x,) for x in wide.tolist()]
        line = {"raw": Line(wide, target="score_variance", args=args)}
        right = lambda: draw(raw=wide, scaled=wide, xs=wide)  # noqa: E731
        assert drawn(right, lines=line) == "ok"
        told = drawn(lambda: draw(raw=wide + 1e-3, scaled=(1, 1), xs=wide), lines=line)
        assert "entry [0]: expected 1, got 1.001" in told

    def test_required_words_in_labels(self):
        words = {"x": "d_k", "y": "Variance"}
        assert drawn(draw, labelled=words) == "ok"
        assert drawn(lambda: draw(labels=("width D_K", "its variance")), labelled=words) == "ok"
        told = drawn(lambda: draw(labels=("variance", "d_k")), labelled=words)
        assert "the labels of its two axes are swapped: 'd_k' belongs to the x axis." in told
        told = drawn(lambda: draw(labels=("variance", "variance")), labelled=words)
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

    def test_checks_with_the_same_arguments_look_at_one_drawing(self):
        widths = []

        def noted(xs, n):
            widths.append((xs, n))
            return draw(xs=xs)

        check = Checks({"f": noted, "g": noted})
        check.part("lines", points=1)
        check.drawing("f", XS, 2, lines={"raw": LINES["raw"]})
        check.part("axes", points=1)
        check.drawing("f", XS, 2, logarithmic="xy", labelled=True)
        check.drawing("f", list(XS), 2, lines={"scaled": LINES["scaled"]})
        assert widths == [(XS, 2)]
        check.drawing("f", XS, 2.0, labelled=True)
        check.drawing("f", np.array(XS), 2, labelled=True)
        check.drawing("f", np.array(XS, np.float32), 2, labelled=True)
        check.drawing("f", np.array(XS) + 1e-12, 2, labelled=True)
        check.drawing("g", XS, 2, labelled=True)
        assert len(widths) == 6
        assert all(part.passed for part in check.parts)

    def test_two_drawings_are_kept_and_earlier_ones_forgotten(self):
        numbers = []

        def noted(n):
            numbers.append(n)
            return draw()

        check = Checks({"f": noted})
        check.part("lines", points=1)
        for n in (1, 2, 1, 2, 3, 2, 1):
            check.drawing("f", n, labelled=True)
        assert numbers == [1, 2, 3, 1]

    def test_a_drawing_that_fails_is_asked_for_again(self):
        check = Checks({"f": lambda: 1 / 0})
        check.part("axes", points=1)
        check.drawing("f", labelled=True)
        check.part("lines", points=1)
        check.drawing("f", lines=LINES)
        for part in check.parts:
            assert "ZeroDivisionError" in part.findings[0].message

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


class TestReturns:
    """A property of what a function returns."""

    @staticmethod
    def told(function) -> str:
        def problem(numbers):
            return "" if numbers[0] < numbers[1] else f"it falls from {numbers[0]:g}."

        return verdict("returns", function, 3, shape=(2,), problem=problem)

    def test_a_property_holds_or_is_reported(self):
        assert self.told(lambda n: [1, n]) == "ok"
        assert self.told(lambda n: np.array([7, n])).endswith("f: it falls from 7.")

    @pytest.mark.parametrize(
        ("function", "told"),
        [
            (lambda n: [1.0], "expected 2 numbers, got 1."),
            (lambda n: None, "expected 2 numbers, got None."),
            (lambda n: [1.0, np.nan], "expected finite numbers, got nan"),
            (lambda n: 1 / 0, "it raised ZeroDivisionError"),
        ],
    )
    def test_other_results_do_not_reach_the_property(self, function, told):
        assert told in self.told(function)


class TestScatter:
    """Right experiments pass; the bound is for one false alarm in a billion."""

    SEEDS = 400

    def estimates(self, d_k, n, scores_of):
        draws = (np.random.default_rng(seed) for seed in range(self.SEEDS))
        return np.array([np.var(scores_of(rng, n, d_k)) for rng in draws])

    def test_a_right_experiment_passes(self):
        def scores(rng, n, d_k):
            return (rng.normal(size=(n, d_k)) * rng.normal(size=(n, d_k))).sum(axis=1)

        for d_k, n in ((1, 10), (2, 2), (7, 5)):
            given = self.estimates(d_k, n, scores)
            assert scatter_problem(given, d_k, 1.0, n) == ""
            assert scatter_problem(given / 9, d_k, 3.0, n) == ""
            assert scatter_problem(given, d_k, 3.0, n) != ""

    def test_a_share_is_told_where_it_is_furthest_off(self):
        def half(rng, n, d_k):
            return (rng.normal(size=(n // 2, d_k)) * rng.normal(size=(n // 2, d_k))).sum(axis=1)

        told = scatter_problem(self.estimates(2, 2, half), 2, 1.0, 2)
        assert told == "100 % of 400 estimates are at most 0; in right experiments 0 % are."


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
