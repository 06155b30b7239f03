"""Builds of small books, by forks of a process that has loaded Sphinx and all extensions.

Importing these takes half of the time of such a build. All else is as by the command
``jupyter-book``, which builds the course's own book in these tests.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

from book._ext.executing.forks import Forks, serve

MAX_SECONDS = 600  # for a build
BOOK = Path(__file__).resolve().parents[2] / "book"
#: What extensions import when Sphinx sets them up.
LATE = (
    "docutils.parsers.rst.directives.admonitions",
    "jupyter_book.sphinx",
    "myst_nb.core.execute",
    "myst_nb.sphinx_ext",
    "numpy",
    "sphinx.builders.html.transforms",
    "sphinx_design.extension",
    "sphinx_external_toc.events",
)


class WarmBuilds(Forks):
    """The process that builds are forked from; it starts with the first one."""

    def __init__(self) -> None:
        super().__init__("tests.book.warm_builds")

    def run(self, arguments: list[str], output: Path) -> int:
        """Run ``jupyter-book``, write what it prints into a file and return its status.

        Parameters
        ----------
        arguments : list of str
        output : Path
            The file.
        """
        return self.start(arguments=arguments, output=str(output)).wait(MAX_SECONDS)


def load() -> None:
    """Import what every build does."""
    from sphinx.application import builtin_extensions

    sys.path.insert(0, str(BOOK))  # as local_extensions of _config.yml says
    ours = importlib.import_module("_ext")
    for name in (*builtin_extensions, *LATE, *(f"_ext.{name}" for name in ours.EXTENSIONS)):
        importlib.import_module(name)
    sys.path.pop(0)


def build(arguments: list[str], output: str) -> NoReturn:
    """Run the command in this process."""
    from jupyter_book.cli.main import main

    with Path(output).open("w") as file, Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["jupyter-book", *arguments]
    sys.exit(main())


if __name__ == "__main__":
    del sys.path[0]  # the course's folder, which the command does not see
    load()
    if (asked := serve()) is not None:
        build(**asked)
