"""What learners are told while they may still hand in again: not which number is right.

Numbers that a task draws from a learner's id are the same in the next attempt, so a message that
says which value was expected would give away the answer. The graded notebook has both texts; the
instructor sees the one that says it.
"""

from __future__ import annotations

from nbformat import NotebookNode

#: The key in a test cell's metadata of the text without right values.
KEY = "without_expected"


def keep_without_expected(cell: NotebookNode, text: str) -> None:
    """Keep a text in the metadata of a judged test cell, if its output says something else."""
    if text.strip() != _said(cell).strip():
        cell.metadata[KEY] = text


def leave_out_expected(notebook: NotebookNode) -> bool:
    """Replace what the test cells of a graded notebook say, and return whether there was any.

    Parameters
    ----------
    notebook : NotebookNode
        It is changed in place.
    """
    changed = False
    for cell in notebook.cells:
        text = cell.metadata.pop(KEY, None)
        if not isinstance(text, str) or cell.cell_type != "code":
            continue
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = f"{text}\n"
            elif output.output_type == "error":
                output.update(evalue=text, traceback=text.splitlines())
        changed = True
    return changed


def _said(cell: NotebookNode) -> str:
    return "".join(
        str(output.get("text", "")) + str(output.get("evalue", "")) for output in cell.outputs
    )
