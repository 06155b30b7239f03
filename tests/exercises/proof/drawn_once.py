"""Draw each learner's numbers once, however often the cells of a notebook ask for them."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from unittest import mock

from attn_lib.course import personal


@contextlib.contextmanager
def numbers_drawn_once(*users: ModuleType) -> Iterator[None]:
    """Keep each learner's numbers, which depend only on the id, for the rest of the process.

    That they depend on nothing else is tested in `tests/attn_lib/course/test_independence.py`.

    Parameters
    ----------
    *users : module
        Modules that have imported functions which draw, by name.
    """
    modules = [
        importlib.import_module(f"{personal.__name__}.{module.name}")
        for module in pkgutil.iter_modules(personal.__path__)
    ]
    with contextlib.ExitStack() as patches:
        for module in [personal, *modules, *users]:
            for name, function in vars(module).items():
                if inspect.isfunction(function) and _takes_an_id_alone(function):
                    patches.enter_context(mock.patch.object(module, name, _kept(function)))
        yield


def _takes_an_id_alone(function: Callable[..., Any]) -> bool:
    is_drawn = function.__module__.startswith(f"{personal.__name__}.")
    return is_drawn and list(inspect.signature(function).parameters) == ["learner_id"]


@functools.cache
def _kept(function: Callable[[str], Any]) -> Callable[[str], Any]:
    once = functools.cache(function)

    @functools.wraps(function)
    def kept(learner_id: str) -> Any:
        return copy.deepcopy(once(learner_id))

    return kept
