"""Cost formulas equal the counts of explicit loops, and time and memory are measured correctly."""

import time
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from attn_lib import complexity
from attn_lib.complexity import (
    additive_cost,
    cache_bytes,
    crossover,
    dot_product_cost,
    layer_flops,
    loglog_slope,
    peak_extra_bytes,
    seconds_in_turns,
    weights_bytes,
)


def counted_product(n, d, m):
    """Count the operations of multiplying an (n, d) by a (d, m) matrix entry by entry."""
    operations = 0
    for _ in range(n):
        for _ in range(m):
            for _ in range(d):
                operations += 2  # one multiplication and one addition
    return operations


def test_layer_flops_counts_the_loops():
    n, n_cached, d_model, heads = 3, 4, 6, 2
    counted = layer_flops(n, d_model, heads, n_cached=n_cached)
    assert counted == (
        4 * counted_product(3, 6, 6),
        2 * counted_product(3, 3, 7),
        2 * 5 * 3 * 7,
        2 * counted_product(3, 7, 3),
        counted_product(3, 6, 24) + counted_product(3, 24, 6),
    )
    assert counted.attention == counted.scores + counted.mix == 4 * 3 * 7 * 6


def test_layer_flops_in_closed_form():
    n, d = 100, 64
    layer = layer_flops(n, d)
    assert layer.projections == 8 * n * d**2
    assert layer.feed_forward == 16 * n * d**2
    assert layer.scores == layer.mix == 2 * n**2 * d
    assert layer.softmax == 5 * n**2
    # The heads divide the width among them, so only the softmax cost grows with their number.
    split = layer_flops(n, d, heads=4)
    assert split == layer._replace(softmax=4 * layer.softmax)
    assert layer.softmax / (layer.attention + layer.softmax) == pytest.approx(0.02, abs=0.001)


def test_a_decoding_step_is_linear_in_the_number_of_cached_keys():
    costs = [layer_flops(1, 512, n_cached=n - 1).attention for n in (1, 1000, 2000)]
    assert costs == [4 * 512, 4 * 512 * 1000, 4 * 512 * 2000]
    # All steps together cost as much as the full computation without its masked half.
    steps = sum(layer_flops(1, 7, n_cached=n).scores for n in range(11))
    assert steps == 2 * 7 * 11 * 12 / 2


@pytest.mark.parametrize("d_model", [7, 512])
def test_crossovers_of_the_layer(d_model):
    def layer(n):
        return layer_flops(n, d_model)

    attention_overtakes = crossover(lambda n: layer(n).attention, lambda n: layer(n).projections)
    assert attention_overtakes == 2 * d_model
    rest = crossover(
        lambda n: layer(n).attention, lambda n: layer(n).projections + layer(n).feed_forward
    )
    assert rest == 6 * d_model


@pytest.mark.parametrize("bend", [1, 2, 3, 5, 8, 1000])
def test_crossover_is_the_first_n_that_is_not_cheaper(bend):
    assert crossover(lambda n: n * n, lambda n: bend * n) == bend
    assert crossover(lambda n: n * n, lambda n: bend * n + 0.5) == bend + 1


def test_crossover_reports_if_there_is_none():
    with pytest.raises(ValueError, match="is it the steeper of the two"):
        crossover(lambda n: n, lambda n: n + 1)


def test_dot_product_cost():
    assert dot_product_cost(3, 5, 7) == (0, counted_product(3, 7, 5), 15)


def test_additive_cost_counts_the_loops():
    n_q, n_k, d_k, d_hidden = 3, 5, 7, 2
    operations = counted_product(n_q, d_k, d_hidden) + counted_product(n_k, d_k, d_hidden)
    for _ in range(n_q * n_k):
        for _ in range(d_hidden):
            operations += 1 + 1 + 2  # add; tanh; multiply by v and sum
    w_q, w_k, v = np.empty((d_hidden, d_k)), np.empty((d_hidden, d_k)), np.empty(d_hidden)
    q, k = np.empty((n_q, d_k)), np.empty((n_k, d_k))
    hidden = (q @ w_q.T)[:, None] + (k @ w_k.T)[None]
    parameters = w_q.size + w_k.size + v.size
    assert additive_cost(n_q, n_k, d_k, d_hidden) == (parameters, operations, hidden.size)


def test_bytes():
    for dtype in ("float16", "float32", "float64"):
        assert weights_bytes(2, 3, 5, dtype) == np.empty((2, 3, 5), dtype).nbytes
        keys_and_values = [np.empty((5, 6), dtype)] * 2
        assert cache_bytes(5, 6, dtype) == sum(array.nbytes for array in keys_and_values)
    assert weights_bytes(8, 2048, 2048) == 128 * 2**20
    assert weights_bytes(32, 8192, 8192, np.float16) == 4 * 2**30
    assert weights_bytes(32, 32768, 32768, np.float16) == 64 * 2**30
    assert cache_bytes(5, 6) == 5 * 6 * 2 * 4


@pytest.mark.parametrize(
    "count",
    [
        lambda n: layer_flops(n, 6),
        lambda n: layer_flops(3, 6, n_cached=n),
        lambda n: layer_flops(3, 6 * n, n),
        lambda n: dot_product_cost(3, n, 7),
        lambda n: additive_cost(3, 5, 7, n),
        lambda n: weights_bytes(n, 3, 5),
        lambda n: cache_bytes(n, 6),
        lambda n: seconds_in_turns({}, n),
    ],
)
def test_sizes_are_whole_and_not_negative(count):
    with pytest.raises(ValueError, match=r"expected [01] or more, got -"):
        count(-1)
    with pytest.raises(ValueError, match="expected a whole number, got"):
        count(1.5)


def test_heads_divide_the_width():
    with pytest.raises(ValueError, match="heads that divide d_model=6, got 4"):
        layer_flops(3, 6, heads=4)


def test_seconds_in_turns_alternates_and_returns_medians(monkeypatch):
    calls, clock = [], [0.0]
    # The calls of 100 are not timed: one before the first round, one after each pause.
    durations = {
        "slow": iter([100, 100, 5, 100, 50, 100, 7]),
        "fast": iter([100, 100, 1, 100, 2, 100, 9]),
    }

    def call(name):
        calls.append(name)
        clock[0] += next(durations[name])

    def sleep(seconds):
        calls.append(f"pause of {seconds}")
        clock[0] += seconds

    clockwork = SimpleNamespace(perf_counter=lambda: clock[0], sleep=sleep)
    monkeypatch.setattr(complexity, "time", clockwork)
    functions = {"slow": lambda: call("slow"), "fast": lambda: call("fast")}
    assert seconds_in_turns(functions, repeats=3, pause=40) == {"slow": 7, "fast": 2}
    turns = ["pause of 40", "slow", "slow", "pause of 40", "fast", "fast"]
    assert calls == ["slow", "fast", *turns * 3]


def test_seconds_in_turns_without_a_pause_times_every_call_but_the_first(monkeypatch):
    clock = iter(range(0, 100, 3))
    monkeypatch.setattr(complexity, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    calls = []
    functions = {name: lambda name=name: calls.append(name) for name in "ab"}
    assert seconds_in_turns(functions, repeats=2, in_a_row=3) == {"a": 3, "b": 3}
    assert "".join(calls) == "ab" + "aaabbb" * 2


def test_seconds_in_turns_can_return_the_shortest_time(monkeypatch):
    clock = iter(np.cumsum([0, 5, 0, 2, 0, 9]))
    monkeypatch.setattr(complexity, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    assert seconds_in_turns({"a": lambda: None}, repeats=3, of=min) == {"a": 2}


def test_seconds_in_turns_returns_seconds():
    seconds = seconds_in_turns({"sleep": lambda: time.sleep(0.02)}, repeats=3)
    assert 0.019 < seconds["sleep"] < 1


def test_peak_extra_bytes_counts_the_peak_without_earlier_memory():
    before = np.ones(500_000)  # 4 MB allocated before the function runs
    small = 10_000

    def temporary():
        np.ones(250_000)  # 2 MB, freed at once
        return before[:3].copy()

    assert abs(peak_extra_bytes(temporary) - 2_000_000) < small
    assert peak_extra_bytes(lambda: None) < small
    assert not tracemalloc.is_tracing()


def test_peak_extra_bytes_inside_an_active_trace():
    tracemalloc.start()
    try:
        gone, held = np.ones(500_000), np.ones(125_000)
        del gone  # leaves an earlier, higher peak
        assert abs(peak_extra_bytes(held.copy) - 1_000_000) < 10_000
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


def test_peak_extra_bytes_stops_tracing_after_an_error():
    with pytest.raises(ZeroDivisionError):
        peak_extra_bytes(lambda: 1 / 0)
    assert not tracemalloc.is_tracing()


def test_loglog_slope():
    n = np.array([3.0, 5.0, 7.0, 200.0])
    assert loglog_slope(n, 2 * n**1.5) == pytest.approx(1.5)
    # With noise, the result is the least-squares line by the textbook formula.
    y = n**2 * [1.1, 0.8, 1.3, 0.9]
    x, y_log = np.log(n) - np.log(n).mean(), np.log(y)
    assert loglog_slope(n, y) == pytest.approx((x * y_log).sum() / (x * x).sum())


@pytest.mark.parametrize(
    ("x", "y"), [([3, 5], [0, 2]), ([-3, 5], [1, 2]), ([3, 5], [1, 2, 3]), ([3], [5]), (3, 5)]
)
def test_loglog_slope_needs_rows_of_positive_numbers(x, y):
    with pytest.raises(ValueError, match="at least two positive numbers, got shapes"):
        loglog_slope(x, y)
