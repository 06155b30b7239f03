"""A prediction is compared with the number that the page computed."""

import pytest

from attn_lib.figures.predictions import predict
from tests.book.live.script import FOLDER

QUESTION = "How much is a half & a third, <b>less</b> one?"


@pytest.fixture
def form(watch):
    watched = watch()
    shown = predict(QUESTION, 1 / 2 + 1 / 3 - 1, digits=3, because="It is −1/6.")
    watched.page.set_content(shown._repr_html_())
    for name in ("kit", "predict"):
        watched.page.add_script_tag(path=FOLDER / f"{name}.js")
    yield watched.page
    assert watched.problems == []


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ("0.5", "It is −0.167, 0.667 less than you predicted."),
        ("-0.2", "It is −0.167, 0.033 more than you predicted."),
        ("-0.1667", "It is −0.167, just what you predicted."),
        ("250000", "It is −0.167, 250000.167 less than you predicted."),
    ],
)
def test_a_prediction_is_compared(form, typed, verdict):
    field = form.get_by_label(f"Predict: {QUESTION}")
    field.fill(typed)
    field.press("Enter")
    assert form.get_by_role("status").inner_text() == verdict
    assert form.get_by_text("−0.167. It is −1/6.").is_visible()
    field.fill("3")
    assert form.get_by_role("status").inner_text() == ""


def test_nothing_is_compared_before_a_number_is_typed(form):
    form.get_by_role("button", name="Compare").click()
    assert form.get_by_role("status").inner_text() == ""
    assert not form.get_by_text("−0.167.").is_visible()


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [("Say a number.", 1.0, "ends with \\?"), ("How much?", float("nan"), "finite number")],
)
def test_a_prediction_without_an_answer_is_refused(question, answer, message):
    with pytest.raises(ValueError, match=message):
        predict(question, answer)
