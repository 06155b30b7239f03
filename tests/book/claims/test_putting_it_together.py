"""The numbers on the page `putting-it-together` equal those that attn_lib computes."""

import numpy as np
import pytest

from attn_lib import (
    attention_backward,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
)
from attn_lib.course import mistakes
from attn_lib.model import encode, forward, trained_model
from tests.book.claims.reading import options_of
from tests.differences import central_differences

PAGE = "putting-it-together"


def test_every_number_shown_is_a_python_number(page):
    assert {type(value) for value in page["glued"].values()} <= {int, float}


def test_one_head_mixes_what_two_heads_separate(page):
    e4 = np.exp(4)
    glued = page["glued"]
    assert glued["mixed"] == pytest.approx((30 * e4 + 40) / (2 * e4 + 1))
    assert glued["from_a"] == pytest.approx((10 * e4 + 60) / (e4 + 2))
    assert glued["from_b"] == pytest.approx((20 * e4 + 50) / (e4 + 2))


def test_two_heads_of_the_model_do_different_work(page):
    glued = page["glued"]
    tea, dog = [], []
    for text, query, key, weights in (
        ("ada tea", 1, 0, tea),
        ("the cats near the dog", 4, 1, dog),
    ):
        trace = forward(trained_model(), encode(text))
        for q, k in zip(trace["layer1.q"], trace["layer1.k"], strict=True):
            weights.append(softmax((k @ q[query]).astype(float) / 4)[key])
    for head in (0, 1):
        assert glued[f"tea_to_ada_{head + 1}"] == pytest.approx(tea[head], abs=1e-4)
        assert glued[f"dog_to_cats_{head + 1}"] == pytest.approx(dog[head], abs=1e-4)
    assert tea[0] > 0.8 > 0.2 > tea[1]
    assert dog[1] > 0.8 > 0.2 > dog[0]


def test_the_first_transformer_divided_by_8(page):
    assert page["glued"]["base_root"] == 8
    assert page["glued"]["base_wrong"] == pytest.approx(16 * np.sqrt(2))


def test_the_gradient_by_hand(page):
    glued = page["glued"]
    powers = np.exp(np.array([5, 2, -1]) / np.sqrt(2))
    values = np.array([10, 0, 1])
    weights = powers / powers.sum()
    output = weights @ values
    assert glued["by_hand_output"] == pytest.approx(output)
    for j in range(3):
        assert glued[f"hand_weight_{j + 1}"] == pytest.approx(weights[j])
        # The derivative of a choice between two: key j and all other keys.
        others = (output - weights[j] * values[j]) / (1 - weights[j])
        slope = weights[j] * (1 - weights[j]) * (values[j] - others)
        assert glued[f"hand_score_{j + 1}"] == pytest.approx(slope)
    raised = powers * np.exp([0.1, 0, 0])
    assert glued["hand_raised"] == pytest.approx(raised @ values / raised.sum())
    assert glued["hand_per_unit"] == pytest.approx(10 * (glued["hand_raised"] - output))
    k = np.array([[2, 1], [1, 0], [0, -1]])

    def output_of(q, k):
        powers = np.exp(k @ q / np.sqrt(2))
        return powers @ values / powers.sum()

    at_query = central_differences(lambda q: output_of(q, k), np.array([2.0, 1.0]))
    at_keys = central_differences(lambda k: output_of(np.array([2.0, 1.0]), k), k * 1.0)
    np.testing.assert_allclose(page["at_query"], at_query, atol=1e-8)
    np.testing.assert_allclose(page["at_keys"], at_keys, atol=1e-8)


def test_gradients_in_the_table_match_differences(page):
    assert [*page["checks"]] == [
        *("dV", "dW", "dS", "dQ", "dK"),
        *("dx", "dc", "dW_Q", "dW_K", "dW_V", "dW_O"),
    ]
    for name, (gradient, loss, array) in page["checks"].items():
        np.testing.assert_allclose(
            gradient, central_differences(loss, array), atol=1e-8, err_msg=name
        )


def test_errors_fall_and_rise_where_the_page_says(page):
    glued, exponents = page["glued"], np.array(page["exponents"])
    errors = {name: np.array(curve) for name, curve in page["errors"].items()}
    assert glued["order_central"] == pytest.approx(2, abs=0.01)
    assert glued["order_forward"] == pytest.approx(1, abs=0.01)
    assert exponents[errors["central"].argmin()] in (-5, -4)
    at = dict(zip(exponents, errors["central"], strict=True))
    assert at[-5] < 10**-9.5
    assert 1e-4 < at[-12] < 1e-2
    single = dict(zip(exponents, errors["central in float32"], strict=True))
    assert exponents[errors["central in float32"].argmin()] == -2
    assert single[-6] > 0.3
    wrong = errors["wrong formula"][exponents > -10]
    np.testing.assert_allclose(wrong, np.sqrt(7) - 1, rtol=1e-2)
    assert glued["wrong_percent"] == pytest.approx(100 * (np.sqrt(7) - 1), abs=1e-4)
    assert f"{glued['best_step_64']:.0f} {glued['best_step_32']:.0f}" == "7 6"
    for name, digits, unit in (("best_step_64", 53, 1e-6), ("best_step_32", 24, 1e-3)):
        h = unit * glued[name] * np.array([0.9, 1, 1.1])
        total = h**2 / 6 + 2.0**-digits / h
        assert total.argmin() == 1


def test_powers_of_ten_in_the_texts_do_not_depend_on_rounding(page):
    for name, curve in page["errors"].items():
        powers = np.log10(curve)
        told = powers[powers < -0.5]
        rounded = told[np.abs(told - np.round(told)) > 0.4]
        # On another processor, rounding errors change the exponent by 0.1 or 0.2.
        assert len(rounded) == 0, (name, rounded)


def test_the_prose_describes_the_tables_correctly(page):
    different, alike = (3, 5, 7, 2, 4, 20, 9), [4] * 7
    effect = page["effect"]

    def effects(sizes, *targets):
        found = [m for t in targets for m in mistakes.catalogue(t)]
        return {m.id: effect(m, sizes).replace("\u00a0", " ") for m in found}

    formula = "attention_formula"
    assert [*effects(different, formula).values()].count("does not run") == 1
    assert all(e.startswith("off by") for e in effects(alike, formula).values())

    heads = "split_heads", "merge_heads", "multi_head_attention"
    assert "**right**" not in effects(different, *heads).values()
    right = [id for id, e in effects(alike, *heads).items() if e == "**right**"]
    assert right == ["heads-scaled-by-model-width"]

    gradients = [f"{name}_gradient" for name in ("value", "weights", "query", "key")]
    with_all, with_4 = effects(different, *gradients), effects(alike, *gradients)
    for id, factors in {
        "value-gradient-averaged": (1 / 3, 1 / 4),
        "query-gradient-without-scale": (np.sqrt(7), 2),
        "query-gradient-scaled-twice": (1 / np.sqrt(7), 1 / 2),
        "key-gradient-without-scale": (np.sqrt(7), 2),
    }.items():
        for found, factor in zip((with_all, with_4), factors, strict=True):
            assert found[id] == f"off by {100 * abs(factor - 1):.0f} %"
    for hidden in ("value-gradient-not-transposed", "key-gradient-not-transposed"):
        assert with_all[hidden] == "does not run"
        assert with_4[hidden].startswith("off by")


def test_only_one_divisor_keeps_the_sharpness_of_heads(page):
    draw = page["heads_at_fixed_width"]
    one, eight = (draw(n_heads=n)[0].axes[1].patches for n in (1, 8))
    right, joint, model = ((a.get_width(), b.get_width()) for a, b in zip(one, eight, strict=True))
    assert right[1] > 0.95 * right[0]
    for before, after in (joint, model):
        assert 1 / 20 < after < 0.5 * before


def test_the_right_options_of_the_quizzes(root, page):
    hidden = np.triu(np.ones((7, 7)), k=1).sum()
    layer = multi_head_attention(
        *np.ones((1, 3, 96)), *np.ones((2, 96, 160)), np.ones((96, 80)), np.eye(80, 96),
        n_heads=8, return_trace=True,
    )  # fmt: skip
    for quiz, answer in {
        "head-variance-again": f"{6 * 6}",
        "future-weights-again": f"{hidden:.0f}",
        "root-of-which-width": rf"$\sqrt{{{layer.q.shape[-1]}}}$",
        "shape-of-w-o": f"({layer.merged.shape[-1]}, {layer.output.shape[-1]})",
        "gradient-of-a-value": "{glue:text}`share_sum:.1f`",
        "all-values-alike": "0 for every score",
    }.items():
        assert options_of(root, PAGE, quiz)[1] == answer
    glued = page["glued"]
    assert glued["share_sum"] == pytest.approx(np.array([0.3, 0.6]) @ [1, 2])
    assert glued["share_mean"] == pytest.approx(glued["share_sum"] / 2)
    assert glued["share_plain"] == pytest.approx(0.9)
    assert glued["cube_slope"] == 27
    alike = attention_backward(page["grad_o"], page["q"], page["k"], np.full((5, 2), 3.0))
    np.testing.assert_allclose(alike.scores, 0, atol=1e-14)


def test_one_formula_of_the_quiz_is_attention(root):
    options, right = options_of(root, PAGE, "which-formula-again")
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(3, 7)), rng.normal(size=(5, 7)), rng.normal(size=(5, 2))
    names = {"np": np, "softmax": softmax, "q": q, "k": k, "v": v}
    good = []
    for option in options:
        try:
            result = eval(option.strip("`"), names)
        except ValueError:
            continue
        if np.allclose(result, scaled_dot_product_attention(q, k, v)):
            good.append(option)
    assert good == [right]
