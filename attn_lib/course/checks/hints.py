"""Hints: where an error or a wrong result most often comes from.

Each is said only where it fits the error's own text or all the numbers of the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.comparison import all_near, as_numbers
from attn_lib.course.notebooks.libraries import missing_library

#: How closely a hint has to fit, in multiples of the largest number.
MAX_RELATIVE = 1e-2

#: What a number is multiplied by in another unit.
_UNITS = (1e3, 1e6, 1e9, 1024.0, 1024.0**2)

#: Factors beyond this are no factors: one of the two numbers is all but 0.
MIN_RATIO = 1e-12

#: Factors nearer to 1 are no factors but something that was added.
MIN_FACTOR = 1.2

#: Largest factor that is told of one or two numbers.
MAX_FACTOR = 64

#: Roundings to more decimals cannot be told from the answer's own precision.
MAX_DECIMALS = 6

_CORE_MISMATCH = re.compile(r"matmul: .*\(size (\d+) is different from (\d+)\)")
_DOT_MISMATCH = re.compile(r"shapes .* not aligned: (\d+) \(dim \d+\) != (\d+) \(dim \d+\)")
_BROADCAST = re.compile(r"could not be broadcast together with shapes \(([\d,]*)\) \(([\d,]*)\)")
_SINGLE = re.compile(r"only (?:length-1|0-dimensional|size-1) arrays can be converted")
_WRONG_AXES = re.compile(r"axes don't match array|axis -?\d+ is out of bounds")
_WHOLE_NUMBERS = (
    "This is the right result without its decimals: an array that is made of whole numbers keeps "
    "only whole numbers."
)
_TIMES_INF = re.compile(r"\*.*\binf\b|\binf\b.*\*", re.IGNORECASE)


def error_hint(error: BaseException, line: str, args: Sequence[Any]) -> str:
    """Return what a learner can do about an error that an answer raised; "" if nothing fits.

    Parameters
    ----------
    error : BaseException
    line : str
        The line of the answer that raised it; "" if there is none.
    args : sequence
        The arguments of the call.

    Examples
    --------
    >>> error_hint(ValueError("axes don't match array"), "", [])
    'Count axes from the end: x.swapaxes(-1, -2) swaps the last two, however many there are.'
    """
    text = str(error)
    has_leading_axes = any(isinstance(arg, np.ndarray) and arg.ndim > 2 for arg in args)
    if has_leading_axes and ".T" in line:
        return "With leading axes, .T reverses them all; .swapaxes(-1, -2) swaps the last two."
    if missing := missing_library(error):
        return missing
    if sizes := _CORE_MISMATCH.search(text) or _DOT_MISMATCH.search(text):
        return (
            "In a @ b, the last axis of a has to be as long as the second-to-last axis of b; here "
            f"one has length {sizes[1]} and the other {sizes[2]}. Is a transpose missing, or one "
            "too many?"
        )
    if _WRONG_AXES.search(text):
        return (
            "Count axes from the end: x.swapaxes(-1, -2) swaps the last two, however many there "
            "are."
        )
    shapes = _BROADCAST.search(text)
    if shapes and _lost_an_axis(*shapes.groups()):
        return (
            "One of the two has an axis fewer. A sum, mean or maximum over an axis takes that axis "
            "away. With keepdims=True it stays, with length 1. x[..., None] adds one at the end."
        )
    if _SINGLE.search(text):
        return "Functions of `math`, float() and int() take one number; np.exp or np.sqrt an array."
    if "Cannot cast ufunc" in text and "'same_kind'" in text:
        return "x += y keeps the type that x has, here whole numbers. x = x + y makes a new array."
    if "truth value of an array" in text:
        return "`if`, `and`, `or` and `not` take one truth value; for arrays: np.where, &, | and ~."
    if isinstance(error, NameError):
        return (
            "A function knows its arguments, by the names in its `def` line, and what the cells "
            "above it define."
        )
    return ""


def result_hint(
    got: object,
    expected: NDArray[Any],
    tolerance: tuple[float, float],
    arose: str = "",
    *,
    is_value: bool = False,
    is_variance: bool = True,
) -> str:
    """Return how a wrong answer can come from the right one; "" if nothing fits all numbers.

    Parameters
    ----------
    got : object
        The learner's answer, which may be anything.
    expected : ndarray
        The right answer.
    tolerance : (float, float)
        Relative and absolute.
    arose : str
        The line in which the first NaN or infinity arose; "" if there is none.
    is_value : bool
        Whether it is a value, whose right number may still be asked for. Then no factor is told.
    is_variance : bool
        Whether the task is about a variance or a standard deviation. Else no root of a value is
        told, since a wrong reading may explain it better.

    Examples
    --------
    >>> result_hint(0.12, np.array(0.1234), (1e-4, 1e-5))
    'This is the right number, rounded to 2 decimals.'
    >>> result_hint(8.0, np.array(64.0), (1e-4, 1e-5))
    'This is the square root of the right number. The root of a variance is a standard deviation.'
    """
    array = as_numbers(got)
    if isinstance(got, tuple) and (array is None or array.shape != expected.shape):
        return _tuple_hint(got, expected)
    if array is None or array.dtype.kind not in "iuf" or expected.dtype == np.bool_:
        return ""
    if array.size != expected.size or not array.size:
        return ""
    if (np.isfinite(expected) & ~np.isfinite(array.reshape(expected.shape))).any():
        return _not_finite_hint(arose, bool(np.isnan(array).any()))
    if not (np.isfinite(expected).all() and np.isfinite(array).all()):
        return ""
    # A prediction or an estimate may be far off; a hint must fit more closely.
    relative = min(tolerance[0], MAX_RELATIVE)
    if array.dtype == np.float16:
        array = array.astype(np.float64)
    expected = expected.astype(np.float64)  # the square of one in float16 may overflow
    with np.errstate(all="ignore"):  # numbers at the end of the range, times a factor
        for other, sentence in _made_from(expected, array, is_value, is_variance):
            absolute = min(tolerance[1], MAX_RELATIVE * float(np.abs(other).max()))
            same_shape = array.shape == other.shape
            if same_shape and all_near(array, other, (relative, absolute)):
                return sentence
    return _rounding_hint(array, expected) if array.shape == expected.shape else ""


def form_hint(got: object, shape: tuple[int, ...]) -> str:
    """Return a hint on a typed value whose form is wrong; "" if nothing fits.

    Parameters
    ----------
    got : object
    shape : tuple of int
        The shape that is asked for.

    Examples
    --------
    >>> form_hint([0,893, 0,107], (2,))
    'Numbers have a decimal point: with a comma, 0,893 is the two numbers 0 and 893.'
    """
    array = as_numbers(got)
    if array is not None and array.shape == (1, *shape):
        return "It has one pair of brackets too many." if shape else _tuple_hint(got, np.zeros(()))
    if isinstance(got, np.ndarray) and len(shape) == 1 and got.ndim == shape[0] > 1:
        return (
            f"It is an array. If its shape is asked for, type the {got.ndim} numbers of that shape."
        )
    if array is not None and array.ndim > 1 and array.shape == (*shape, 1):
        return "Each number stands in brackets of its own: write the numbers alone."
    if not isinstance(got, (list, tuple)) or len(shape) > 1:
        return ""
    wanted = shape[0] if shape else 1
    whole = [part for part in got if isinstance(part, int) and not isinstance(part, bool)]
    missing = len(got) - wanted
    if not 0 < missing <= wanted or len(whole) < 2 * missing:
        return ""
    pairs = [
        (one, two)
        for one, two in pairwise(got)
        if isinstance(one, int) and isinstance(two, int) and two >= 0
    ]
    surely = [(one, two) for one, two in pairs if one == 0 and two >= 10]
    if missing < wanted and not surely:
        return ""
    one, two = (surely or pairs or [(0, 5)])[0]
    return (
        f"Numbers have a decimal point: with a comma, {one},{two} is the two numbers {one} and "
        f"{two}."
    )


def _made_from(
    expected: NDArray[Any], array: NDArray[Any], is_value: bool, is_variance: bool
) -> Iterator[tuple[NDArray[Any], str]]:
    """Yield what a slip makes of the right answer, with the sentence that says so."""
    what = "number" if array.size == 1 else "result"
    if expected.ndim > 1:
        yield (
            expected.swapaxes(-1, -2),
            "This is the right result, transposed: its last two axes are swapped.",
        )
    if array.shape != expected.shape:
        if array.squeeze().shape == expected.shape:
            yield (
                expected.reshape(array.shape),
                "This is the right result with an axis of length 1 too many.",
            )
        return
    if array.dtype.kind in "iu" and array.ndim and array.any():
        yield np.trunc(expected), _WHOLE_NUMBERS
    if is_variance or not is_value:
        yield from _root_and_square(expected, what, is_variance)
    if not expected.any():
        return
    yield -expected, f"This is the right {what} with the opposite sign."
    yield 100 * expected, f"This is the right {what} in percent; shares of 1 are asked for."
    if not _are_small_counts(expected):
        for unit in _UNITS:
            for other in (unit * expected, expected / unit):
                yield other, f"This is the right {what} in another unit."
        if not is_value:
            yield from _times_a_factor(expected, array)
    if array.size > 2 and not is_value:
        yield (
            _in_the_order_of(array, expected),
            "These are the right numbers in other places: in another order, or along another axis.",
        )


def _root_and_square(
    expected: NDArray[Any], what: str, is_variance: bool
) -> Iterator[tuple[NDArray[Any], str]]:
    if (expected > 0).all():
        root, square = (
            f"This is the {of} of the right {what}." for of in ("square root", "square")
        )
        if is_variance:
            root += " The root of a variance is a standard deviation."
            square += " The square of a standard deviation is a variance."
        yield np.sqrt(expected), root
        yield np.square(expected), square


def _are_small_counts(numbers: NDArray[Any]) -> bool:
    """Say whether they are whole numbers, such as ids, of which many are multiples of others."""
    return bool((numbers == np.rint(numbers)).all() and np.abs(numbers).max() < 100)


def _times_a_factor(
    expected: NDArray[Any], array: NDArray[Any]
) -> Iterator[tuple[NDArray[Any], str]]:
    """Yield the right result times the factor that its largest number is off by."""
    largest = np.abs(expected).argmax()
    factor = float(array.flat[largest] / expected.flat[largest])
    if not MIN_RATIO < abs(factor) < 1 / MIN_RATIO:
        return
    size = max(abs(factor), 1 / abs(factor))
    is_whole = abs(size - round(size)) < 1e-6
    if size < MIN_FACTOR or (array.size < 3 and not (is_whole and size <= MAX_FACTOR)):
        return
    told = f"1/{round(size)}" if is_whole and abs(factor) < 1 else f"{abs(factor):.4g}"
    told = f"-{told}" if factor < 0 else told
    each = "The number" if array.size == 1 else "Each number"
    yield (
        factor * expected,
        f"{each} is {told} times the right one. Is a factor missing, or one too many?",
    )


def _in_the_order_of(array: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers with the smallest where the array has its smallest, and so on."""
    moved = np.empty(numbers.size)
    moved[array.ravel().argsort(kind="stable")] = np.sort(numbers, axis=None)
    return moved.reshape(numbers.shape)


def _rounding_hint(array: NDArray[Any], expected: NDArray[Any]) -> str:
    for decimals in range(MAX_DECIMALS):
        rounded = np.round(expected, decimals)
        if rounded.any() and all_near(array, rounded, (1e-9, 1e-7 * 10.0**-decimals)):
            what = "number" if array.size == 1 else "result"
            return f"This is the right {what}, rounded to {_counted(decimals)}."
    return ""


def _tuple_hint(got: object, expected: NDArray[Any]) -> str:
    if not isinstance(got, tuple):
        return ""
    shapes = [array.shape if (array := as_numbers(part)) is not None else None for part in got]
    if not any(shapes) and expected.ndim:  # numbers alone: a list of another length
        return ""
    if len(got) == 1:
        return "It is a tuple of one: a comma at the end of a line, `return x,`, makes one."
    if not expected.ndim:
        return (
            f"It is a tuple of {len(got)}; a comma, as in `return a, b`, makes one. Give one "
            "number alone."
        )
    place = shapes.index(expected.shape) if expected.shape in shapes else None
    which = "" if place is None else f" Number {place + 1} has the shape that is asked for."
    return f"It is a tuple of {len(got)}; `return a, b` makes one. Return one array alone.{which}"


def _not_finite_hint(arose: str, has_nan: bool) -> str:
    if not arose:
        return ""
    what = "NaN" if has_nan else "infinity"
    told = f"The first {what} comes from {arose}."
    if has_nan and _TIMES_INF.search(arose):
        return (
            f"{told} 0 * inf is NaN, so (1 - mask) * -inf is NaN where the mask is 1: choose "
            "between two numbers with np.where."
        )
    if "exp(" in arose:
        return f"{told} np.exp of a number above 709 is too large for a float."
    return told


def _lost_an_axis(one: str, other: str) -> bool:
    """Return whether the shorter of two shapes is the longer one without one of its axes."""
    short, long = sorted(
        ([int(size) for size in shape.split(",") if size] for shape in (one, other)), key=len
    )
    return len(long) - len(short) == 1 and any(
        long[:i] + long[i + 1 :] == short for i in range(len(long))
    )


def _counted(decimals: int) -> str:
    return {0: "whole numbers", 1: "1 decimal"}.get(decimals, f"{decimals} decimals")
