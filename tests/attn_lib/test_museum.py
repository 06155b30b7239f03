"""Every catalogued mistake hangs in the museum, with what it really does."""

import numpy as np
import pytest

from attn_lib.mistakes import Mistake, catalogue
from attn_lib.museum import Room, exhibit
from attn_lib.targets import TARGETS
from attn_lib.targets.examples import EXAMPLES


@pytest.mark.parametrize("mistake", catalogue(), ids=lambda mistake: mistake.id)
def test_an_exhibit_shows_the_two_answers_and_how_they_were_told_apart(mistake):
    shown = exhibit(mistake)
    arguments = EXAMPLES[mistake.target][shown.example]
    np.testing.assert_array_equal(shown.right, TARGETS[mistake.target](*arguments))
    same_shape = shown.wrong.shape == shown.right.shape
    assert (shown.kind == "shape") is not same_shape
    if same_shape:
        assert not np.array_equal(shown.wrong, shown.right)
        odd = np.isfinite(shown.wrong) != np.isfinite(shown.right)
        assert shown.kind == ("finite" if odd.any() else "values")
    assert shown.code.startswith((f"def {mistake.target}(", "lambda"))
    assert "expected" in shown.finding


@pytest.mark.parametrize("target", sorted({mistake.target for mistake in catalogue()}))
def test_a_room_shows_every_mistake_of_its_target(target):
    text = Room(target)._repr_markdown_()
    for mistake in catalogue(target):
        assert mistake.sentence in text
        page, _, anchor = mistake.section.partition("#")
        assert f"({page}.md#{anchor})" in text


def test_a_mistake_that_no_check_can_see_is_no_exhibit():
    right = TARGETS["score_sd"]
    unseen = Mistake("no-mistake", "score_sd", right, "It is right.", "variance-growth#x")
    with pytest.raises(ValueError, match="exhibit: expected a mistake that shows"):
        exhibit(unseen)


def test_there_is_no_room_for_what_is_no_target():
    with pytest.raises(ValueError, match="nothing"):
        Room("nothing")
