"""Packages that load only what is asked of them.

``import nbgrader.utils`` first runs the ``__init__.py`` of nbgrader, which loads a web server's
extensions: more than a second before a command does anything. After `load_lazily`, what such a file
imports from its own package is imported when somebody asks for the name. Python 3.15 has this as
lazy imports (PEP 810).
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

#: Packages that import all their modules, where grading needs a few of them.
PACKAGES = (
    "nbconvert",
    "nbconvert.exporters",
    "nbconvert.preprocessors",
    "nbgrader",
    "nbgrader.auth",
    "nbgrader.plugins",
    "nbgrader.preprocessors",
)


def load_lazily(packages: Sequence[str] = PACKAGES) -> None:
    """Have this process load these packages lazily, those that it has not loaded yet.

    A package's ``__init__.py`` runs as a whole at the first name that it does not import from a
    module of its own.

    Parameters
    ----------
    packages : sequence of str
        Full names.

    Examples
    --------
    >>> load_lazily(["xml.etree"])
    >>> from xml.etree import ElementTree
    >>> ElementTree.fromstring("<a/>").tag
    'a'
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _Finder.packages |= set(packages)


class _Finder(MetaPathFinder):
    """Finds the packages where Python finds them, and gives them a loader that waits."""

    packages: ClassVar[set[str]] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.packages:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LazyLoader(spec.loader)
        return spec


class _LazyLoader(Loader):
    """Runs a package's ``__init__.py`` when it has to."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        origins = dict(_imported_names(module))
        begun = False

        def get(name: str) -> Any:
            nonlocal begun
            if name in origins:
                origin, original = origins[name]
                value = getattr(importlib.import_module(origin), original)
            elif importlib.util.find_spec(f"{module.__name__}.{name}"):
                value = importlib.import_module(f"{module.__name__}.{name}")
            else:
                if not begun:
                    begun = True
                    self._loader.exec_module(module)
                if name not in vars(module):
                    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
                value = vars(module)[name]
            setattr(module, name, value)
            return value

        vars(module)["__getattr__"] = get

    def __getattr__(self, name: str) -> Any:
        """Return what others ask of a loader: the source, files beside it."""
        return getattr(self._loader, name)


def _imported_names(module: ModuleType) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each name that a package imports from a module of its own, the module, its name there.

    Names that are modules themselves are left out: Python finds those.
    """
    package = module.__name__
    body = ast.parse(Path(str(module.__file__)).read_bytes()).body
    for statement in [*body, *(inner for outer in body for inner in getattr(outer, "body", ()))]:
        if not isinstance(statement, ast.ImportFrom) or statement.module is None:
            continue
        origin = f"{package}." * (statement.level == 1) + statement.module
        if statement.level <= 1 and origin.startswith(f"{package}."):
            for alias in statement.names:
                yield alias.asname or alias.name, (origin, alias.name)
