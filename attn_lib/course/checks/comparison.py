"""Describing how an answer differs from the right one."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.remote import type_name

#: Characters of a learner's text that a message quotes.
MAX_SHOWN_TEXT = 40

_NO_BOOLEANS = (
    "expected True and False, got {}. A comparison such as i >= j gives them, and x.astype(bool) "
    "makes them of 1 and 0."
)
_MASKED = "a masked array. Fill the masked entries: x.filled(0)."
_NUMBER_IN_QUOTES = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)?\s*")
_NUMBER_WITH_MORE = re.compile(r"\D*\d+(?:[.,]\d+)?\D*")
_WITH_SEPARATORS = re.compile(r"\s*\d{1,3}(?:([.,' ])\d{3})(?:\1\d{3})+\s*")
_WITH_COMMAS_AND_POINT = re.compile(r"\s*\d{1,3}(?:,\d{3})+\.\d+\s*")
_TOO_FEW_DIGITS = " It is in float16, which has three digits: compute in float64 or float32."


def difference(
    got: object,
    expected: NDArray[Any],
    tolerance: tuple[float, float],
    *,
    tells_expected: bool = True,
) -> str:
    """Say how `got` differs from `expected`, or return "" if it does not.

    Type, shape, kind of number, finiteness and values are compared in this order. Only the
    first difference is described, since the later comparisons mean nothing after it.

    Parameters
    ----------
    got : object
        The learner's answer, which may be anything.
    expected : ndarray
    tolerance : (float, float)
        Relative and absolute tolerance on the values.
    tells_expected : bool
        Whether to say which value was expected.

    Examples
    --------
    >>> difference([[1.0, 2.0]], np.array([1.0, 2.0]), (1e-4, 1e-5))
    'expected shape (2,), got (1, 2).'
    """
    problem = form_problem(got, expected)
    numbers = as_numbers(got)
    if problem or numbers is None:
        return problem
    array = numbers.astype(np.float64)
    wrong = ~_are_near(array, expected, tolerance)
    if not wrong.any():
        return ""
    where = _first(wrong)
    shown = (expected[where], array[where])
    told = "expected {}, got {}" if tells_expected else "{1} is not right"
    if expected.dtype == np.bool_:
        told = told.format(*map(bool, shown))
    else:
        told = told.format(*_told_apart(*shown))
    hint = _TOO_FEW_DIGITS if numbers.dtype == np.float16 else ""
    if array.size == 1:
        return f"{told}.{hint}"
    differ = f"{wrong.sum()} of {array.size} entries differ"
    return f"entry {_position(where)}: {told} ({differ}).{hint}"


def all_near(
    array: NDArray[Any],
    other: NDArray[Any],
    tolerance: tuple[float, float],
    *,
    nan_equal: bool = False,
) -> bool:
    """Return what ``np.allclose`` returns for two arrays of real numbers of the same shape.

    A wrong answer is compared with dozens of arrays that could explain it. Nearly all of them
    differ in the first entry, and then no others are looked at.

    Parameters
    ----------
    array, other : ndarray
    tolerance : (float, float)
        Relative to `other`, and absolute.
    nan_equal : bool
        Whether NaN equals NaN.

    Examples
    --------
    >>> all_near(np.array([1.0, 2.0]), np.array([1.0, 2.1]), (0.0, 0.2))
    True
    """
    if not array.size:
        return True
    relative, absolute = tolerance
    one, two = float(array.item(0)), float(other.item(0))
    # Twice the tolerance, because the arrays may have fewer digits than these floats.
    if abs(one - two) > 2 * (absolute + relative * abs(two)) or (one != one) != (two != two):
        return False
    near = _are_near(array, other, tolerance)
    if nan_equal:
        near |= np.isnan(array) & np.isnan(other)
    return bool(near.all())


def nonzero_problem(got: object, expected: NDArray[Any]) -> str:
    """Say where `got` is not exactly 0 although `expected` is, or return "" if it is everywhere.

    Examples
    --------
    >>> nonzero_problem([0.5, 1e-6], np.array([0.5, 0.0]))
    'entry [1]: expected exactly 0, got 1e-06 (1 of 1 such entries).'
    """
    array = as_numbers(got)
    if array is None or array.shape != expected.shape:
        return ""
    hidden = expected == 0
    wrong = hidden & (array != 0)
    if not wrong.any():
        return ""
    where = _first(wrong)
    told = f"entry {_position(where)}: expected exactly 0, got {array[where]:.6g}"
    return f"{told} ({wrong.sum()} of {hidden.sum()} such entries)."


def form_problem(got: object, expected: NDArray[Any]) -> str:
    """Say how `got` differs from `expected` in type, shape, kind of number or finiteness."""
    array = as_numbers(got)
    if array is None:
        return _describe_type(got, expected)
    if array.shape != expected.shape:
        if array.ndim == expected.ndim == 1:
            return f"expected {expected.size} numbers, got {array.size}."
        return f"expected shape {shape_text(expected)}, got {shape_text(array)}."
    if expected.dtype == np.bool_:
        return "" if array.dtype == np.bool_ else _NO_BOOLEANS.format(array.dtype)
    if array.dtype.kind not in "iuf":
        return f"expected real numbers, got dtype {array.dtype}."
    wrong_finite = np.isfinite(array) != np.isfinite(expected)
    if wrong_finite.any():
        where = _first(wrong_finite)
        at = f" at {_position(where)}" if where else ""
        wanted = "finite numbers" if np.isfinite(expected[where]) else f"{expected[where]}"
        return (
            f"expected {wanted}, got {array[where]}{at} "
            f"({wrong_finite.sum()} of {array.size} entries)."
        )
    return ""


def result_of(function: Callable[..., Any], args: Sequence[Any], row: int | None) -> NDArray[Any]:
    """Return the result of a function for copies of `args`: all of it, or the row `row`."""
    result = function(*copy.deepcopy(args))
    return np.asarray(result if row is None else result[row])


def tolerance_for(expected: NDArray[Any], args: Sequence[Any] = ()) -> tuple[float, float]:
    """Return the relative and absolute tolerance for an answer to a task with these arguments.

    The task alone chooses it. If an answer's own precision did, casting a wrong answer to float16
    would make it right. The tolerance is the same for float64 and float32, since float64 numbers
    may come from float32 steps; arguments in float16 allow for the steps of float16. The absolute
    tolerance grows with the largest expected number: small numbers next to it may be sums of
    equally large ones, with the same absolute error.

    Parameters
    ----------
    expected : ndarray
        The right answer.
    args : sequence
        What the task hands to the function.

    Examples
    --------
    >>> tolerance_for(np.array([20.0, -np.inf]))
    (0.0001, 0.0002)
    >>> tolerance_for(np.array([20.0]), [np.ones(3, np.float16)])
    (0.002, 0.04)
    >>> tolerance_for(np.array([2**20]))
    (5e-07, 0.0)
    """
    half = any(isinstance(arg, np.ndarray) and arg.dtype == np.float16 for arg in args)
    if expected.dtype.kind in "iu":  # a count; a few steps in float32 may round it
        return 5e-7, 0.0
    finite = np.isfinite(expected)  # a masked score is -inf; only the others have a size
    size = float(np.max(np.abs(expected), initial=0.0, where=finite))
    # No floor of 1 for float16: with it, zeros would be accepted in place of small numbers.
    return (2e-3, 2e-3 * size) if half else (1e-4, 1e-5 * max(1.0, size))


def as_numbers(value: object) -> NDArray[Any] | None:
    """Return `value` as a plain array if it is a number, an array or nested lists of numbers.

    Fractions and Decimals are numbers too. For anything else the result is None, also for masked
    entries: NumPy's own functions skip those.

    Examples
    --------
    >>> from fractions import Fraction
    >>> as_numbers([Fraction(1, 4), Decimal("0.75")])
    array([0.25, 0.75])
    >>> as_numbers([0.25, "0.75"]) is None
    True
    """
    if value is None or isinstance(value, (str, bytes, dict, set)) or has_masked_entries(value):
        return None
    try:
        array = np.asarray(value)
        if array.dtype == np.object_:
            array = _of_numbers(array)
    except Exception:  # a learner's object may raise anything in __array__
        return None
    return array if array.dtype.kind in "biufc" else None


def entries_of(value: object) -> Sequence[object] | None:
    """Return a list or tuple, or an array of objects or texts as lists; None for anything else."""
    if isinstance(value, np.ndarray):
        as_lists = value.ndim and value.dtype.kind in "OSU" and not has_masked_entries(value)
        return value.tolist() if as_lists else None
    return value if isinstance(value, (list, tuple)) else None


def kind_of(value: object) -> str:
    """Return the name of a value's type, as messages show it; of an array, its dtype too."""
    if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        return f"array of dtype {value.dtype}"
    return type_name(value)


def has_masked_entries(value: object) -> bool:
    """Return whether a value is a masked array with masked entries, or a list that holds one."""
    if isinstance(value, (list, tuple)):
        kinds = {*map(type, value)}  # far fewer than entries
        if not any(issubclass(kind, (list, tuple, np.ma.MaskedArray)) for kind in kinds):
            return False
        return any(has_masked_entries(part) for part in value)
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def _are_near(
    array: NDArray[Any], expected: NDArray[Any], tolerance: tuple[float, float]
) -> NDArray[np.bool_]:
    """Return what ``np.isclose`` returns, without its care for other types, which takes longer."""
    relative, absolute = tolerance
    if expected.dtype.kind != "f":  # the difference of two booleans is no number
        expected = expected.astype(np.float64)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        near = np.abs(array - expected) <= absolute + relative * np.abs(expected)
    return near & np.isfinite(expected) | (array == expected)


def _of_numbers(array: NDArray[np.object_]) -> NDArray[Any]:
    """Return an array of objects as one of booleans if all are, else of floats."""
    entries = list(array.flat)
    if entries and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        return array.astype(np.bool_)
    floats = [_exact_as_float(entry) for entry in entries]
    return np.array(floats, dtype=np.float64).reshape(array.shape)


def _exact_as_float(number: object) -> float:
    if not isinstance(number, (Real, Decimal, np.floating)):
        raise TypeError(f"expected a number, got {type_name(number)}")
    return float(number)


def _describe_type(got: object, expected: NDArray[Any]) -> str:
    """Say what was expected in place of something that is no number or array of numbers."""
    if expected.ndim == 0:
        wanted = "a number"
    elif expected.ndim == 1:
        wanted = f"{expected.size} numbers"
    else:
        wanted = f"an array of shape {shape_text(expected)}"
    parts = entries_of(got)
    if parts is None:
        return f"expected {wanted}, got {_described(got)}"
    entry = _no_number(parts)
    if entry is None:
        kind = type_name(got)
        return f"expected {wanted}, got a {kind} whose entries have different lengths."
    where, part = entry
    return f"expected {wanted}, but entry {_position(where)} is {_described(part)}"


def _described(value: object) -> str:
    """Describe something that is no number, with what to do about it; ends with a full stop."""
    if value is None:
        return "None. Is there a `return`, or a value still to fill in?"
    if value is Ellipsis:
        return "the placeholder `...`. Fill it in."
    if isinstance(value, str):
        if _NUMBER_IN_QUOTES.fullmatch(value):
            number = value.strip().replace(",", ".")
            comma = " and with a decimal point" if "," in value else ""
            return f"the text {value!r}. Write it without quotes{comma}: {number}."
        if _WITH_COMMAS_AND_POINT.fullmatch(value):
            number = value.strip().replace(",", "")
            return f"the text {value!r}. Write it without quotes and separators: {number}."
        if _WITH_SEPARATORS.fullmatch(value):
            digits = re.sub(r"\D", "", value)
            return f"the text {value!r}. Write it without quotes and separators: {digits}."
        shown = value if len(value) <= MAX_SHOWN_TEXT else f"{value[:MAX_SHOWN_TEXT]}…"
        alone = " Write the number alone." if _NUMBER_WITH_MORE.fullmatch(value) else ""
        if value.strip().startswith(("(", "[")):
            alone = " Write it without quotes."
        return f"the text {shown!r}.{alone}"
    if isinstance(value, int):
        return "an integer that is too large for a float."
    kind = kind_of(value)
    if kind in ("function", "builtin_function_or_method", "method", "ufunc"):
        return "a function. To call it, write its arguments in parentheses behind its name."
    if kind in ("dict", "set"):
        return f"a {kind}. Put the numbers into square brackets, which make a list."
    return _MASKED if kind in ("MaskedArray", "MaskedConstant") else f"{kind}."


def _no_number(parts: Sequence[object]) -> tuple[tuple[int, ...], object] | None:
    """Return the first entry of nested lists that is no number, with its position."""
    for i, part in enumerate(parts):
        if isinstance(part, (list, tuple)):
            inside = _no_number(part)
            if inside:
                return (i, *inside[0]), inside[1]
        elif as_numbers(part) is None:
            return (i,), part
    return None


def shape_text(array: NDArray[Any]) -> str:
    """Return an array's shape as messages show it."""
    return "() (a single number)" if array.ndim == 0 else str(array.shape)


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Return two different numbers with six digits, or as many as tell them apart."""
    for digits in (6, 9, 12, 17):
        texts = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def _first(where: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(where)[0])


def _position(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"
