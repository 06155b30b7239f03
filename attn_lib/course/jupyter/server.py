"""What attn_lib adds to a Jupyter server: the book, and what the button Validate says.

The file server_extension.json, which the wheel installs for Jupyter, switches this on.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from attn_lib.course.jupyter.book import ROUTE, SERVED, find_book
from attn_lib.course.jupyter.validation import say_points


def _load_jupyter_server_extension(app: Any) -> None:  # noqa: ANN401  (jupyter_server's ServerApp)
    """Serve the book that lies beside or above the server's folder, and tell its kernels."""
    with contextlib.suppress(ImportError):  # nbgrader is optional
        from nbgrader.server_extensions.validate_assignment import handlers  # noqa: F401

        say_points()
    folder = find_book(Path(app.root_dir).resolve())
    if folder is None:
        return
    os.environ[SERVED] = str(folder)
    route = f"{app.web_app.settings['base_url']}{ROUTE}/(.*)"
    app.web_app.add_handlers(".*$", [(route, _handler(), {"path": str(folder)})])


def _handler() -> type:
    """Return the class that answers requests for the book's files."""
    from jupyter_server.base.handlers import JupyterHandler
    from tornado import web

    class BookHandler(JupyterHandler, web.StaticFileHandler):
        """Sends a file of the book to whoever is logged in."""

        get = web.authenticated(web.StaticFileHandler.get)  # type: ignore[assignment]
        head = web.authenticated(web.StaticFileHandler.head)  # type: ignore[assignment]

    return BookHandler


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell Jupyter which module to load."""
    return [{"module": __name__}]
