import pytest

from attn_lib.figures.tables import table


def test_floats_are_rounded_and_signs_are_typographic():
    shown = table(["name", "n", "x"], [("a|b", -2, -0.70710)], digits=3)
    assert (
        shown._repr_markdown_() == "| name | n | x |\n| --- | --- | --- |\n| a\\|b | −2 | −0.707 |"
    )


def test_a_row_of_the_wrong_length_is_rejected():
    with pytest.raises(ValueError, match="rows of 2 cells like the header, got 1"):
        table(["a", "b"], [("x",)])
