"""Values as text, and functions that know their results for stored arguments only.

An instructor's release can leave out what computes answers. What tests at home and given cells
need then stands in files, as values.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bits of a number that count when arguments are compared. Computers differ in the last of 53.
BITS = 24


class NotStored(ValueError):
    """Raised when a result is asked for that was not stored; the message says what to do."""


class StoredCalls:
    """A function that gives stored results for stored arguments.

    Parameters
    ----------
    name : str
        Its name, for messages.
    results : mapping
        What `encoded` made of the results, by `digest` of the arguments. None stands for
        arguments that the function cannot handle.

    Examples
    --------
    >>> double = StoredCalls.of("double", lambda x: 2 * x, [(1,), (4,)])
    >>> double(4)
    8
    >>> double(5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    attn_lib.course.stored.NotStored: double: expected arguments of ...
    """

    def __init__(self, name: str, results: Mapping[str, Any]) -> None:
        self.name = name
        self.results = dict(results)

    @classmethod
    def of(
        cls, name: str, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> StoredCalls:
        """Return the stored form of a function, with its results for these arguments."""
        stored = cls(name, {})
        for args in calls:
            stored.record(function, args)
        return stored

    def record(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call a function, store what it gives for these arguments, and return that.

        Raises
        ------
        ValueError, IndexError
            If it cannot handle them. This is stored, too.
        """
        key = digest(args)
        try:
            result = function(*args)
        except (ValueError, IndexError):
            self.results[key] = None
            raise
        self.results[key] = encoded(result)
        return result

    def __call__(self, *args: object) -> Any:
        """Return the stored result.

        Raises
        ------
        NotStored
            If there is none for these arguments.
        """
        node = self.results.get(digest(args))
        if node is None:
            raise NotStored(
                f"{self.name}: expected arguments of the visible tests or of a given cell, got "
                "others. This copy of attn_lib has results for those alone, and no function."
            )
        return decoded(node)


def digest(value: object) -> str:
    """Return a text that two values share if they are the same but for rounding.

    Parameters
    ----------
    value
        A number, a text, an array, or a sequence or mapping of such.

    Examples
    --------
    >>> digest([0.1 + 0.2]) == digest([0.3]), digest([0.3]) == digest([0.31])
    (True, False)
    """
    total = hashlib.sha256()
    for piece in _pieces(value):
        total.update(len(piece).to_bytes(8, "big") + piece)
    return total.hexdigest()[:24]


def encoded(value: object) -> Any:
    """Return a value in the form that JSON can hold; see `decoded`.

    Raises
    ------
    TypeError
        If it is of a type that has no such form.

    Examples
    --------
    >>> encoded([1, "a", {"b": (2.5, None)}])
    {'list': [1, 'a', {'dict': [['b', {'tuple': [2.5, None]}]]}]}
    """
    match value:
        case None | bool() | str():
            return value
        case int() | float() if type(value) in (int, float):
            return value if np.isfinite(value) else {"float": str(value)}
        case np.ndarray() | np.generic():
            out = io.BytesIO()
            np.save(out, np.asarray(value), allow_pickle=False)
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return {kind: base64.b64encode(out.getvalue()).decode("ascii")}
        case StoredCalls():
            return {"calls": [value.name, value.results]}
        case Mapping():
            return {"dict": [[encoded(key), encoded(part)] for key, part in value.items()]}
        case tuple() if hasattr(value, "_fields"):
            fields = [[name, encoded(getattr(value, name))] for name in value._fields]
            return {"fields": [type(value).__name__, fields]}
        case tuple():
            return {"tuple": [encoded(part) for part in value]}
        case list():
            return {"list": [encoded(part) for part in value]}
    raise TypeError(
        f"encoded: expected numbers, texts, arrays and containers of them, got {value!r}; "
        "store what the learner needs of it."
    )


def decoded(node: Any) -> Any:
    """Return the value that `encoded` made a node of. Arrays are new at each call.

    Examples
    --------
    >>> decoded(encoded({"a": (1, [np.arange(3)])}))
    {'a': (1, [array([0, 1, 2])])}
    """
    if not isinstance(node, dict):
        return node
    ((kind, inside),) = node.items()
    match kind:
        case "float":
            return float(inside)
        case "array" | "scalar":
            array = np.load(io.BytesIO(base64.b64decode(inside)), allow_pickle=False)
            return array if kind == "array" else array[()]
        case "calls":
            return StoredCalls(*inside)
        case "dict":
            return {decoded(key): decoded(part) for key, part in inside}
        case "fields":
            name, fields = inside
            made = namedtuple(name, [field for field, _ in fields])  # type: ignore[misc]
            return made(*(decoded(part) for _, part in fields))
        case "tuple":
            return tuple(map(decoded, inside))
    return list(map(decoded, inside))


def _pieces(value: object) -> list[bytes]:
    """Return what of a value counts when it is compared."""
    match value:
        case None | str():
            return [repr(value).encode()]
        case Mapping():
            inside = [piece for pair in value.items() for part in pair for piece in _pieces(part)]
            return [b"{", *inside, b"}"]
        case tuple() | list() if not _are_numbers(value):
            return [b"(", *(piece for part in value for piece in _pieces(part)), b")"]
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"digest: expected numbers, texts or containers of them, got {value!r}.")
    kind = "i" if array.dtype.kind == "u" else array.dtype.kind
    size = array.dtype.itemsize if kind == "f" else 0
    return [f"{kind}{size}{array.shape}".encode(), _without_last_bits(array).tobytes()]


def _are_numbers(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(part, (bool, int, float, np.number)) for part in values)


def _without_last_bits(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "f":
        return array.astype("<i8")
    numbers = array.astype("<f8")
    finite = np.isfinite(numbers)
    mantissa, exponent = np.frexp(np.where(finite, numbers, 0.0))
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS) + 0.0
    return np.where(finite, rounded, numbers).astype("<f8")
