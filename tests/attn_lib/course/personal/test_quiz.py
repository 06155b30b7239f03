"""Personal numbers of the quiz: every mistake shows, and no guess is right."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.personal.quiz import (
    CLAIMS,
    SHOWN_BY_A_CAUSAL_ROW,
    SHOWN_BY_A_COST,
    SHOWN_BY_A_DIVISOR,
    SHOWN_BY_A_SPREAD,
    SHOWN_BY_WIDE_SCORES,
    as_attention,
    batch_sizes,
    causal_scores,
    claims,
    cost,
    found_matrix,
    spread,
    wide_scores,
)
from attn_lib.masks import causal_mask
from attn_lib.softmax import softmax
from tests.attn_lib.course.personal.learners import LEARNERS, check_shown
from tests.attn_lib.course.personal.left_out import BY_WIDE_SCORES, IN_A_CAUSAL_ROW
from tests.in_one_test import in_one_test

DRAWS = [wide_scores, spread, batch_sizes, found_matrix, cost, causal_scores, claims]


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_numbers_depend_on_the_id(draw):
    assert repr(draw(" Ada")) == repr(draw("ada"))
    assert len({repr(draw(learner)) for learner in LEARNERS}) > 90


class TestMistakesShow:
    def test_dividing_the_scores(self):
        named = SHOWN_BY_A_DIVISOR["scaled_variance"]
        within = 1e-4  # the task asks for four decimals
        for divisor in (lambda own: own.d_k, lambda own: own.divisor):

            def arguments(learner, divisor=divisor):
                own = wide_scores(learner)
                return own.d_k, divisor(own)

            check_shown("scaled_variance", arguments, named, margin=2 * within)

    def test_dividing_by_the_root(self):
        def variance(learner):
            d_k = wide_scores(learner).d_k
            return d_k, np.sqrt(d_k)

        one = {"variance-always-one": "Divided by the root, the variance is 1."}
        check_shown("scaled_variance", variance, left_out=one)
        check_shown(
            "attention",
            lambda learner: as_attention(wide_scores(learner)),
            SHOWN_BY_WIDE_SCORES["attention"],
            left_out=BY_WIDE_SCORES,
        )

    def test_variance_of_a_score(self):
        check_shown("score_variance", spread, SHOWN_BY_A_SPREAD["score_variance"])

    def test_shapes(self):
        def in_self_attention(learner):
            b, n, d_k, d_v, _ = batch_sizes(learner)
            return (b, n, d_k), (b, n, d_k), (b, n, d_v)

        def in_cross_attention(learner):
            b, n, d_k, d_v, m = batch_sizes(learner)
            return (b, n, d_k), (b, m, d_k), (b, m, d_v)

        alike = {"output-shape-as-values": "There are as many queries as keys."}
        check_shown("output_shape", in_self_attention, left_out=alike)
        check_shown("output_shape", in_cross_attention)
        assert all(len(set(batch_sizes(learner))) == 5 for learner in LEARNERS)

    def test_operations(self):
        def of_scores(learner):
            n, d_k, *_ = cost(learner)
            return n, n, d_k

        def of_attention(learner):
            n, d_k, d_v, heads, *_ = cost(learner)
            return n, n, d_k, d_v, heads

        check_shown("score_flops", of_scores, SHOWN_BY_A_COST["score_flops"])
        check_shown("attention_flops", of_attention, SHOWN_BY_A_COST["attention_flops"])

    def test_causal_row(self):
        check_shown(
            "masked_softmax",
            lambda learner: (causal_scores(learner).scores, causal_mask(5, 5)),
            SHOWN_BY_A_CAUSAL_ROW,
            left_out=IN_A_CAUSAL_ROW,
            part=lambda learner: causal_scores(learner).row,
        )


@in_one_test("learner", LEARNERS)
class TestNoGuessIsRight:
    def test_softmax_is_too_sharp_without_the_scale(self, learner):
        d_k, _, scores = wide_scores(learner)
        assert softmax(scores.astype(float)).max() > softmax(scores / np.sqrt(d_k)).max() + 0.3

    def test_the_queries_of_a_table_can_be_identified(self, learner):
        table, query, key, looked_at = found_matrix(learner)
        off = [np.abs(table.sum(axis=axis) - 1).max() < 1e-12 for axis in (0, 1)]
        assert sorted(off) == [False, True]
        received = table.sum(axis=off.index(False))[looked_at]
        assert abs(received - 1) > 0.1
        assert abs(table[query, key] - table[key, query]) > 0.09

    def test_counts_differ_from_their_neighbours(self, learner):
        scores, row, n, changed = causal_scores(learner)
        assert 1 <= row <= 3
        assert n - changed not in (changed, changed + 1)
        assert np.array_equal(scores, scores.round(1))

    def test_squares_do_not_hide_how_costs_grow(self, learner):
        *_, longer, wider = cost(learner)
        assert len({longer, wider, longer**2, wider**2, 1}) == 5

    def test_every_paper_has_a_sentence_and_half_a_list_has_three(self, learner):
        papers = [CLAIMS.index(claim) // 2 for claim in claims(learner)]
        assert set(papers) == {0, 1, 2, 3}
        assert len(set(papers[:3])) == len(set(papers[3:])) == 3


def test_tables_are_saved_in_either_orientation():
    rows = [np.allclose(found_matrix(name).table.sum(axis=1), 1) for name in LEARNERS]
    assert 30 < sum(rows) < 70
