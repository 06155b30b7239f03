"""A graded notebook keeps a submission's passive outputs, up to a limit."""

from __future__ import annotations

import base64
import struct

import nbformat
import pytest

from grader.judging.outputs import LEFT_OUT, OutputBudget

KIB = 4
PRINTED = {"output_type": "stream", "name": "stdout", "text": "x" * 1024}


def png(width: int, height: int, more: int = 0) -> str:
    header = struct.pack(">8sI4sII", b"\x89PNG\r\n\x1a\n", 13, b"IHDR", width, height)
    return base64.b64encode(header + bytes(5 + more)).decode()


def picture(text: str) -> dict:
    return {"output_type": "display_data", "data": {"image/png": text, "text/plain": "<Figure>"}}


@pytest.mark.parametrize(
    "outputs",
    [
        None,
        3,
        "text",
        {"output_type": "stream"},
        [3, None, "text", {}, {"output_type": "stream", "name": "stdin", "text": "x"}],
        [{"output_type": "display_data", "data": {"text/html": "<script>", "image/png": 3}}],
        [{"output_type": "execute_result", "data": 3}],
    ],
)
def test_invalid_outputs_are_omitted(outputs):
    assert OutputBudget(KIB).fit(outputs) == []


def test_a_result_is_shown_but_does_not_count_as_a_mark():
    """nbgrader reads marks from execute_result outputs, so answers must not have any."""
    (shown,) = OutputBudget(KIB).fit(
        [{"output_type": "execute_result", "data": {"text/plain": "4.0"}}]
    )
    assert (shown.output_type, shown.data) == ("display_data", {"text/plain": "4.0"})


def test_odd_fields_become_empty_texts_in_valid_outputs():
    shown = OutputBudget(KIB).fit(
        [
            {"output_type": "stream", "name": "stdout", "text": ["x"]},
            {"output_type": "error", "ename": 3, "evalue": "a\ud800", "traceback": ["b", None]},
        ]
    )
    assert [output.output_type for output in shown] == ["stream", "error"]
    assert (shown[1].ename, shown[1].evalue, shown[1].traceback) == ("", "a?", ["b", ""])
    cells = [nbformat.v4.new_code_cell("", outputs=shown)]
    nbformat.validate(nbformat.v4.new_notebook(cells=cells))


def test_the_output_of_a_cell_is_limited():
    budget = OutputBudget(KIB)
    shown = budget.fit([PRINTED] * 1000)
    assert shown[-1].text == LEFT_OUT
    assert KIB <= len(shown) - 1 < KIB + 40
    assert len(budget.fit([PRINTED] * KIB)) == KIB  # the next cell may show output again


def test_the_output_of_all_cells_together_is_limited():
    budget = OutputBudget(KIB)
    numbers = [len(budget.fit([PRINTED] * 1000)) for _ in range(100)]
    assert sum(numbers) < 8 * (KIB + 40) + 100
    assert budget.fit([PRINTED])[0].text == LEFT_OUT
    assert budget.fit([]) == []


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (png(640, 480), True),
        (png(60_000, 60_000), False),
        (png(640, 480)[:20], False),
        ("no base64", False),
        (base64.b64encode(b"<svg onload='alert(1)'>" * 2).decode(), False),
    ],
)
def test_only_pictures_that_a_browser_can_show_are_kept(text, is_one):
    (shown,) = OutputBudget(KIB).fit([picture(text)])
    assert ("image/png" in shown.data) == is_one
    assert shown.data["text/plain"] == "<Figure>"


def test_pictures_have_a_separate_limit():
    budget = OutputBudget(KIB)
    large = picture(png(640, 480, more=KIB * 8 * 512))
    shown = budget.fit([large, large, PRINTED])
    assert [output.output_type for output in shown] == ["display_data", "stream"]
    assert shown[-1].text == LEFT_OUT
