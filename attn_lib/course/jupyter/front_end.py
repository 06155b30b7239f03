"""Finding out whether a person runs this kernel, with which server and from which notebook."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def any_kernel() -> Any | None:  # noqa: ANN401  (IPython's shell, which has no types)
    """Return IPython's shell in a kernel, or None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    return shell if hasattr(shell, "kernel") else None


def kernel() -> Any | None:  # noqa: ANN401
    """Return IPython's shell in a kernel, or None elsewhere and where nbgrader executes a notebook.

    Examples
    --------
    >>> kernel() is None  # a doctest is no notebook
    True
    """
    return None if "NBGRADER_EXECUTION" in os.environ else any_kernel()


def shell() -> Any | None:  # noqa: ANN401
    """Return IPython's shell if a person runs this kernel in JupyterLab, Notebook or VS Code."""
    found = kernel()
    return found if found is not None and (server_url() or _in_vs_code(found)) else None


def server_url() -> str | None:
    """Return where the addresses of the Jupyter server that started this kernel begin.

    It is a path, such as "/", or None if no server started it.
    """
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    for process in (os.environ.get("JPY_PARENT_PID", ""), os.getppid()):
        file = Path(jupyter_runtime_dir(), f"jpserver-{process}.json")
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
            return str(about["base_url"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def notebook_file() -> Path | None:
    """Return the notebook's file, or None if it is not known, not saved or renamed."""
    found = kernel()
    if found is None:
        return None
    name = found.user_ns.get("__vsc_ipynb_file__")
    if not name and server_url():
        name = os.environ.get("JPY_SESSION_NAME")
    path = Path(str(name or ""))
    return path if path.suffix == ".ipynb" and path.is_file() else None


def _in_vs_code(found: Any) -> bool:  # noqa: ANN401
    return "__vsc_ipynb_file__" in found.user_ns
