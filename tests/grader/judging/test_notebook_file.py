"""The text of a notebook's file is that of nbformat, and needs less memory."""

from __future__ import annotations

import tracemalloc

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.judging.notebook_file import written


def test_the_text_is_that_of_nbformat():
    notebook = new_notebook(metadata={"signature": "s"})
    data = {"text/plain": "1\n2", "image/png": "iVBOR\n"}
    notebook.cells = [
        new_markdown_cell('# \u00e9 \U0001f600\n"quoted" \\ \u2028', attachments={"a.png": data}),
        new_code_cell("x = 1\n\ny", metadata={"trusted": True}, execution_count=3),
        new_code_cell(
            "",
            outputs=[
                new_output("stream", name="stdout", text="one\ntwo"),
                new_output("display_data", data=data),
                new_output("error", ename="E", evalue="e", traceback=["a", "b"]),
            ],
        ),
    ]
    before = nbformat.writes(notebook)
    assert written(notebook) == before + "\n"
    assert nbformat.writes(notebook) == before
    assert nbformat.reads(written(notebook), as_version=4).cells[1].source == "x = 1\n\ny"


def test_wide_characters_are_not_in_memory_many_times():
    """Python needs four bytes for each character of a text with one emoji."""
    notebook = new_notebook(cells=[new_markdown_cell("\U0001f600" + "x" * 10**6) for _ in range(4)])
    size = 4 * 4 * 10**6  # bytes of the text as Python holds it
    tracemalloc.start()
    try:
        text = written(notebook)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(text) > 4 * 10**6
    assert peak < 1.6 * size  # the lines and a fourth of the text, or the text and that fourth
