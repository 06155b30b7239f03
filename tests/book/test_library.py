"""The reference of attn_lib describes every public name."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from bs4 import BeautifulSoup

import attn_lib
from tests.in_one_test import in_one_test

#: Modules whose public names users import directly from attn_lib.
INNER = {
    "attn_lib.attention",
    "attn_lib.additive",
    "attn_lib.backward",
    "attn_lib.masks",
    "attn_lib.multihead",
    "attn_lib.softmax",
}


@pytest.fixture(scope="module")
def documented(built_book):
    """The descriptions on the page, by name."""
    html = (built_book / "book" / "library.html").read_text(encoding="utf-8")
    main = BeautifulSoup(html, "html.parser").find("main")
    return {
        title["id"]: " ".join(title.find_next_sibling("dd").get_text().split())
        for title in main.select("dt.sig[id]")
    }


def public_names() -> list[str]:
    """Return the import names of all public functions and classes."""
    found = [f"attn_lib.{name}" for name in attn_lib.__all__]
    for module in pkgutil.iter_modules(attn_lib.__path__, "attn_lib."):
        short = module.name.removeprefix("attn_lib.")
        if short.startswith("_") or module.name in INNER or short == "targets":
            continue
        loaded = importlib.import_module(module.name)
        names = getattr(loaded, "__all__", None) or [
            name
            for name, thing in vars(loaded).items()
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.name
        ]
        found += [f"{module.name}.{name}" for name in names if callable(getattr(loaded, name))]
    return [*found, "attn_lib.course.targets.TARGETS"]


@in_one_test("name", public_names())
def test_every_public_name_is_described(documented, name):
    assert len(documented[name].split()) >= 3


def test_every_field_is_described(documented):
    # What Python says of a field of a named tuple that has no words of its own.
    bare = {name for name, text in documented.items() if "Alias for field number" in text}
    assert bare == set()
    assert documented["attn_lib.estimates.Estimate.value"] == "what was measured"


def test_a_description_has_parameters_and_returns(documented):
    text = documented["attn_lib.scaled_dot_product_attention"]
    for word in ("Parameters", "mask", "causal_alignment", "Returns", "Raises", "Examples"):
        assert word in text
