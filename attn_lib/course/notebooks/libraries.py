"""Which libraries an answer can import when it is graded, and which imports it therefore cannot."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from attn_lib.course.notebooks.magics import parsed

#: The libraries that a graded answer can import, beside Python's own modules.
AT_GRADING = ("numpy", "matplotlib", "attn_lib")

#: Packages that belong to Jupyter; importing them changes no number.
_OF_JUPYTER = ("IPython", "ipywidgets", "ipykernel", "traitlets", "matplotlib_inline")

WHAT_IS_THERE = "When graded there are Python's own modules, NumPy and matplotlib."


def is_at_grading(module: str) -> bool:
    """Return whether a module can be imported when an answer is graded.

    Examples
    --------
    >>> is_at_grading("numpy.linalg"), is_at_grading("math"), is_at_grading("scipy.special")
    (True, True, False)
    """
    package = module.partition(".")[0]
    return package in (*AT_GRADING, *_OF_JUPYTER) or package in sys.stdlib_module_names


def missing_library(error: BaseException) -> str:
    """Return a sentence on a library that cannot be imported when graded; "" for other errors.

    Examples
    --------
    >>> missing_library(ModuleNotFoundError("No module named 'scipy'", name="scipy"))
    "scipy cannot be used. When graded there are Python's own modules, NumPy and matplotlib."
    """
    name = error.name if isinstance(error, ImportError) else None
    if not name or is_at_grading(name):
        return ""
    return f"{name.partition('.')[0]} cannot be used. {WHAT_IS_THERE}"


def imported_libraries(source: str) -> list[str]:
    r"""Return the libraries that a cell imports and that are not there when it is graded.

    Parameters
    ----------
    source : str
        Python code. Code that cannot be parsed has none.

    Examples
    --------
    >>> imported_libraries("import numpy as np, pandas\nfrom scipy.special import softmax")
    ['pandas', 'scipy']
    """
    found: list[str] = []
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.append(node.module)
    packages = [name.partition(".")[0] for name in found if not is_at_grading(name)]
    return list(dict.fromkeys(packages))


def library_used_by(function: Callable[..., Any]) -> str:
    """Return a library that a function uses and that is not there when it is graded, or "".

    Found are names of its own code that stand for modules or what they define.

    Examples
    --------
    >>> library_used_by(lambda x: np.exp(x))
    ''
    """
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    own = ("__main__", names.get("__name__"))
    for name in getattr(code, "co_names", ()):
        value = names.get(name)
        module = value.__name__ if isinstance(value, ModuleType) else None
        module = module or getattr(value, "__module__", None)
        if isinstance(module, str) and module not in own and not is_at_grading(module):
            return module.partition(".")[0]
    return ""
