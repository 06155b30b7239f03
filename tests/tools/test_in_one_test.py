"""Tests of many values try all of them and name those that fail."""

from __future__ import annotations

import inspect

import pytest

from tests.in_one_test import in_one_test


def test_all_values_are_tried_and_those_that_fail_are_named():
    tried = []

    @in_one_test("number", range(1, 6))
    def check(tmp_path, number):
        tried.append((tmp_path, number))
        assert number % 2, f"{number} is even"

    assert list(inspect.signature(check).parameters) == ["tmp_path"]
    with pytest.raises(AssertionError, match="2 is even") as caught:
        check(tmp_path="a folder")
    assert tried == [("a folder", number) for number in range(1, 6)]
    assert caught.value.__notes__ == ["number: 2 of 5 fail, in this order: 2, 4"]


def test_each_test_of_a_class_gets_the_values():
    @in_one_test("word", ["a", "bb", "ccc"], ids=str.upper)
    class TestWords:
        def helper(self, length):
            return length < 3

        def test_short(self, word):
            assert self.helper(len(word))

        def test_any(self, word):
            assert word

    TestWords().test_any()
    with pytest.raises(AssertionError) as caught:
        TestWords().test_short()
    assert caught.value.__notes__ == ["word: 1 of 3 fail, in this order: CCC"]


def test_it_cannot_pass_without_a_value_or_an_argument():
    with pytest.raises(ValueError, match="expected at least one value, got none"):
        in_one_test("number", [])
    with pytest.raises(TypeError, match="expected an argument number, found none"):

        @in_one_test("number", [1])
        def check(other):
            pass
