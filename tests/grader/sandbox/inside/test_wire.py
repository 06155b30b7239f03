"""Values survive a round trip, and hostile bytes are refused before they use resources."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from attn_lib.course.checks.comparison import kind_of
from attn_lib.course.checks.drawings import Curve, Drawing
from attn_lib.course.checks.observation import Observation
from attn_lib.course.checks.remote import type_name
from grader.sandbox.inside.wire import (
    BYTES_A_BYTE,
    HEADER,
    MAX_HASHED,
    MAX_PARTS,
    Opaque,
    TooLarge,
    WireError,
    pack,
    unpack,
)

MIB = 2**20


def round_trip(value):
    return unpack(pack(value, max_bytes=MIB), max_bytes=MIB)


def frame_of(tree: object, arrays: bytes = b"") -> bytes:
    """Return a frame with an arbitrary tree and array bytes."""
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return HEADER.pack(len(text), len(arrays)) + text + arrays


PLAIN_VALUES = [
    None,
    True,
    False,
    0,
    -(2**63),
    2**100,
    1.5,
    -0.0,
    5e-324,
    float("inf"),
    float("-inf"),
    "",
    "ᵀ × \ud800 \x00 \U0001f600",
    [],
    (),
    {},
    [1, (2.0, ["three"]), {"four": None}],
    ...,
    Opaque("generator"),
]


@pytest.mark.parametrize("value", PLAIN_VALUES, ids=repr)
def test_a_plain_value_keeps_its_type(value):
    back = round_trip(value)
    assert back == value
    assert type(back) is type(value) or isinstance(value, Opaque)


@pytest.mark.parametrize(
    "value",
    [
        {1: "one", (2, 3): [4], None: {5: 6}},
        {1, "two", (3.5, None)},
        frozenset({frozenset({1}), 2}),
        b"a\x00\xff",
        b"",
        range(9, 1, -2),
        [2 - 1j, complex("inf")],
        {"a": 1, "b": {2}},
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exact_value_keeps_its_type(value):
    back = unpack(pack(value, max_bytes=MIB, exact=True), max_bytes=MIB)
    assert back == value
    assert type(back) is type(value)


def test_what_is_too_long_to_be_exact_becomes_its_type_name():
    long = [set(range(MAX_HASHED)), {0: 1}, range(MAX_PARTS + 1), range(2**80)]
    back = unpack(pack(long, max_bytes=MIB, exact=True), max_bytes=MIB)
    assert back[0] == set(range(MAX_HASHED))
    assert list(map(type_name, back[1:])) == [
        f"dict with more than {MAX_HASHED} entries",
        *[f"range of more than {MAX_PARTS} numbers"] * 2,
    ]


def test_nan_survives_a_round_trip():
    assert np.isnan(round_trip(float("nan")))


def test_negative_zero_keeps_its_sign():
    assert np.signbit(round_trip(-0.0))


ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::2],
    np.array(3.5),
    np.zeros((0, 4)),
    np.array([True, False]),
    np.array([1 + 2j]),
    np.array([np.nan, np.inf], dtype=np.float16),
    np.array([1.5, 2], dtype=np.float32),
    np.array([1.5], dtype=np.longdouble),
    np.array([1, 2], dtype=">i4"),
    np.array([255], dtype=np.uint8),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_an_array_comes_back_equal_and_writable(array):
    back = round_trip(array)
    np.testing.assert_array_equal(back, array)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.flags.fnc == array.flags.fnc
    assert back.flags.writeable


@pytest.mark.parametrize("scalar", [np.float32(1.5), np.int64(3), np.bool_(True), np.float64(2.5)])
def test_a_numpy_scalar_stays_one(scalar):
    back = round_trip(scalar)
    assert back == scalar
    assert type(back) is type(scalar)


def test_drawings_and_observations_survive_a_round_trip():
    curve = Curve("a", np.arange(3.0), np.ones(3))
    limits, extent = (0.5, 9.0, -1.0, 2.0), (1.0, 8.0, 0.0, float("inf"))
    seen = ("x", "y", "log", "linear", (curve,), (np.eye(2),), limits, extent)
    drawing = Drawing(*seen, "x", "y", ("raw",), ("b",), hidden_images=True)
    back = round_trip(Observation(drawing, arose="line 2: x / 0"))
    assert back.returned.curves[0].label == "a"
    np.testing.assert_array_equal(back.returned.curves[0].x, curve.x)
    np.testing.assert_array_equal(back.returned.images[0], np.eye(2))
    assert (back.returned.x_scale, back.problem) == ("log", "")
    assert (back.returned.limits, back.returned.extent) == (limits, extent)
    assert (back.returned.hidden, back.returned.bare) == ("x", "y")
    assert (back.returned.unseen, back.returned.others) == (("raw",), ("b",))
    assert back.returned.hidden_images
    assert back.arose == "line 2: x / 0"


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (range(3), [0, 1, 2]),
        (memoryview(b"ab"), [97, 98]),
        (np.ma.masked_array([1, 2], [False, False]), [1, 2]),
        (Fraction(1, 4), 0.25),
        (np.array([Fraction(1, 4), Decimal("0.75")]), [0.25, 0.75]),
        (2 + 1j, 2 + 1j),
    ],
)
def test_objects_that_numpy_can_convert_become_arrays(value, numbers):
    back = round_trip(value)
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, numbers)


def test_masked_entries_do_not_cross():
    masked = np.ma.masked_array([1, 2], [True, False])
    assert round_trip(masked) == Opaque("MaskedArray")
    assert round_trip(list(masked)) == [Opaque("MaskedConstant"), 2]


def test_an_array_of_objects_crosses_as_a_list():
    assert round_trip(np.array([["5", None], [2.5, print]], dtype=object)) == [
        ["5", None],
        [2.5, Opaque("builtin_function_or_method")],
    ]
    assert round_trip(np.zeros(2, "M8[D]")) == Opaque("array of dtype datetime64[D]")


def test_a_long_list_of_numbers_becomes_an_array():
    back = unpack(pack([0.5] * (MAX_PARTS + 1), max_bytes=8 * MIB), max_bytes=8 * MIB)
    assert back.shape == (MAX_PARTS + 1,)


@pytest.mark.parametrize("number", [3, 0.5])
def test_numbers_in_lists_count_as_parts_and_as_inside_others(number):
    many = [number] * (MAX_PARTS // 2 - 10)
    assert [type(part) for part in round_trip([many, many, many])] == [list, list, np.ndarray]
    nested = [number, number]
    for _ in range(32):
        nested = [nested]
    kind = type(number).__name__
    assert f"[<{kind} inside 32 others>, <{kind} inside 32 others>]" in repr(round_trip(nested))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        (lambda: None, "function"),
        ({1: 2}, "dict"),
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (np.array("text"), "array of dtype <U4"),
        (np.array(object()), "array of dtype object"),
        (np.datetime64("2026-01-01"), "datetime64"),
        (2**5000, "int"),
    ],
)
def test_an_unsupported_object_becomes_its_type_name(value, name):
    back = round_trip([value])
    assert isinstance(back[0], Opaque)
    assert type_name(back[0]) == name == kind_of(value)


def test_the_judge_cannot_send_unsupported_objects():
    with pytest.raises(TypeError, match="expected a value that can be sent, got object"):
        pack(object(), max_bytes=0, strict=True)


def test_a_list_that_contains_itself_is_handled():
    endless = []
    endless.append(endless)
    assert "list inside 32 others" in repr(round_trip(endless))


def test_objects_that_lie_about_themselves_do_no_harm():
    class Equal:
        def __eq__(self, other):
            return True

        __hash__ = None

        def __array__(self, *args, **kwargs):
            raise RuntimeError("no")

    class Text(str):
        def __str__(self):
            return 3

    assert repr(round_trip(Equal())) == "<Equal>"
    with pytest.raises(TypeError):
        pack(Text("x"), max_bytes=0)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.zeros(MIB), "more than 1 MiB"),
        ([np.zeros(MIB // 16)] * 3, "more than 1 MiB"),
        ("x" * 9 * MIB, "more than 8 MiB of text and lists"),
        (np.zeros((2**30, 0)), "more than 1 MiB"),
        (np.zeros((0, 2**30), np.int8), "more than 1 MiB"),
        ([np.zeros((2**15, 0))] * 5, "more than 1 MiB"),
    ],
    ids=["array", "arrays", "text", "empty rows", "empty columns", "arrays of empty rows"],
)
def test_values_that_are_too_large_are_not_packed(value, says):
    with pytest.raises(TooLarge, match=says):
        pack(value, max_bytes=MIB)


def test_a_long_list_of_other_objects_becomes_its_type_name():
    assert repr(round_trip(["x"] * (MAX_PARTS + 1))) == "<list>"


HOSTILE_FRAMES = {
    "nothing": b"",
    "half a header": b"\x00\x00",
    "shorter than it says": HEADER.pack(10, 0) + b"[]",
    "longer than it says": frame_of(["list"]) + b"x",
    "a text larger than any": HEADER.pack(2**31, 0),
    "arrays larger than any": HEADER.pack(2, 2**31) + b"[]",
    "no JSON": frame_of(b"{]"),
    "no text": frame_of(b"\xff\xfe"),
    "an object of JSON": frame_of({"a": 1}),
    "NaN of JSON": frame_of(b"NaN"),
    "a number without end": frame_of(b"9" * 5000),
    "a long number": frame_of(b"9" * 4000),
    "a long number in a list": frame_of(b'["list",1,' + b"9" * 4000 + b"]"),
    "more numbers than may come": frame_of(["list", *[["list", *[0.5] * (MAX_PARTS // 2)]] * 2]),
    "brackets without end": frame_of(b"[" * 100_000),
    "brackets that nest": frame_of(b"[" * 50_000 + b"]" * 50_000),
    "lists in lists": frame_of(b'["list",' * 200 + b"1" + b"]" * 200),
    "an empty part": frame_of([]),
    "a kind that is no text": frame_of([["list"]]),
    "an unknown kind": frame_of(["pickle", "x"]),
    "a float of no name": frame_of(["float", "nane"]),
    "a dict of no pairs": frame_of(["dict", 3]),
    "a dict of half a pair": frame_of(["dict", [["a"]]]),
    "a dict whose key is a number": frame_of(["dict", [[1, 2]]]),
    "a dict with a key twice": frame_of(["dict", [["a", 1], ["a", 2]]]),
    "a set of lists": frame_of(["set", ["list"]]),
    "pairs that are none": frame_of(["pairs", 1, 2]),
    "pairs with lists as keys": frame_of(["pairs", ["tuple", ["list"], 1]]),
    "more hashes than may come": frame_of(["list", *[["set", *range(5001)]] * 2]),
    "a range of texts": frame_of(["range", "1", 2, 3]),
    "a range without a step": frame_of(["range", 1, 2, 0]),
    "an endless range": frame_of(["range", 0, 2**90, 1]),
    "a long range": frame_of(["range", 0, MAX_PARTS + 1, 1]),
    "a complex number of integers": frame_of(["complex", 1, 2]),
    "bytes of nothing": frame_of(["bytes", 3]),
    "an ellipsis with more": frame_of(["ellipsis", 1]),
    "a name that is none": frame_of(["opaque", 3]),
    "more parts than any": frame_of(b"[" + b"0," * (5 * MAX_PARTS) + b"0]"),
    "an observation of numbers": frame_of(["observation", None, 1, 2, 3]),
    "an observation of too few": frame_of(["observation", None]),
    "a drawing of texts": frame_of(["drawing", "x", "y", "log", "log", "a", "b"]),
    "a drawing of others": frame_of(["drawing", "", "", "", "", ["tuple", 1], ["tuple"]]),
    "a curve of lists": frame_of(["curve", "a", ["list"], ["list"]]),
    "bytes that belong to nothing": frame_of(None, b"x"),
    "bytes that belong to no array": frame_of(["array", "<f8", "C", 1], b"x" * 16),
    "arrays of too many empty rows together": frame_of(
        ["list", *[["array", "<f8", "C", 2**15, 0]] * 5]
    ),
}

#: What a tree says about arrays that it must not have, and their bytes.
HOSTILE_ARRAYS = {
    "of no type": ([], b""),
    "of no order": (["<f8"], b"x" * 8),
    "of another order": (["<f8", "A", 1], b"x" * 8),
    "that is not there": (["<f8", "C", 1], b""),
    "of half its bytes": (["<f8", "C", 2], b"x" * 8),
    "larger than memory": (["<f8", "C", 2**40], b"x" * 8),
    "of a negative size": (["<f8", "C", -1, -1], b"x" * 8),
    "of a size that is no integer": (["<f8", "C", 1.0], b"x" * 8),
    "of a size that is a text": (["<f8", "C", "1"], b"x" * 8),
    "of a size that is true": (["<f8", "C", True], b"x" * 8),
    "of a size that is a list": (["<f8", "C", [1]], b"x" * 8),
    "empty and endless": (["<f8", "C", 0, 2**62], b""),
    "of a billion empty rows": (["<f8", "C", 2**30, 0], b""),
    "of more empty rows than may come": (["<f8", "C", 2**17 + 1, 0], b""),
    "of too many axes": (["<f8", "C", *[1] * 65], b"x" * 8),
    "of axes without end": (["<f8", "C", *[2**31 - 1] * 100_000], b"x" * 8),
    "of objects": (["|O", "C", 1], b"x" * 8),
    "of text": (["<U2", "C", 1], b"x" * 8),
    "of dates": (["<M8[s]", "C", 1], b"x" * 8),
    "of bytes": (["|V8", "C", 1], b"x" * 8),
    "of records": (["<f8,<f8", "C", 1], b"x" * 16),
    "of records as a list": ([[["a", "<f8"]], "C", 1], b"x" * 8),
    "of arrays": (["(2,)<f8", "C", 1], b"x" * 16),
    "of numbers of no such size": (["<f3", "C", 1], b"x" * 3),
    "of a type that is a number": ([8, "C", 1], b"x" * 8),
}
HOSTILE_FRAMES |= {
    f"an array {name}": frame_of(["array", *described], data)
    for name, (described, data) in HOSTILE_ARRAYS.items()
}


@pytest.mark.parametrize("frame", HOSTILE_FRAMES.values(), ids=HOSTILE_FRAMES.keys())
def test_hostile_bytes_are_refused_with_little_memory(frame):
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            unpack(frame, max_bytes=MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * len(frame) + 40 * MIB


def test_the_largest_accepted_frame_fits_in_the_memory_of_a_grader():
    frame = frame_of(b'["list"' + b',["list"]' * (MAX_PARTS - 2) + b"]")
    tracemalloc.start()
    assert len(unpack(frame, max_bytes=MIB)) == MAX_PARTS - 2
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150 * MIB


def test_unsupported_objects_cost_no_more_than_other_parts():
    names = [f"a{number}" for number in range(MAX_PARTS - 2)]
    frame = frame_of(["list", *(["opaque", name] for name in names)])
    tracemalloc.start()
    back = unpack(frame, max_bytes=MIB)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [type_name(value) for value in back] == names
    assert len({type(value) for value in back}) == 1
    assert peak < min(150 * MIB, BYTES_A_BYTE * len(frame))


@pytest.mark.parametrize(
    ("sent", "shown"),
    [("", "object"), ("\x1b\n", "object"), ("a\x07b", "ab"), ("x" * 99, "x" * 80)],
)
def test_type_names_are_short_and_printable(sent, shown):
    back = unpack(frame_of(["opaque", sent]), max_bytes=MIB)
    assert (type_name(back), repr(back)) == (shown, f"<{shown}>")


def test_the_number_of_empty_rows_is_limited_like_that_of_full_ones():
    rows = np.zeros((2**15, 0))
    assert [back.shape for back in round_trip([rows] * 3)] == [(2**15, 0)] * 3
    four = frame_of(["list", *[["array", "<f8", "C", 2**15, 0]] * 4])
    assert len(unpack(four, max_bytes=MIB)) == 4


def test_booleans_are_zero_or_one_for_any_bytes():
    back = unpack(frame_of(["array", "|b1", "C", 3], b"\x00\x01\x07"), max_bytes=MIB)
    assert back.view(np.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_a_truncated_frame_is_refused(cut):
    frame = pack([1, np.arange(3.0)], max_bytes=MIB)
    with pytest.raises(WireError):
        unpack(frame[:cut], max_bytes=MIB)


def test_randomly_changed_bytes_give_a_value_or_are_refused():
    rng = np.random.default_rng(3)
    frame = bytearray(pack([1, {"a": np.arange(3.0)}, "text"], max_bytes=MIB))
    for _ in range(2000):
        changed = bytearray(frame)
        for at in rng.integers(len(frame), size=3):
            changed[at] = rng.integers(256)
        with contextlib.suppress(WireError):
            unpack(changed, max_bytes=MIB)
