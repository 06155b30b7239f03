"""Personal numbers of the assignment `variance-growth`: each mistake shows for every learner."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attn_lib.course.personal.variance_growth import (
    SHOWN_BY_A_MEASUREMENT,
    SHOWN_BY_ENTRIES,
    SHOWN_BY_HEAD_SIZES,
    entries,
    head_sizes,
    measurement,
)
from attn_lib.estimates import score_matrix_noise, variance_noise
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.in_one_test import in_one_test


@pytest.mark.parametrize("draw", [entries, head_sizes, measurement])
class TestDraws:
    def test_they_depend_only_on_the_id(self, draw):
        assert [draw(learner) for learner in LEARNERS[:5]] == [
            draw(f" {learner.upper()} ") for learner in LEARNERS[:5]
        ]

    def test_learners_rarely_share_them(self, draw):
        assert len({draw(learner) for learner in LEARNERS}) > 95

    def test_they_are_plain_numbers(self, draw):
        assert {type(number) for learner in LEARNERS for number in draw(learner)} <= {int, float}


class TestEntries:
    @pytest.mark.parametrize(
        ("target", "fields"),
        [
            ("score_variance", ("d_k", "var_q", "var_k")),
            ("score_sd", ("d_k", "var_q", "var_k")),
            ("score_range", ("d_k",)),
            ("score_mean", ("d_k", "mean_q", "mean_k")),
        ],
    )
    def test_every_mistake_shows(self, target, fields):
        def arguments(learner):
            return [getattr(entries(learner), field) for field in fields]

        check_shown(target, arguments, SHOWN_BY_ENTRIES[target], margin=0.03)

    def test_no_root_is_a_whole_number(self):
        assert all(math.isqrt(entries(one).d_k) ** 2 != entries(one).d_k for one in LEARNERS)


class TestHeadSizes:
    @in_one_test("learner", LEARNERS)
    def test_they_fit_together_and_differ(self, learner):
        d_model, n_heads, n_k = head_sizes(learner)
        d_k, rest = divmod(d_model, n_heads)
        assert rest == 0
        assert len({d_model, n_heads, n_k, d_k}) == 4

    def test_every_mistake_shows(self):
        def over_root_of_d_model(learner):
            d_model, n_heads, _ = head_sizes(learner)
            return d_model // n_heads, math.sqrt(d_model)

        named = SHOWN_BY_HEAD_SIZES["scaled_variance"]
        check_shown("scaled_variance", over_root_of_d_model, named, margin=0.003)
        check_shown("head_scale", head_sizes, margin=0.0003)


class TestMeasurement:
    @pytest.mark.parametrize(
        ("target", "fields"),
        [("variance_noise", ("d_k", "n")), ("score_matrix_noise", ("d_k", "n_q", "n_k"))],
    )
    def test_every_mistake_shows(self, target, fields):
        def arguments(learner):
            return [getattr(measurement(learner), field) for field in fields]

        check_shown(target, arguments, SHOWN_BY_A_MEASUREMENT[target], margin=0.0003)

    def test_each_case_is_clear_and_both_cases_occur(self):
        aways = []
        for learner in LEARNERS:
            d_k, n, measured, _, _ = measurement(learner)
            aways.append(abs(measured / d_k - 1) / variance_noise(d_k, n))
        assert all(0.7 < away < 1.7 or away > 5.4 for away in aways)
        assert 30 < sum(away < 2 for away in aways) < 70

    def test_the_percentage_gives_no_hint(self):
        off = {True: [], False: []}
        for learner in LEARNERS:
            d_k, n, measured, _, _ = measurement(learner)
            off[n < 1000].append(abs(measured / d_k - 1))
        assert max(off[False]) > np.median(off[True]) > min(off[False])
        assert max(off[True]) > np.median(off[False]) > min(off[True])

    def test_the_noise_of_the_matrix_gives_a_different_distance(self):
        for learner in LEARNERS:
            d_k, n, measured, n_q, n_k = measurement(learner)
            off = abs(measured / d_k - 1)
            other = off / score_matrix_noise(d_k, n_q, n_k)
            assert abs(off / variance_noise(d_k, n) - other) > 0.2
