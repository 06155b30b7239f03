"""Numbers of a learner's own for the quiz: every mistake shows, and no guess is right."""

from __future__ import annotations

import numpy as np
import pytest

from attn_lib.course.personal.quiz import (
    CLAIMS,
    INVISIBLE_IN_A_CAUSAL_ROW,
    INVISIBLE_IN_ONE_ROW,
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
from tests.attn_lib.course.personal.learners import LEARNERS, hidden_mistakes

DRAWS = [wide_scores, spread, batch_sizes, found_matrix, cost, causal_scores, claims]


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_same_id_same_numbers_and_others_for_others(draw):
    assert repr(draw(" Ada")) == repr(draw("ada"))
    assert len({repr(draw(learner)) for learner in LEARNERS}) > 90


@pytest.mark.parametrize("learner", LEARNERS)
class TestMistakesShow:
    def test_dividing_the_scores(self, learner):
        d_k, divisor, scores = wide_scores(learner)
        root = np.sqrt(d_k)
        assert hidden_mistakes("scaled_variance", (d_k, root)) == {"variance-always-one"}
        allowed = 1e-4  # four decimals are asked for
        assert hidden_mistakes("scaled_variance", (d_k, d_k), margin=2 * allowed) == set()
        assert hidden_mistakes("scaled_variance", (d_k, divisor), margin=2 * allowed) == set()
        asked = (scores[None].astype(float), root)
        assert hidden_mistakes("tempered_softmax", asked) == set(INVISIBLE_IN_ONE_ROW)

    def test_variance_of_a_score(self, learner):
        assert hidden_mistakes("score_variance", spread(learner)) == set()

    def test_shapes(self, learner):
        b, n, d_k, d_v, m = batch_sizes(learner)
        assert len({b, n, d_k, d_v, m}) == 5
        for keys, unseen in ((n, {"output-shape-as-values"}), (m, set())):
            shapes = ((b, n, d_k), (b, keys, d_k), (b, keys, d_v))
            assert hidden_mistakes("output_shape", shapes) == unseen

    def test_operations(self, learner):
        n, d_k, d_v, heads, longer, wider = cost(learner)
        assert hidden_mistakes("score_flops", (n, n, d_k)) == set()
        assert hidden_mistakes("attention_flops", (n, n, d_k, d_v, heads)) == set()
        assert len({longer, wider, longer**2, wider**2, 1}) == 5

    def test_causal_row(self, learner):
        scores, row, _, _ = causal_scores(learner)
        hidden = hidden_mistakes("masked_softmax", (scores, causal_mask(5, 5)), part=row)
        assert hidden == set(INVISIBLE_IN_A_CAUSAL_ROW)


@pytest.mark.parametrize("learner", LEARNERS)
class TestNoGuessIsRight:
    def test_softmax_is_too_sharp_without_the_scale(self, learner):
        d_k, _, scores = wide_scores(learner)
        assert softmax(scores.astype(float)).max() > softmax(scores / np.sqrt(d_k)).max() + 0.3

    def test_the_queries_of_a_table_can_be_told(self, learner):
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

    def test_every_paper_has_a_sentence_and_half_a_list_has_three(self, learner):
        papers = [CLAIMS.index(claim) // 2 for claim in claims(learner)]
        assert set(papers) == {0, 1, 2, 3}
        assert len(set(papers[:3])) == len(set(papers[3:])) == 3


def test_tables_are_saved_either_way():
    rows = [np.allclose(found_matrix(name).table.sum(axis=1), 1) for name in LEARNERS]
    assert 30 < sum(rows) < 70
