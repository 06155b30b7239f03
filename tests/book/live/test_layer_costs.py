"""The figure of a model's costs, used as a reader does, shows what attn_lib computes."""

from __future__ import annotations

import pytest

from attn_lib.complexity import cache_bytes, layer_flops, weights_bytes
from attn_lib.figures.architectures import ARCHITECTURES

PAGE = "complexity"

DTYPES = {1: "int8", 2: "float16", 4: "float32"}
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@pytest.fixture
def figure(live_page):
    found = live_page.locator("figure[data-live=layer-costs]")
    found.get_by_role("button", name="Start again").click()
    return found


def written(text):
    """A number as the figure writes it: 1 234, or 1.23 · 10⁶."""
    text = text.replace("\u202f", "")
    if "·10" in text:
        digits, power = text.split("·10")
        return float(digits) * 10 ** int(power.translate(RAISED))
    return float(text)


def in_bytes(text):
    size, unit = text.split()
    return float(size) * 1024 ** UNITS.index(unit)


def shown(figure):
    """Operations, shares in percent, and bytes, in the order of the rows."""
    operations, memory = figure.locator(".attn-live-now table").all()
    rows = [row.locator("td").all_inner_texts() for row in operations.locator("tr").all()[1:]]
    shares = [float(share.split()[0]) for _, share in rows]
    sizes = [in_bytes(cell) for cell in memory.locator("td").all_inner_texts()]
    return [written(count) for count, _ in rows], shares, sizes


def assert_costs(figure, n, d_model, heads, kv_heads, layers, *, size=2, step=False):
    layer = (
        layer_flops(1, d_model, heads, n_cached=n - 1) if step else layer_flops(n, d_model, heads)
    )
    parts = [layer.feed_forward, layer.projections, layer.attention, layer.softmax]
    counts, shares, sizes = shown(figure)
    assert counts == pytest.approx([layers * x for x in [*parts, sum(parts)]], rel=0.006)
    assert shares == pytest.approx([100 * x / sum(parts) for x in parts] + [100], abs=0.051)
    weights = weights_bytes(heads, 1 if step else n, n, DTYPES[size])
    cache = layers * cache_bytes(n, d_model // heads * kv_heads, DTYPES[size])
    assert sizes == pytest.approx([weights, layers * weights, cache], rel=0.006)


@pytest.mark.parametrize("model", ARCHITECTURES, ids=lambda model: model.name)
def test_published_models(figure, model):
    figure.get_by_label("GPT-3").check()
    figure.get_by_label(model.name).check()
    _, layers, d_model, heads, kv_heads, context = model
    assert_costs(figure, context, d_model, heads, kv_heads, layers)
    said = figure.locator(".cost-sentence").inner_text().replace("\u202f", "")
    assert f"overtake the projections at n = {2 * d_model}, " in said
    assert said.endswith(f"feed-forward part together at n = {6 * d_model}.")


@pytest.mark.parametrize("size", DTYPES)
def test_one_step_with_a_cache(figure, size):
    figure.get_by_label("Llama 3, 8B").check()
    figure.get_by_label("write token n").check()
    figure.get_by_label(f"{size} byte").check()
    assert_costs(figure, 2**17, 4096, 32, 8, 32, size=size, step=True)
    assert "overtake the projections at n = 8\u202f192" in (
        figure.locator(".cost-sentence").inner_text()
    )


def test_sizes_of_ones_own(figure):
    """Heads stay divisors of the width, and heads of keys divisors of those of queries."""
    figure.get_by_label("Width d").press("End")
    figure.get_by_label("Heads", exact=True).press("End")
    figure.get_by_label("Layers").press("Home")
    figure.get_by_label("Tokens n").press("Home")
    assert figure.get_by_label("sizes of your own").is_checked()
    assert_costs(figure, 16, 16384, 128, 8, 1)
    figure.get_by_label("Key/value heads").press("Home")
    figure.get_by_label("Width d").press("Home")
    assert_costs(figure, 16, 64, 64, 1, 1)
    figure.get_by_role("button", name="Start again").click()
    assert_costs(figure, 128, 512, 8, 8, 6)
