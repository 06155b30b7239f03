"""Try many values in one test: a thousand tests of a millisecond take longer to report than to run.

Where a value needs fixtures of its own, or takes long, use ``pytest.mark.parametrize``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])


def in_one_test(
    name: str, values: Iterable[Any], ids: Callable[[Any], str] = repr
) -> Callable[[Test], Test]:
    """Return a decorator that calls a test, or each test of a class, with every value in turn.

    All values are tried. If some fail, the error of the first is raised, with a note that names all
    that failed.

    Parameters
    ----------
    name : str
        The argument that gets the value.
    values : iterable
        At least one.
    ids : callable
        Returns what a value is called in the note.
    """
    values = list(values)
    if not values:
        raise ValueError(f"{name}: expected at least one value, got none.")

    def decorate(test: Any) -> Any:
        if inspect.isclass(test):
            for attribute, function in vars(test).copy().items():
                if attribute.startswith("test"):
                    setattr(test, attribute, decorate(function))
            return test

        @functools.wraps(test)
        def all_values(*args: Any, **fixtures: Any) -> None:
            failed: list[tuple[str, Exception]] = []
            for value in values:
                try:
                    test(*args, **fixtures, **{name: value})
                except Exception as error:
                    failed.append((ids(value), error))
            if failed:
                _, first = failed[0]
                told = ", ".join(value for value, _ in failed)
                first.add_note(
                    f"{name}: {len(failed)} of {len(values)} fail, in this order: {told}"
                )
                raise first

        signature = inspect.signature(test)
        kept = [parameter for at, parameter in signature.parameters.items() if at != name]
        if len(kept) == len(signature.parameters):
            raise TypeError(f"{test.__qualname__}: expected an argument {name}, found none.")
        all_values.__signature__ = signature.replace(
            parameters=kept
        )  # what pytest gives fixtures to
        return all_values

    return decorate
