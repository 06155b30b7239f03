"""Import packages lazily: only those of their modules that are used.

``import nbgrader.utils`` first executes the ``__init__.py`` of nbgrader, which loads the extensions
of a web server and so delays every command by more than a second. After `load_lazily`, a name that
such a file imports from its own package is imported only when it is first used. Python 3.15 offers
this as lazy imports (PEP 810).
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

#: Packages that import all their modules although grading needs only a few of them.
PACKAGES = (
    "attn_lib",
    "isoduration",
    "isoduration.parser",
    "nbconvert",
    "nbconvert.exporters",
    "nbconvert.preprocessors",
    "nbgrader",
    "nbgrader.auth",
    "nbgrader.plugins",
    "nbgrader.preprocessors",
)

#: Functions that `nbgrader.utils` imports and grading never calls. Their module needs its whole
#: package.
FUNCTIONS = {
    "setuptools.archive_util": ("unpack_archive", "unpack_tarfile", "unpack_zipfile"),
}


def load_lazily(packages: Sequence[str] = PACKAGES) -> None:
    """Make later imports of these packages lazy in this process.

    A package that is already imported stays as it is. The whole ``__init__.py`` of a lazy package
    is executed when a name is first used that the file does not import from its own package.

    Parameters
    ----------
    packages : sequence of str
        Full names of the packages.

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
    for name, functions in FUNCTIONS.items():
        sys.modules.setdefault(name, _stand_in(name, functions))


def _stand_in(name: str, functions: Sequence[str]) -> ModuleType:
    """Return a module whose functions import the real module when one of them is first called."""
    module = ModuleType(name)

    def real(attribute: str) -> Any:  # noqa: ANN401
        if attribute == "__path__":  # which Python asks for, to learn whether it is a package
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    def call(function: str, *arguments: object, **options: object) -> object:
        return real(function)(*arguments, **options)

    vars(module)["__getattr__"] = real
    for function in functions:
        setattr(module, function, functools.partial(call, function))
    return module


class _Finder(MetaPathFinder):
    """Finds the packages where Python does, and wraps their loader in a lazy one."""

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
    """Executes a package's ``__init__.py`` only when a name cannot be found without it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        package, origins = module.__name__, dict(_imported_names(module))
        begun = False

        def get(name: str) -> object:
            nonlocal begun
            value: object
            if name in origins:
                origin, original = origins[name]
                value = getattr(importlib.import_module(origin), original)
            elif importlib.util.find_spec(f"{package}.{name}"):
                value = importlib.import_module(f"{package}.{name}")
            else:
                if not begun:
                    begun = True
                    self._loader.exec_module(module)
                if name not in vars(module):
                    raise AttributeError(f"module {package!r} has no attribute {name!r}")
                value = vars(module)[name]
            setattr(module, name, value)
            return value

        vars(module)["__getattr__"] = get
        # Names that a module of the package has too, such as `softmax`, which attn_lib.softmax has.
        shared = {name for name, (origin, _) in origins.items() if origin == f"{package}.{name}"}
        if shared:
            module.__class__ = _sharing(shared)

    def __getattr__(self, name: str) -> object:
        """Pass on the other methods of a loader, such as those that return source or data files."""
        return getattr(self._loader, name)


def _sharing(names: set[str]) -> type[ModuleType]:
    """Return a class of packages in which these names are never those of modules.

    Python binds each module that it imports to its package. The package's own file would then bind
    the name again, to what it imports from that module.
    """

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if not (name in names and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    return Package


def _imported_names(module: ModuleType) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield ``(name, (module, name there))`` for what a package imports from its own modules.

    ``from . import module`` is left out: Python finds submodules without this.
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
