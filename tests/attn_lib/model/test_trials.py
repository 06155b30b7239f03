"""The committed results of the trials are those that the code gives, as far as it is run again."""

import math
import sys

import numpy as np
import pytest

from attn_lib.model import (
    CONFIG,
    RIGHT,
    accuracy,
    cross_entropy,
    draw_sentences,
    encode,
    forward,
    initialise,
    train_model,
    training_batch,
)
from attn_lib.model.training import SKILLS
from attn_lib.model.trials import (
    UNMASKED,
    Records,
    __main__,
    masks,
    read_records,
    records,
    scales,
    softmax_rows,
    unmasked_model,
)
from attn_lib.softmax import softmax_jacobian

RECORDS = read_records()
HELD_OUT = draw_sentences(100, np.random.default_rng(31), held_out=True)


def test_every_trial_is_recorded():
    seeds = range(__main__.SEEDS)
    grid = {
        (d_k, divided, spread, seed)
        for d_k in scales.WIDTHS
        for divided in (True, False)
        for spread in (1.0, math.sqrt(d_k))
        for seed in seeds
    }
    assert {trial[:4] for trial in RECORDS.scales} == grid
    assert len(RECORDS.scales) == len(grid)
    for trial in RECORDS.scales:
        measured = scales.STEPS // scales.EVERY + 1
        assert len(trial.recall) == len(trial.agreement) == measured
    assert [trial.masked for trial in RECORDS.masks] == [True, False]
    assert {len(trial.losses) for trial in RECORDS.masks} == {masks.STEPS // masks.EVERY}
    assert RECORDS.provenance.keys() == {"command", "python", "numpy", "seconds"}


#: For each width, the usual start with the division and without it.
USUAL = [
    trial for trial in RECORDS.scales if trial.seed == 0 and trial.divided == (trial.spread == 1)
]


@pytest.mark.parametrize("trial", USUAL, ids=lambda t: f"{t.d_k}-{t.divided}")
def test_a_trial_begins_as_recorded(trial):
    start = scales.scaled_start(trial.d_k, trial.divided, trial.spread, trial.seed)
    parts = scales.scaled_parts(trial.divided)
    losses = train_model(start, trial.seed, steps=2, parts=parts).losses
    # The rate depends on the number of steps, but in the first it is too small to matter here.
    np.testing.assert_allclose(losses, trial.first_losses[:2], rtol=1e-3)
    sentences = draw_sentences(
        scales.HELD_OUT, np.random.default_rng(scales.HELD_OUT_SEED), held_out=True
    )
    np.testing.assert_allclose(softmax_rows(start, sentences, parts), trial.start, atol=1e-3)
    shares = accuracy(start, sentences, parts=parts)
    assert shares["recall"] == pytest.approx(trial.recall[0], abs=0.01)
    assert shares["agreement"] == pytest.approx(trial.agreement[0], abs=0.03)


@pytest.mark.parametrize("trial", RECORDS.masks, ids=lambda t: str(t.masked))
def test_a_training_with_or_without_the_mask_begins_as_recorded(trial):
    again, _ = masks.mask_trial(trial.masked, steps=masks.FIRST)
    np.testing.assert_allclose(again.first_losses, trial.first_losses, rtol=1e-3)
    assert again.masked == trial.masked


def test_scores_spread_as_asked_where_they_enter_the_softmax():
    for d_k, divided, spread in ((4, True, 2.0), (16, False, 1.0), (64, False, 8.0)):
        start = scales.scaled_start(d_k, divided, spread, seed=3)
        rows = softmax_rows(start, HELD_OUT, scales.scaled_parts(divided))
        assert rows.spread == pytest.approx(spread, rel=0.15)
        usual = initialise(CONFIG._replace(d_k=d_k), 3).parameters
        for name, array in start.parameters.items():
            ratio = array / np.where(usual[name] == 0, 1, usual[name])
            expected = math.sqrt(spread / (1 if divided else math.sqrt(d_k)))
            if name.endswith((".w_q", ".w_k")):
                np.testing.assert_allclose(ratio, expected, rtol=1e-6)
            else:
                np.testing.assert_array_equal(array, usual[name])
    with pytest.raises(ValueError, match="a positive spread, got 0"):
        scales.scaled_start(4, divided=True, spread=0, seed=0)


def test_rows_are_measured_one_by_one():
    start = scales.scaled_start(16, divided=False, spread=4.0, seed=5)
    parts = scales.scaled_parts(divided=False)
    scores, largest, norms = [], [], []
    for sentence in HELD_OUT[:20]:
        trace = forward(start, encode(sentence.words), parts=parts)
        for layer in ("layer1", "layer2"):
            for q, k in zip(trace[f"{layer}.q"], trace[f"{layer}.k"], strict=True):
                for i in range(1, len(sentence.words)):
                    row = (k[: i + 1] @ q[i]).astype(float)
                    weights = np.exp(row - row.max())
                    weights /= weights.sum()
                    scores += list(row)
                    largest.append(weights.max())
                    norms.append(np.linalg.norm(softmax_jacobian(weights)))
    measured = softmax_rows(start, HELD_OUT[:20], parts)
    assert measured.spread == pytest.approx(np.sqrt(np.mean(np.square(scores))), rel=1e-4)
    assert measured.largest == pytest.approx(np.mean(largest), rel=1e-4)
    assert measured.dead == pytest.approx(np.mean(np.array(norms) < 0.01), abs=2 / len(norms))
    assert 0 < measured.dead < 0.5


def test_the_model_without_the_mask_copies_and_cannot_write():
    sentences = draw_sentences(90, np.random.default_rng(32), *SKILLS, held_out=True)
    batch = training_batch(sentences)
    trace = forward(unmasked_model(), batch.ids, batch.lengths, parts=UNMASKED)
    loss, _ = cross_entropy(trace["logits"], batch.targets, batch.word_weights)
    assert loss == pytest.approx(RECORDS.masks[1].losses[-1], abs=0.01)
    hidden = forward(unmasked_model(), batch.ids, batch.lengths)
    assert cross_entropy(hidden["logits"], batch.targets, batch.word_weights)[0] > 2
    peeking = accuracy(unmasked_model(), sentences, parts=UNMASKED)
    assert peeking == {"recall": 1.0, "agreement": 1.0}
    writing = accuracy(unmasked_model(), sentences, parts=UNMASKED, reading="so far")
    assert writing["recall"] < 0.55
    assert writing["agreement"] < 0.75
    assert masks.PATH.stat().st_size < 100_000


def test_padding_stays_hidden_without_the_causal_mask():
    mask = UNMASKED.causal_mask(2, 3) & UNMASKED.padding_mask(np.array([2]), 3)
    assert mask.tolist() == [[[True, True, False]] * 2]
    assert UNMASKED.attention is RIGHT.attention


def test_records_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "trials.json"
    records.write_records(RECORDS, path)
    assert read_records(path) == RECORDS
    assert path.read_text(encoding="utf-8") == records.PATH.read_text(encoding="utf-8")
    long = RECORDS.masks[0]._replace(losses=[1 / 3])
    records.write_records(Records({}, [], [long]), path)
    assert read_records(path).masks[0].losses == [0.333333]


def test_the_command_runs_every_trial(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(__main__, "SEEDS", 1)
    monkeypatch.setattr(scales, "WIDTHS", (4,))
    of_scales, of_masks = scales.scale_trial, masks.mask_trial
    monkeypatch.setattr(scales, "scale_trial", lambda *trial: of_scales(*trial, steps=1))
    monkeypatch.setattr(masks, "mask_trial", lambda masked: of_masks(masked, steps=2))
    monkeypatch.setattr(sys, "argv", ["trials", "--to", str(tmp_path)])
    __main__.main()
    written = read_records(tmp_path / "trials.json")
    assert [trial[:4] for trial in written.scales] == [
        (4, divided, spread, 0) for divided in (True, False) for spread in (1.0, 2.0)
    ]
    assert [len(trial.losses) for trial in written.masks] == [1, 1]
    assert (tmp_path / "unmasked.npz").stat().st_size > 10_000
    assert written.provenance["command"] == "python -m attn_lib.model.trials"
    told = capsys.readouterr().out
    assert "without the mask: loss " in told
    assert "seed 0, d_k 4, not divided, spread 2: recall " in told
