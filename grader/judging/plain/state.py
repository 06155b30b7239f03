"""What instructors' cells may set in this process, put back before the next submission."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

#: How the names of folders begin in which test cells find the assignment's files.
FOLDER = "tests-"


@contextlib.contextmanager
def own_state() -> Iterator[None]:
    """Let the block have settings of its own: those of Python, NumPy and matplotlib.

    In nbgrader each submission has a kernel of its own. Here one process judges many, and a cell
    that sets how NumPy treats errors, or leaves a figure open, would do so for all that follow.
    """
    environment, path = dict(os.environ), list(sys.path)
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002  # tests use both
    modules = set(sys.modules)
    with warnings.catch_warnings(), np.errstate(), np.printoptions(), _own_figures():
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002
            sys.path[:] = path
            for name in sys.modules.keys() - modules:
                if _is_of_an_assignment(sys.modules[name]):
                    del sys.modules[name]
            for name in os.environ.keys() - environment.keys():
                del os.environ[name]
            os.environ.update(environment)


@contextlib.contextmanager
def _own_figures() -> Iterator[None]:
    """Close the figures that the block opens, if it or anything before it imported matplotlib."""
    plots = sys.modules.get("matplotlib.pyplot")
    before = set(plots.get_fignums()) if plots else set()
    try:
        yield
    finally:
        if plots := sys.modules.get("matplotlib.pyplot"):
            for number in set(plots.get_fignums()) - before:
                plots.close(number)


def _is_of_an_assignment(module: ModuleType) -> bool:
    """Say whether a module lies beside a notebook. Another assignment may have one of its name."""
    file = getattr(module, "__file__", None) or ""
    return file.startswith(str(Path(tempfile.gettempdir(), FOLDER)))
