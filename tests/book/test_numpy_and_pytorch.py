"""The page `numpy-and-pytorch`: both columns of its tables give the same values.

The NumPy column always runs. The PyTorch column runs only if PyTorch is installed
(``pip install torch``, the CPU build).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from attn_lib import multi_head_attention

PAGE = Path(__file__).resolve().parents[2] / "book" / "numpy-and-pytorch.md"
TEXT = PAGE.read_text(encoding="utf-8")
TESTED_WITH = re.search(r"`torch==([\d.]+)`", TEXT)[1]

LINES = r"((?:(?!```).*\n)*)```\n"
CELL = rf"^```\{{code-cell\}} ipython3\n(?::tags: .*\n)?{LINES}"
CELLS = re.findall(CELL, TEXT, re.MULTILINE)
#: A cell and the PyTorch block right below it. The first pair sets up the names.
SETUP, *PAIRS = re.findall(rf"{CELL}\n```python\n{LINES}", TEXT, re.MULTILINE)
#: The table rows with code in both columns: (task, NumPy code, PyTorch code).
ROWS = re.findall(r"^\| (.+?) \| `([^`]+)` \| `([^`]+)` \|$", TEXT, re.MULTILINE)
VERBS = [row for row in ROWS if row[0] in ("compare", "scale", "normalise", "mix")]
CALLS = [row for row in ROWS if row not in VERBS and not row[1].startswith("method=")]

for_each_call = pytest.mark.parametrize(
    ("left", "right"), [row[1:] for row in CALLS], ids=[row[2] for row in CALLS]
)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip(
        "torch", minversion=TESTED_WITH, reason="needs PyTorch: pip install torch"
    )


def run(source: str, names: dict) -> dict:
    exec(compile(source, str(PAGE), "exec"), names)
    return names


def arrays() -> dict:
    """Return the arrays that the NumPy code uses, by name."""
    return run(SETUP[0], {})


def tensors() -> dict:
    """Return the tensors that the PyTorch code uses, made from the arrays as on the page."""
    return run(SETUP[1], arrays())


@cache
def page() -> dict:
    """Return the names that the cells of the page define."""
    return run("\n".join(CELLS), {})


def assert_same(left, right) -> None:
    """Assert that shape, kind of dtype and values are equal; NaN never is."""
    right = right.detach().numpy()
    assert np.shape(left) == right.shape
    assert np.asarray(left).dtype == right.dtype
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12, equal_nan=False)


def test_the_page_has_code_to_compare():
    assert len(VERBS) == 4
    assert len(CALLS) >= 35
    assert len(PAIRS) == 3


@for_each_call
def test_left_column_runs(left, right):
    assert not np.isnan(eval(left, arrays())).any()


@for_each_call
def test_both_columns_give_the_same(left, right, torch):
    assert_same(eval(left, arrays()), eval(right, tensors()))


def test_the_four_verbs_give_the_same(torch):
    left, right = arrays(), tensors()
    for _, line, torch_line in VERBS:
        run(line, left)
        run(torch_line, right)
    for name in ("raw", "scaled", "weights", "output"):
        assert_same(left[name], right[name])
    assert_same(left["attend"](*(left[name] for name in "qkv")), right["output"])


@pytest.mark.parametrize("number", range(3))
def test_a_cell_and_the_block_below_it_give_the_same(number, torch):
    """Compare every name that both assign."""
    cell, block = PAIRS[number]
    left, right = run(cell, arrays()), tensors()
    # The block starts with the same names as the cell, and converts new arrays to tensors itself.
    right |= {name: value for name, value in left.items() if name not in right}
    before = dict(right)
    run(block, right)
    both = [name for name in left if right.get(name) is not before.get(name) and name[:2] != "__"]
    compared = [name for name in both if isinstance(left[name], np.ndarray)]
    assert compared
    for name in compared:
        assert_same(left[name], right[name])


def test_errors_of_numpy_and_pytorch(torch):
    names = tensors()
    left = arrays()
    for call in (
        "sdpa(q, k, v, attn_mask=allowed, is_causal=True)",
        "sdpa(q, k, v, attn_mask=allowed.int())",
        "sdpa(q.float(), k.float(), v.float(), attn_mask=bias)",
        "sdpa(q, few_k, few_v)",
        "torch.nn.MultiheadAttention(8, 4).double()(x, x, x, is_causal=True)",
    ):
        with pytest.raises(RuntimeError, match=r"mask|size"):
            eval(call, names)
    single_mask = "sdpa(q, k, v, attn_mask=bias.float())"
    assert_same(eval("attend(q, k, v, mask=bias.astype('f4'))", left), eval(single_mask, names))


def test_a_mask_of_ones_and_zeros_is_added(torch):
    left, right = arrays(), tensors()
    given = eval("attend(q, k, v, mask=allowed.astype(float))", left)
    assert_same(given, eval("sdpa(q, k, v, attn_mask=allowed.double())", right))
    hidden = eval("attend(q, k, v, mask=allowed)", left)
    assert np.abs(given - hidden).max() > 0.01


def test_the_layer_reads_true_as_blocked_in_both_masks(torch):
    names = run(PAIRS[0][0], arrays()) | tensors()
    run(PAIRS[0][1], names)
    x, w, layer = (names[name] for name in ("x", "w", "layer"))
    allowed = np.tri(5, dtype=bool)
    expected = multi_head_attention(x.numpy(), *w.numpy(), n_heads=4, mask=allowed)
    assert_same(expected, layer(x, x, x, attn_mask=~torch.from_numpy(allowed))[0])
    _, averaged = layer(x, x, x)
    assert averaged.shape == (2, 5, 5)


def test_same_word_different_meaning(torch):
    names = tensors()
    s = names["s"].numpy()
    np.testing.assert_allclose(names["s"].var(), s.var() * 15 / 14)
    assert names["s"].repeat(1, 2).tolist() == np.tile(s, (1, 2)).tolist()
    values, places = names["s"].max(dim=-1)
    assert values.tolist() == s.max(axis=-1).tolist()
    assert places.tolist() == s.argmax(axis=-1).tolist()


def nothing_to_attend_to(torch) -> dict[str, object]:
    """Return PyTorch's result for each row of the page's table."""
    names = tensors() | {"torch": torch}
    sdpa, q, k, v, x = (names[name] for name in ("sdpa", "q", "k", "v", "x"))
    none = torch.zeros(3, 5, dtype=torch.bool)
    added = torch.full((3, 5), -1e9)
    row = torch.full((5,), -torch.inf)

    def layer(*, need_weights, training):
        module = torch.nn.MultiheadAttention(8, 4, batch_first=True)
        with torch.no_grad():
            padding = torch.ones(2, 5, dtype=torch.bool)
            y = x.float()
            return module.train(training)(
                y, y, y, key_padding_mask=padding, need_weights=need_weights
            )[0]

    return {
        "attention, boolean mask": sdpa(q, k, v, attn_mask=none),
        "attention, −∞ added": sdpa(q, k, v, attn_mask=torch.full((3, 5), -torch.inf)),
        "attention, −1e9 added, float64": sdpa(q, k, v, attn_mask=added.double()),
        "attention, −1e9 added, float32": sdpa(q.float(), k.float(), v.float(), attn_mask=added),
        "softmax of a row of −∞": torch.softmax(row, dim=-1),
        "its logarithm": torch.log_softmax(row, dim=-1),
        "its log-sum-exp": torch.logsumexp(row, dim=-1),
        "multi-head layer, weights asked for": layer(need_weights=True, training=False),
        "the same, without weights, in training": layer(need_weights=False, training=True),
        "the same, without weights, in evaluation": layer(need_weights=False, training=False),
    }


def test_rows_with_nothing_to_attend_to_in_pytorch(torch):
    told = page()["told"]
    seen = {given: told(result.numpy()) for given, result in nothing_to_attend_to(torch).items()}
    assert seen == {given: there for given, _, there in page()["nothing"]}


def test_rows_with_nothing_to_attend_to_in_attn_lib():
    here = [ours for _, ours, _ in page()["nothing"]]
    assert here == ["0", "0", "as unmasked", "mean", "0", "−∞", "−∞", "0", "0", "0"]


def test_number_types_in_pytorch(torch):
    names = tensors()
    sdpa, s, qkv = names["sdpa"], names["s"].float(), [names[name] for name in "qkv"]
    calls = (
        lambda: torch.tensor([1.0]),
        lambda: torch.softmax(torch.tensor([1, 2]), dim=-1),
        lambda: sdpa(*(a.long() for a in qkv)),
        lambda: sdpa(qkv[0], qkv[1].float(), qkv[2].float()),
        lambda: sdpa(*(a.half() for a in qkv)),
        lambda: s / 8,
        lambda: s / torch.tensor(64.0, dtype=torch.float64).sqrt(),
    )

    def type_of(call):
        try:
            return str(call().dtype).removeprefix("torch.")
        except (RuntimeError, NotImplementedError):
            return "error"

    assert [type_of(call) for call in calls] == [there for *_, there in page()["types"]]


def test_number_types_in_attn_lib():
    here = [ours for _, ours, _ in page()["types"]]
    assert here == ["float64"] * 4 + ["float16", "float32", "float64"]
    assert (np.ones(2, np.float32) / 64**0.5).dtype == np.float32


def test_the_flash_kernel_on_cpu_needs_equal_widths(torch):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    names = tensors()
    sdpa, q, k, v = (names[name] for name in ("sdpa", "q", "k", "v"))
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError, match="kernel"):
        sdpa(q, k, v)
    for backend in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"):
        assert hasattr(SDPBackend, backend)
    with sdpa_kernel(SDPBackend.MATH):
        plain = sdpa(q, k, v)
    assert_same(plain.numpy(), sdpa(q, k, v))
