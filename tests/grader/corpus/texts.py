"""Texts and outputs of learners that take much time or memory to render, or become much longer.

Each is a cell of a notebook. Its size is that of what was seen to hurt, at most 0.3 MB apart from
pictures.
"""

from __future__ import annotations

from collections.abc import Callable

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

SIZE = 300_000
PICTURE = "A" * 2**20  # the base64 of three quarters of a MiB


def many(piece: str, size: int = SIZE) -> str:
    return piece * (size // len(piece))


def printed(text: str) -> NotebookNode:
    return new_code_cell("1", outputs=[new_output("stream", text=text)])


#: Texts that cannot be rendered within the limits, so they are shown as they were typed.
TOO_MUCH: dict[str, Callable[[], NotebookNode]] = {
    # 34 s each: an environment, a formula that never ends
    "environments": lambda: new_markdown_cell("\\begin{a}" * 20_000),
    "inline formulas": lambda: new_markdown_cell(many("\\\\( ")),
    "display formulas": lambda: new_markdown_cell(many("\\\\[ ")),
    # more than 3 GiB: a long address or title that is referred to often
    "references": lambda: new_markdown_cell(f"[a]: {'x' * 100_000}\n\n" + "[a] " * 50_000),
    "titles": lambda: new_markdown_cell(f'[a]: x "{"t" * 100_000}"\n\n' + "[a] " * 50_000),
    # seconds, and hundreds of MiB: long lists and tables
    "list": lambda: new_markdown_cell(many("- a\n")),
    "definitions": lambda: new_markdown_cell(many("a\n: b\n")),
    "table": lambda: new_markdown_cell(f"{'|a' * 300}\n{'|-' * 300}\n" + many("|a" * 300 + "\n")),
    "emphasis": lambda: new_markdown_cell(many("**a*b")),
    "brackets": lambda: new_markdown_cell(many("[")),
    "nested links": lambda: new_markdown_cell(many("[a](")),
    "one long line": lambda: new_markdown_cell(f"a{' ' * SIZE}b"),
    # a sanitiser that is not written in Python, so that no timer stops it
    "elements": lambda: new_markdown_cell(f"<div>\n{many('<div>')}"),
    "end tags": lambda: new_markdown_cell(f"<div>\n{many('<b></p>')}"),
    # more than 15 s: colouring code and terminal output
    "parentheses": lambda: new_code_cell(many("(")),
    "sums": lambda: new_code_cell(many("a+")),
    "f-strings": lambda: new_code_cell(many("f'{")),
    "magic": lambda: new_code_cell("%%html\n" + many("<a ")),
    "terminal colours": lambda: printed(many("\x1b[31ma")),
}

#: Texts that are rendered, but may not cost what they could.
FITTED: dict[str, tuple[Callable[[], NotebookNode], str]] = {
    # 2 GB of HTML from 1 MB
    "one picture often": (
        lambda: new_markdown_cell(
            "![a](attachment:a.png) " * 2000, attachments={"a.png": {"image/png": PICTURE}}
        ),
        "the picture a.png is left out: the pictures are too large",
    ),
    "many outputs": (
        lambda: new_code_cell(
            "1", outputs=[new_output("display_data", {"text/plain": "b"}) for _ in range(1500)]
        ),
        "more outputs are left out: there are too many",
    ),
    "many lines of an error": (
        lambda: new_code_cell(
            "1", outputs=[new_output("error", ename="E", evalue="", traceback=["a"] * 3000)]
        ),
        "more outputs are left out: there are too many",
    ),
    "a missing picture": (
        lambda: new_markdown_cell("see ![a](attachment:b<i>.png)"),
        "[the picture b<i>.png is missing]",
    ),
    "a picture with a space in its name": (
        lambda: new_markdown_cell(
            "![my plot](attachment:my%20plot.png) ![other](attachment:other)",
            attachments={"my plot.png": {"image/png": "AAAA"}},
        ),
        "[the picture other is missing]",
    ),
    "a picture that is none": (
        lambda: new_markdown_cell(
            "![a](attachment:c.png)", attachments={"c.png": {"image/png": '" onerror="x'}}
        ),
        "[the picture c.png is missing]",
    ),
    "a drawing": (
        lambda: new_markdown_cell(
            "![a](attachment:d.svg)", attachments={"d.svg": {"image/svg+xml": "PHN2Zy8+"}}
        ),
        "[the picture d.svg is missing]",
    ),
    "deep elements": (lambda: new_markdown_cell("<div>\n" + "<i>" * 70 + "deep"), "<i><i><i>"),
    "deep quotations": (lambda: new_markdown_cell("> " * 3000 + "deep in quotations"), "deep in"),
    "a control character": (lambda: printed("\x1b[31m\0red\x1b[0m"), "red"),
}
