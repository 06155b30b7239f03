"""Values as bytes, between the judge and the process that executes a learner's cells.

A frame is two lengths, a tree as JSON, and the numbers of the arrays in it as raw bytes; the tree
has the type and shape of each array. There are no pickles: reading a frame builds plain values and
never runs code.

Defends against: hostile bytes. The reader refuses what is too large, too deep or has too many
parts before it builds anything of that size, and lengths and shapes that contradict each other.

Does not defend against: values that are wrong. The process at the other end chooses them.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks.comparison import as_numbers, entries_of, kind_of
from attn_lib.course.checks.drawings import Curve, Drawing
from attn_lib.course.checks.observation import Observation
from attn_lib.course.checks.remote import Remote, type_name

#: The header of a frame: the length of the JSON part, and of all arrays together.
HEADER = struct.Struct("!II")

#: Bytes of memory that one byte of JSON needs once it is read, at most. The limits below follow
#: from it.
BYTES_A_BYTE = 30
MAX_JSON = 8 * 2**20
MAX_PARTS = 250_000
MAX_DEPTH = 32
#: Entries of all sets in a frame, and of its dicts whose keys are not all texts. Hostile numbers
#: can be chosen to have equal hashes, and then each entry is compared with all before it.
MAX_HASHED = 10_000

#: Booleans, integers, floats and complex numbers.
NUMBER_KINDS = "biufc"

Buffer = bytes | bytearray | memoryview

_TOO_MUCH_TEXT = f"more than {MAX_JSON // 2**20} MiB of text and lists"
_INT_BITS = 2048
_MAX_AXES = 64  # NumPy allows no more
_NUMBERS = re.compile(rf"[<>|][{NUMBER_KINDS}]\d{{1,2}}")  # how NumPy writes a type of numbers
_TYPE_NAME = 80
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class WireError(Exception):
    """Raised when bytes are not a valid frame."""


class TooLarge(Exception):
    """Raised when a value does not fit in a frame."""


class Opaque(Remote):
    """Stands for an object that cannot cross; it has nothing but the name of its type.

    Parameters
    ----------
    type_name : str
        Unprintable characters are removed; if none are left, "object" is used.

    Examples
    --------
    >>> opaque = Opaque("generator")
    >>> opaque, type_name(opaque), Opaque("")
    (<generator>, 'generator', <object>)
    """

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        if not type_name.isprintable():
            type_name = "".join(character for character in type_name if character.isprintable())
        self.type_name = type_name[:_TYPE_NAME] or "object"

    def __eq__(self, other: object) -> bool:
        """Return whether the other is an `Opaque` with the same type name."""
        return isinstance(other, Opaque) and other.type_name == self.type_name

    def __hash__(self) -> int:
        """Return the hash of the type name."""
        return hash(self.type_name)

    def __repr__(self) -> str:
        """Return the type name in angle brackets."""
        return f"<{self.type_name}>"


def pack(value: Any, *, max_bytes: int, strict: bool = False, exact: bool = False) -> bytes:
    """Return the frame of a value.

    Parameters
    ----------
    value : object
        What to send.
    max_bytes : int
        The limit for all arrays in it together.
    strict : bool
        Raise `TypeError` for an object that cannot cross. By default, an `Opaque` is sent.
    exact : bool
        Send sets, bytes, ranges, complex numbers and dicts of any keys as what they are. By default
        those that NumPy can convert are sent as arrays of numbers, and the others as an `Opaque`.

    Raises
    ------
    TooLarge
        If the value exceeds `max_bytes` or a limit of this module.
    TypeError
        If `strict` and the value contains an object that cannot cross.

    Examples
    --------
    >>> unpack(pack((1, [2.5, "x"]), max_bytes=0), max_bytes=0)
    (1, [2.5, 'x'])
    """
    writer = _Writer(max_bytes, strict, exact)
    text = _ENCODER.encode(writer.tree(value)).encode("ascii")
    if len(text) > MAX_JSON:
        raise TooLarge(_TOO_MUCH_TEXT)
    if _has_too_many_parts(text):
        raise TooLarge(f"more than {MAX_PARTS} parts")
    return b"".join([HEADER.pack(len(text), writer.size), text, *writer.blobs])


def body_length(header: Buffer, *, max_bytes: int) -> int:
    """Return how many bytes follow a frame's header.

    Raises
    ------
    WireError
        If there are more of them than allowed.
    """
    text, arrays = HEADER.unpack(header)
    if text > MAX_JSON or arrays > max_bytes:
        raise WireError("the frame is too large")
    return text + arrays


def weight(header: Buffer) -> int:
    """Return how many bytes of memory the value of a frame with this header needs at most."""
    text, arrays = HEADER.unpack(header)
    return BYTES_A_BYTE * text + arrays


def unpack(frame: Buffer, *, max_bytes: int) -> Any:
    """Return the value in a frame.

    Raises
    ------
    WireError
        If the frame is not what `pack` writes.
    """
    if len(frame) < HEADER.size:
        raise WireError("the frame has no header")
    total = body_length(frame[: HEADER.size], max_bytes=max_bytes)
    if len(frame) != HEADER.size + total:
        raise WireError("the frame is not as long as it says")
    length, _ = HEADER.unpack(frame[: HEADER.size])
    view = memoryview(frame)[HEADER.size :]
    text = bytes(view[:length])
    if _has_too_many_parts(text):
        raise WireError("the frame has too many parts")
    reader = _Reader(view[length:], max_bytes)
    try:
        value = reader.value(_DECODER.decode(text.decode("ascii")))
    except WireError:
        raise
    except Exception as error:  # json and NumPy read hostile bytes here and may raise anything
        raise WireError("the frame does not hold a value that pack writes") from error
    reader.finish()
    return value


class _Writer:
    """Makes the tree of a value and collects its arrays."""

    def __init__(self, max_bytes: int, strict: bool, exact: bool) -> None:
        self.blobs: list[memoryview] = []
        self.size = 0
        self._left = max_bytes
        self._too_large = f"more than {max_bytes / 2**20:g} MiB"
        self._strict = strict
        self._exact = exact
        self._parts = 0
        self._hashed_left = MAX_HASHED

    def tree(self, value: Any, depth: int = 0) -> Any:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise TooLarge(f"more than {MAX_PARTS} parts")
        if depth > MAX_DEPTH:
            return self._opaque(value, f"{type_name(value)} inside {MAX_DEPTH} others")
        if isinstance(value, str) and len(value) > MAX_JSON:  # checked before it is copied
            raise TooLarge(_TOO_MUCH_TEXT)
        plain = _plain(value)
        if plain is not None:
            return plain[0]
        if isinstance(value, np.generic):
            return self._numbers("scalar", np.asarray(value), value)
        container = self._container(value, depth)
        if container is not None:
            return container
        if isinstance(value, (Curve, Drawing, Observation)):
            kind = next(kind for kind in _RECORDS.values() if isinstance(value, kind))
            fields = [
                self.tree(getattr(value, field.name), depth + 1)
                for field in dataclasses.fields(kind)
            ]
            return [_RECORD_TAGS[kind], *fields]
        if isinstance(value, Opaque):
            return self._opaque(value, type_name(value))
        numbers = as_numbers(value)
        if numbers is None and isinstance(value, np.ndarray):
            parts = entries_of(value)
            if parts is not None:
                return self.tree(parts, depth)
        return self._numbers("array", numbers, value)

    def _container(self, value: Any, depth: int) -> Any:
        if isinstance(value, (list, tuple)):
            tag = "list" if isinstance(value, list) else "tuple"
            return self._sequence(tag, value, depth)
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            pairs = [[str(key), self.tree(part, depth + 1)] for key, part in value.items()]
            return ["dict", pairs]
        if self._exact and isinstance(value, _EXACT):
            return self._exactly(value, depth)
        return None

    def _exactly(self, value: Any, depth: int) -> Any:
        if isinstance(value, complex):
            return ["complex", *(self.tree(float(part)) for part in (value.real, value.imag))]
        if isinstance(value, bytes):
            return ["bytes", self._numbers("array", np.frombuffer(value, np.uint8), value)]
        if isinstance(value, range):
            if not _is_short(value):
                return self._opaque(value, f"range of more than {MAX_PARTS} numbers")
            return ["range", *map(self.tree, (value.start, value.stop, value.step))]
        if isinstance(value, dict):
            return self._hashed("pairs", value, list(value.items()), depth)
        return self._hashed(_SETS[isinstance(value, set)], value, list(value), depth)

    def _hashed(self, tag: str, value: Any, parts: list[Any], depth: int) -> Any:
        self._hashed_left -= len(parts)
        if self._hashed_left < 0:
            return self._opaque(value, f"{type_name(value)} with more than {MAX_HASHED} entries")
        return [tag, *(self.tree(part, depth + 1) for part in parts)]

    def _sequence(self, tag: str, value: Any, depth: int) -> Any:
        if len(value) > MAX_PARTS - self._parts:  # a list of numbers still fits as one array
            # Of integers or floats NumPy makes 8 bytes each, or no numbers at all.
            if type(value[0]) in (int, float) and 8 * len(value) > self._left:
                raise TooLarge(self._too_large)
            return self._numbers("array", as_numbers(value), value)
        parts = list(value)
        if depth < MAX_DEPTH and _are_plain(parts):  # what `tree` does for each, at once
            self._parts += len(parts)
            return [tag, *parts]
        return [tag, *(self.tree(part, depth + 1) for part in parts)]

    def _numbers(self, tag: str, array: NDArray[Any] | None, value: Any) -> Any:
        if array is None or array.dtype.kind not in NUMBER_KINDS:
            return self._opaque(value, kind_of(value))
        extent = _extent(array.shape, array.itemsize)
        if extent > self._left:
            raise TooLarge(self._too_large)
        # In the order that it has in memory, on which rounding errors may depend.
        order: Literal["C", "F"] = "F" if array.flags.fnc else "C"
        # A view of the memory where it is in one piece, because large arrays take long to copy.
        self.blobs.append(array.ravel(order).view(np.uint8).data)
        self.size += array.nbytes
        self._left -= extent
        return [tag, array.dtype.str, order, *array.shape]

    def _opaque(self, value: Any, name: str) -> Any:
        if self._strict:
            raise TypeError(f"expected a value that can be sent, got {type_name(value)}")
        return ["opaque", name[:_TYPE_NAME]]


def _check_integers(integers: list[int]) -> None:
    if max(map(int.bit_length, integers)) > _INT_BITS:
        raise WireError("the frame has an integer with too many digits")


class _Reader:
    """Makes the value of an untrusted tree."""

    def __init__(self, arrays: memoryview, max_bytes: int) -> None:
        self._arrays = arrays
        self._left = max_bytes
        self._at = 0
        self._parts = 0
        self._hashed_left = MAX_HASHED

    def finish(self) -> None:
        if self._at != len(self._arrays):
            raise WireError("the frame has bytes that belong to no array")

    def value(self, tree: Any, depth: int = 0) -> Any:
        self._count(1, depth)
        if not isinstance(tree, list):
            if isinstance(tree, int):
                _check_integers([tree])
            return tree
        tag, *parts = tree
        if tag in ("list", "tuple"):
            values = self._values(parts, depth + 1)
            return values if tag == "list" else tuple(values)
        if tag == "dict":
            (pairs,) = parts
            return self._dict(pairs, depth)
        if tag in ("array", "scalar"):
            array = self._array(*parts)
            return array if tag == "array" else array[()]
        if tag == "float":
            (name,) = parts
            return _NON_FINITE[name]
        if tag == "ellipsis" and not parts:
            return ...
        if tag in _EXACT_TAGS:
            return self._exact(tag, [self.value(part, depth + 1) for part in parts])
        if tag == "opaque":
            (name,) = parts
            return Opaque(_typed(name, str))
        return self._record(tag, [self.value(part, depth + 1) for part in parts])

    def _exact(self, tag: str, values: list[Any]) -> Any:
        if tag == "bytes":
            (numbers,) = values
            return _typed(numbers, np.ndarray).astype(np.uint8).tobytes()
        if tag == "complex":
            return complex(*(_typed(value, float) for value in values))
        if tag == "range":
            found = range(*(_typed(value, int) for value in values))
            if not _is_short(found):
                raise WireError("the frame has a range that is too long")
            return found
        self._hashed_left -= len(values)
        if self._hashed_left < 0:
            raise WireError("the frame has sets or dicts with too many entries")
        if tag == "pairs":
            return dict(values)
        return set(values) if tag == "set" else frozenset(values)

    def _count(self, parts: int, depth: int) -> None:
        self._parts += parts
        if self._parts > MAX_PARTS or depth > MAX_DEPTH + 1:
            raise WireError("the frame is too deep or has too many parts")

    def _values(self, parts: list[Any], depth: int) -> list[Any]:
        kinds = {*map(type, parts)}
        if kinds not in ({int}, {float}):
            return [self.value(part, depth) for part in parts]
        # What `value` does for each, at once: lists of numbers are long.
        self._count(len(parts), depth)
        if int in kinds:
            _check_integers(parts)
        return parts

    def _dict(self, pairs: Any, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, part in _typed(pairs, list):
            if _typed(key, str) in found:
                raise WireError(f"the frame has the key {key!r} twice")
            found[key] = self.value(part, depth + 1)
        return found

    def _array(self, kind: Any, order: Any, *shape: Any) -> NDArray[Any]:
        if not _NUMBERS.fullmatch(_typed(kind, str)) or order not in ("C", "F"):
            raise WireError("the frame has an array of an unsupported type")
        sizes = len(shape) <= _MAX_AXES and all(type(size) is int for size in shape)
        if not sizes or not all(0 <= size < 2**31 for size in shape):
            raise WireError("the frame has an array of an impossible shape")
        dtype = np.dtype(kind)
        length = math.prod(shape) * dtype.itemsize
        if length > len(self._arrays) - self._at:
            raise WireError("the frame has an array that is larger than its bytes")
        self._left -= _extent(shape, dtype.itemsize)
        if self._left < 0:
            raise WireError("the frame has arrays that are too large")
        data = self._arrays[self._at : self._at + length]
        self._at += length
        if dtype.kind == "b":  # bytes other than 0 and 1 are not valid booleans
            flat = np.frombuffer(data, dtype=np.uint8) != 0
        else:
            flat = np.frombuffer(data, dtype=dtype).copy()
        return flat.reshape(shape, order=order)

    def _record(self, tag: Any, fields: list[Any]) -> Any:
        kind, checks = _RECORDS.get(tag), _FIELDS.get(tag, ())
        if kind is None or len(fields) != len(checks):
            raise WireError("the frame has a part of an unknown kind")
        if not all(fits(field) for fits, field in zip(checks, fields, strict=True)):
            raise WireError(f"the frame has an invalid {tag}")
        return kind(*fields)


def _extent(shape: Sequence[int], itemsize: int) -> int:
    """Return how many bytes an array counts towards the limit.

    An axis of size 0 counts as one of size 1: an array of a billion empty rows has no bytes, but
    a loop over its rows would take a billion steps.
    """
    return math.prod(max(size, 1) for size in shape) * itemsize


def _is_short(value: range) -> bool:
    """Return whether a loop over the range would take no more steps than over a list."""
    try:
        return len(value) <= MAX_PARTS
    except OverflowError:
        return False


def _has_too_many_parts(text: bytes) -> bool:
    """Return whether JSON may have too many parts, without parsing it.

    Commas and brackets in texts count too, so the limit is generous.
    """
    return text.count(b",") + text.count(b"[") > 4 * MAX_PARTS


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _all(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is tuple and all(type(part) is kind for part in value)


_EXACT = (complex, bytes, range, dict, set, frozenset)
_EXACT_TAGS = ("bytes", "complex", "range", "set", "frozenset", "pairs")
_SETS = {True: "set", False: "frozenset"}
_RECORDS: dict[Any, type] = {"curve": Curve, "drawing": Drawing, "observation": Observation}
_RECORD_TAGS = {kind: tag for tag, kind in _RECORDS.items()}
_FIELDS: dict[Any, tuple[Callable[[Any], bool], ...]] = {
    "curve": (_is(str), _is(np.ndarray), _is(np.ndarray)),
    "drawing": (
        *[_is(str)] * 4,
        _all(Curve),
        _all(np.ndarray),
        *[_all(float)] * 2,
        *[_is(str)] * 2,
        *[_all(str)] * 2,
        _is(bool),
    ),
    "observation": (lambda _: True, _is(str), *[_is(bool)] * 3, *[_is(str)] * 2),
}


def _plain(value: Any) -> tuple[Any] | None:
    """Return the tree of a simple value in a tuple; None if the value is not simple."""
    if value is None or isinstance(value, bool):
        return (value,)
    if value is ...:
        return (["ellipsis"],)
    if isinstance(value, np.generic):  # np.float64 is also a float, but must keep its type
        return None
    if isinstance(value, str):
        return (str(value),)
    if isinstance(value, int):
        return (int(value),) if value.bit_length() <= _INT_BITS else None
    if isinstance(value, float):
        number = float(value)
        return (number,) if math.isfinite(number) else (["float", repr(number)],)
    return None


def _are_plain(parts: list[Any]) -> bool:
    """Return whether these are all integers, or all floats, each of which is its own tree."""
    kinds = {*map(type, parts)}
    if kinds == {int}:
        return max(map(int.bit_length, parts)) <= _INT_BITS
    return kinds == {float} and all(map(math.isfinite, parts))


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _refuse(_: object) -> None:
    raise ValueError("the frame has JSON that pack does not write")


# Made once: `json.dumps` and `json.loads` would make a new one for each frame.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_refuse)
