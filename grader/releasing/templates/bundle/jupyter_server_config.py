"""For a JupyterLab that is started in this folder: messages of tests link to the book."""

from contextlib import suppress
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821  (Jupyter defines it)

with suppress(ImportError):  # attn_lib is not installed
    from attn_lib.course.jupyter.server import serve_book

    serve_book(c, Path(__file__).parent / "book")
