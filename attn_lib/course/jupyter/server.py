"""What a jupyter_server_config.py calls, so that notebooks can link to the book on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from attn_lib.course.jupyter.book import SERVED


def serve_book(c: Any, folder: Path) -> None:  # noqa: ANN401  (traitlets' configuration)
    """Let a Jupyter server serve the built book, under ``/static``, and tell its kernels.

    Without a built book, nothing is changed.

    Parameters
    ----------
    c : Config
        The configuration, as `get_config` gives it.
    folder : Path
        The folder with the book's index.html.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> c = SimpleNamespace(ServerApp=SimpleNamespace())
    >>> serve_book(c, Path("no such folder"))
    >>> vars(c.ServerApp)
    {}
    """
    if (folder / "book/index.html").is_file():
        c.ServerApp.extra_static_paths = [str(folder)]
        os.environ[SERVED] = str(folder)
