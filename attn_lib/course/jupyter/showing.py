"""Findings in a notebook: what passed is quiet, failures have colour, sections are links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from attn_lib.course.jupyter.book import address_of
from attn_lib.course.mistakes import catalogue

if TYPE_CHECKING:
    from attn_lib.course.checks.findings import Block

# Variables of JupyterLab and VS Code follow their themes; other front ends take the last values.
_FRAME = (
    "white-space: pre-wrap; font-family: var(--jp-code-font-family, monospace); "
    "font-size: var(--jp-code-font-size, 13px); line-height: 1.4"
)
_QUIET = "color: var(--jp-ui-font-color2, inherit)"
_FAILED = "color: var(--jp-error-color1, var(--vscode-errorForeground, #c62828)); font-weight: 600"
_LINK = (
    "color: var(--jp-content-link-color, var(--vscode-textLink-foreground, #1a56b0)); "
    "text-decoration: underline"
)


def show(blocks: Sequence[Block], further: Iterable[str]) -> None:
    """Show the findings of a cell's parts, and further lines, below the cell that is running."""
    from IPython.display import publish_display_data

    lines = list(further)
    text = "\n".join([line for block in blocks for line in block.lines] + lines)
    data = {"text/plain": text, "text/html": as_html(blocks, lines)}
    publish_display_data(data)  # type: ignore[no-untyped-call]


def as_html(blocks: Sequence[Block], further: Iterable[str] = ()) -> str:
    """Return the findings as HTML; the text is that of the blocks and of the further lines.

    Examples
    --------
    >>> from attn_lib.course.checks.findings import Block
    >>> as_html([Block(["mask: ok"], passed=True)]).count("mask: ok")
    1
    """
    shown = [_quiet(block.lines) if block.passed else _failed(block) for block in blocks]
    return f'<div style="{_FRAME}">{"".join(shown)}{_plain(further)}</div>'


def _quiet(lines: Iterable[str]) -> str:
    return f'<div style="{_QUIET}">{escape(chr(10).join(lines))}</div>'


def _plain(lines: Iterable[str]) -> str:
    return "".join(f"<div>{escape(line)}</div>" for line in lines)


def _failed(block: Block) -> str:
    title, *rest = block.lines
    text = escape("\n".join(rest))
    for mistake in catalogue():
        if mistake.id in block.mistakes and (address := address_of(mistake.section)):
            link = (
                f'<a href="{escape(address)}" target="_blank" rel="noopener" style="{_LINK}">'
                f"{escape(mistake.section)}</a>"
            )
            text = text.replace(f"{escape(mistake.section)})", f"{link})")
    return f'<div><span style="{_FAILED}">{escape(title)}</span>\n{text}</div>'
