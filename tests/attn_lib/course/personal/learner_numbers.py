"""Digests of the numbers of some learners, so that a test notices changes.

    .venv/bin/python -m tests.attn_lib.course.personal.learner_numbers --write

If the numbers change, answers that learners have already typed in become wrong and lose points.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from attn_lib.course import personal

TABLE = Path(__file__).with_name("learner_numbers.json")
#: Modules that draw nothing: their functions take ids for other purposes.
NOT_DRAWN = ("handed_out", "ids")
LEARNERS = ("ada", "alan", *(f"learner{number}" for number in range(1, 21)))


def drawn() -> Iterator[tuple[str, Callable[[str], Any]]]:
    """Yield the name of every function that draws a learner's numbers, and the function."""
    for module in pkgutil.iter_modules(personal.__path__):
        if module.name in NOT_DRAWN:
            continue
        functions = vars(importlib.import_module(f"{personal.__name__}.{module.name}"))
        for name, function in functions.items():
            if not inspect.isfunction(function) or not function.__module__.endswith(module.name):
                continue
            if list(inspect.signature(function).parameters) == ["learner_id"] and name[0] != "_":
                yield f"{module.name}.{name}", function


def plain(numbers: Any) -> Any:
    """Return numbers as JSON values, rounded so that rounding errors do not matter."""
    if isinstance(numbers, (tuple, list)):
        return [plain(number) for number in numbers]
    if isinstance(numbers, (np.ndarray, np.generic, float)):
        return np.round(np.asarray(numbers, dtype=float), 9).tolist()
    return numbers if isinstance(numbers, (int, str, type(None))) else None


def digests() -> dict[str, str]:
    """Return a digest of the numbers of all these learners for each function."""
    return {
        name: hashlib.sha256(json.dumps(plain([*map(draw, LEARNERS)])).encode()).hexdigest()
        for name, draw in drawn()
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("learner_numbers: expected --write, which writes the table of digests again.")
    TABLE.write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8")
