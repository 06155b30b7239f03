"""What the page on softmax saturation says about training also holds for other starts."""

import math

import numpy as np
import pytest

from attn_lib.course.targets import TARGETS
from attn_lib.model.training import BATCH_SIZE
from attn_lib.model.trials import __main__ as trials_command
from attn_lib.model.trials import read_records, scales
from attn_lib.training import train_lookup
from tests.book.claims.measured import assert_measured
from tests.book.claims.reading import after, read

PAGE = "softmax-saturation"
RATES = {"1/64": 1 / 64, "1/8": 1 / 8, "1": 1.0, "8": 8.0, "64": 64.0, "512": 512.0}
SCALES = (1.0, 1 / 8, 1 / 64)


@pytest.fixture(scope="module")
def training():
    """Training runs from other starts than those on the page."""
    return [train_lookup(list(RATES.values()), range(100, 108), scale=c) for c in SCALES]


def test_losses_after_training(tables, training):
    table = tables["rate", "unscaled", "÷ √64", "÷ 64"]
    assert [row[0] for row in table] == list(RATES)
    for i, (_, *cells) in enumerate(table):
        for cell, run in zip(cells, training, strict=True):
            last = run.losses[i, :, -1]
            if cell == "<0.001":
                assert last.mean() < 0.001
            else:
                assert_measured(read(cell), last)


def test_statements_about_training(text, training):
    raw, root, width = training
    lowest = raw.losses[..., -1].mean(axis=1)
    assert lowest.argmin() == 1
    assert "none of the six rates learns it in 200 steps. The best of them is 1/8" in text
    assert_measured(after(text, "of them is 1/8, with a loss of"), raw.losses[1, :, -1])
    assert after(text, "equal weights would give") == (0.45, 0)
    assert_measured(after(text, "would give 0.45. There"), 100.0 * raw.found[1].mean(axis=-1))
    # Rates between these do not help either within 200 steps.
    finer = train_lookup([2.0**-5, 2.0**-4, 2.0**-2, 2.0**-1], range(100, 108), scale=1.0)
    assert finer.losses[..., -1].mean(axis=1).min() > 0.25
    patient = train_lookup([1 / 4], range(100, 116), scale=1.0, steps=20_000)
    assert "Give the unscaled layer 20 000 steps" in text
    assert_measured(after(text, "as many: it finds"), 100.0 * patient.found[0].mean(axis=-1))
    for words, step in (("its loss is", -1), ("down from", 10_000)):
        assert_measured(
            after(text.partition("Slow is not never")[2], words), patient.losses[0, :, step]
        )

    def lost(rate):
        """For each start, three numbers about the queries that do not find their key."""
        for w, found in zip(raw.weights[rate], raw.found[rate], strict=True):
            if not found.all():
                dead = TARGETS["softmax_jacobian_norm"](w[~found]) < 0.01
                largest = np.median(w[~found].max(axis=-1))
                yield 100 * np.mean(np.diag(w)[~found] < 0.001), 100 * np.mean(dead), largest

    small, dead, largest = np.array([*lost(1)]).T
    assert_measured(after(text, "At the best rate"), small)
    assert_measured(after(text, "whole Jacobian is 0. Only"), dead)
    assert_measured(after(text, "their largest weight is"), largest)
    assert after(text, "hear of it. At the rate 1")[0] > 95
    assert np.array([*lost(2)])[:, 1].mean() > 95

    assert root.found[2].all()
    assert width.found[2].mean() > 0.97
    assert "has found 100 % of the keys" in text
    assert after(text, "already the largest in")[0] >= 99
    assert_measured(after(text, "the loss is still"), width.losses[2, :, -1])
    better = width.losses[..., -1].mean(axis=1) < root.losses[..., -1].mean(axis=1)
    assert better.tolist() == [False, False, False, False, True, True]
    for c in SCALES:
        assert train_lookup([1 / 8], range(100, 104), scale=c, loss="cross-entropy").found.all()
    assert "every scale finds 100 % of the keys" in text


def test_one_rate_for_every_width(tables):
    table = tables["d_k", "unscaled", "÷ √d_k", "÷ d_k"]
    assert [row[0] for row in table] == ["16", "64", "256"]
    for width, *cells in table:
        d = int(width)
        for cell, c in zip(cells, (1.0, d**-0.5, 1 / d), strict=True):
            run = train_lookup([1.0], range(200, 206), d_k=d, scale=c)
            assert_measured(read(cell), run.losses[0, :, -1])
    unscaled, root, over = (np.array([read(row[i])[0] for row in table]) for i in (1, 2, 3))
    assert np.all(np.diff(unscaled) > 0)
    assert np.all(np.diff(over) > 0)
    assert root.max() < 1.5 * root.min()


class TestTheModelWithoutTheScale:
    """The page says what the trials gave; `test_trials.py` begins them again."""

    def trials(self, d_k, spread, divided):
        found = [t for t in read_records().scales if t[:3] == (d_k, divided, spread)]
        assert [t.seed for t in found] == [0, 1, 2]
        return found

    def test_the_table(self, tables):
        rows = tables["d_k, start", "% dead at the start", "recall, ÷ √d_k", "recall, not divided"]
        expected = []
        for d_k in (4, 16, 64):
            for spread in (1.0, math.sqrt(d_k)):
                both = [self.trials(d_k, spread, divided) for divided in (True, False)]
                # The factor and the matrices compensate each other, so the starts are the same.
                for one, other in zip(*both, strict=True):
                    np.testing.assert_allclose(one.start, other.start, atol=1e-4)
                dead = 100 * np.mean([t.start.dead for t in both[0]])
                shares = (" ".join(f"{100 * t.recall[-1]:.0f}" for t in ways) for ways in both)
                expected.append((f"{d_k}, {spread:g}", f"{dead:.0f}", *shares))
        assert rows == expected

    def test_what_was_trained(self, text):
        assert (trials_command.SEEDS, scales.STEPS, BATCH_SIZE) == (3, 1000, 64)
        assert "three widths and three seeds, and 1000 batches of 64 sentences" in text
        assert scales.WIDTHS == (4, 16, 64)

    def test_the_start_decides(self, text):
        final = {
            (d_k, name, divided): [t.recall[-1] for t in self.trials(d_k, spread, divided)]
            for d_k in (16, 64)
            for name, spread in (("near", 1.0), ("far", math.sqrt(d_k)))
            for divided in (True, False)
        }
        near, far = (
            [share for (_, name, _), shares in final.items() if name == start for share in shares]
            for start in ("near", "far")
        )
        learned = [sum(share > 0.99 for share in shares) for shares in (near, far)]
        assert learned[0] == len(near) == len(far) == 12
        assert learned[1] <= 2
        assert (
            "start with a standard deviation of 1, 12 of 12 trainings recall more than 99 %" in text
        )
        assert f"it is {learned[1]} of 12. The division" in text
        with_it, without = (100 * np.mean(final[64, "far", divided]) for divided in (True, False))
        assert with_it > without + 15
        said = f"it helps: {with_it:.0f} % recalled on average, against {without:.0f} % without it."
        assert said in text

    def test_agreement_and_width_4(self, text):
        everything = read_records().scales
        least = min(trial.agreement[-1] for trial in everything)
        assert f"Agreement ends at {100 * least:.0f} % or more in all 36 trainings" in text
        assert least > 0.98
        narrow = [t for t in everything if t.d_k == 4]
        stuck = [t for t in narrow if t.recall[-1] < 0.6]
        assert len({t.seed for t in stuck}) == 1
        assert len(stuck) == 4  # "it does so in all four ways"
        assert min(t.recall[-1] for t in narrow if t not in stuck) > 0.9
        assert max(t.start.dead for t in narrow) < 0.03

    def test_slow_and_sharp(self, text):
        rises = [
            [t.recall[-1] - t.recall[-4] for t in self.trials(64, 8.0, divided)]
            for divided in (True, False)
        ]
        assert min(rises[0]) > 0.1 > 0.05 > max(rises[1])
        assert scales.EVERY == 100  # "over the last 300 batches"
        learned = [
            t
            for d_k in (16, 64)
            for divided in (True, False)
            for t in self.trials(d_k, 1.0, divided)
        ]
        assert all(t.end.dead > t.start.dead for t in learned)
        spread, dead = (np.mean([getattr(t.end, of) for t in learned]) for of in ("spread", "dead"))
        assert f"typically {spread:.0f} away from 0, and with {100 * dead:.0f} % dead rows" in text
        far = np.mean([t.start.dead for t in self.trials(64, 8.0, True)])
        assert f"even where {100 * far:.0f} % of the rows start dead" in text
