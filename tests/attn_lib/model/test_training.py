"""Training learns both skills, gives the same model for the same seed, and the command saves it."""

import subprocess
import sys

import numpy as np
import pytest

from attn_lib.model import (
    CONFIG,
    Answer,
    Config,
    Sentence,
    accuracy,
    draw_sentences,
    encode,
    find_heads,
    has_opposed_attractor,
    initialise,
    load,
    save,
    train_model,
    trained_model,
    training,
    training_batch,
)
from attn_lib.model import train as command
from attn_lib.model.weights import PATH

SMALL = Config(n_words=49, max_length=17, d_model=8, d_k=3)


FRESH_SEED = 1  # different from the seed of the committed weights
FRESH_STEPS = 600


@pytest.fixture(scope="module")
def fresh():
    """A newly trained model."""
    assert FRESH_SEED != command.SEED
    return train_model(initialise(CONFIG, FRESH_SEED), FRESH_SEED, steps=FRESH_STEPS)


def test_a_newly_trained_model_recalls_and_agrees(fresh):
    sentences = draw_sentences(1000, np.random.default_rng(10), held_out=True)
    shares = accuracy(fresh.model, sentences)
    assert min(shares.values()) >= 0.99, shares
    opposed = [sentence for sentence in sentences if has_opposed_attractor(sentence)]
    assert len(opposed) > 300
    assert accuracy(fresh.model, opposed)["agreement"] >= 0.99


def test_a_newly_trained_model_has_the_heads_in_some_layer(fresh):
    found = find_heads(fresh.model, draw_sentences(500, np.random.default_rng(11), held_out=True))
    assert found["previous word"].layer == 1
    assert found["induction"].layer == 2
    assert min(head.score for head in found.values()) > 0.5


def test_the_loss_falls_from_that_of_guessing(fresh):
    assert abs(fresh.losses[0] - np.log(CONFIG.n_words)) < 1
    assert fresh.losses[-50:].mean() < fresh.losses[0] / 4
    assert len(fresh.losses) == FRESH_STEPS


def test_the_committed_weights_reach_the_stated_accuracy():
    assert PATH.stat().st_size < 100_000
    sentences = draw_sentences(2000, np.random.default_rng(12), held_out=True)
    for skill, share in accuracy(trained_model(), sentences).items():
        assert share >= 0.995, skill
    opposed = [sentence for sentence in sentences if has_opposed_attractor(sentence)]
    assert accuracy(trained_model(), opposed)["agreement"] >= 0.995
    assert {a.dtype for a in trained_model().parameters.values()} == {np.dtype(np.float32)}
    assert trained_model().config == CONFIG


def test_the_same_seeds_give_the_same_model_despite_rounding(monkeypatch):
    start = initialise(SMALL, seed=2)
    expected = train_model(start, 3, steps=40, batch_size=8)
    again = train_model(start, 3, steps=40, batch_size=8)
    noise = np.random.default_rng(0)
    right = training.backward

    def other_machine(*arguments, **options):
        gradients = right(*arguments, **options)
        return {
            name: gradient * (1 + 1e-15 * noise.uniform(-1, 1, gradient.shape))
            for name, gradient in gradients.items()
        }

    monkeypatch.setattr(training, "backward", other_machine)
    elsewhere = train_model(start, 3, steps=40, batch_size=8)
    other = train_model(start, 4, steps=40, batch_size=8)
    for name, array in expected.model.parameters.items():
        np.testing.assert_array_equal(again.model.parameters[name], array)
        np.testing.assert_allclose(elsewhere.model.parameters[name], array, atol=1e-5)
    assert np.abs(other.losses - expected.losses).max() > 0.01


def test_a_step_is_an_adam_step_on_the_loss():
    start = initialise(SMALL, seed=5)
    sentences = draw_sentences(6, np.random.default_rng(9), *training.SKILLS)
    loss, gradients = training.loss_and_gradients(start, training_batch(sentences))
    after = train_model(start, 9, steps=1, batch_size=6, rate=0.02)
    assert after.losses.tolist() == [loss]
    # Adam's first step is the learning rate times the negative sign of the gradient. The rate is
    # a hundredth of its final value, because it is the first of 100 warm-up steps.
    for name, gradient in gradients.items():
        moved = after.model.parameters[name] - start.parameters[name]
        clear = np.abs(gradient) > 1e-5
        np.testing.assert_allclose(moved[clear], -2e-4 * np.sign(gradient[clear]), rtol=0.01)
    for name, array in initialise(SMALL, seed=5).parameters.items():
        np.testing.assert_array_equal(start.parameters[name], array)


def test_a_training_that_stops_early_is_the_start_of_the_whole_one():
    start = initialise(SMALL, seed=5)
    seen = []
    whole = train_model(start, 9, steps=5, batch_size=6)
    first = train_model(
        start, 9, steps=5, batch_size=6, stop_after=3, watch=lambda step, _: seen.append(step)
    )
    assert first.losses.tolist() == whole.losses[:3].tolist()
    assert seen == [0, 1, 2, 3]
    shorter = train_model(start, 9, steps=3, batch_size=6)
    assert shorter.losses.tolist() != whole.losses[:3].tolist()


def test_a_watcher_sees_the_model_before_each_step_and_at_the_end():
    seen = []
    start = initialise(SMALL, seed=5)
    trained = train_model(
        start, 9, steps=3, batch_size=2, watch=lambda step, m: seen.append((step, m))
    )
    assert [step for step, _ in seen] == [0, 1, 2, 3]
    assert seen[0][1] is start
    assert seen[-1][1] is trained.model


def test_a_batch_pairs_each_word_with_the_next():
    long = Sentence(("ada", "tea", "ada", "tea", "."), "recall", (Answer(position=3, source=1),))
    short = Sentence(("the", "cats", "sleep", "."), "agreement", (Answer(2, 1),))
    batch = training_batch([long, short], weight_of_others=0.25)
    assert batch.ids.tolist() == [
        encode("ada tea ada tea").tolist(),
        encode("the cats sleep .").tolist(),
    ]
    assert batch.targets.tolist() == [
        encode("tea ada tea .").tolist(),
        encode("cats sleep . <pad>").tolist(),
    ]
    assert batch.word_weights.tolist() == [[0.25, 0.25, 1, 0.25], [0.25, 1, 0.25, 0]]
    assert batch.lengths.tolist() == [4, 4]


def test_the_command_saves_the_trained_model(monkeypatch, tmp_path, capsys):
    def briefly(model, seed):
        return train_model(model, seed, steps=2, batch_size=4)

    monkeypatch.setattr(command, "train_model", briefly)
    monkeypatch.setattr(command, "HELD_OUT", 20)
    monkeypatch.setattr(sys, "argv", ["train", "--to", str(tmp_path / "new.npz")])
    command.main()
    expected = briefly(initialise(CONFIG, command.SEED), command.SEED).model
    written = load(tmp_path / "new.npz")
    assert written.config == CONFIG
    for name, array in expected.parameters.items():
        np.testing.assert_array_equal(written.parameters[name], array)
    told = capsys.readouterr().out
    assert "12064 numbers, trained in " in told
    assert "recall: " in told
    assert "induction: head " in told


def test_the_command_can_be_started():
    arguments = [sys.executable, "-W", "error", "-m", "attn_lib.model.train", "--help"]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("usage: python -m attn_lib.model.train [-h] [--to TO]")


def test_the_same_model_gives_the_same_file(tmp_path):
    for name in ("a.npz", "b.npz"):
        save(trained_model(), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    again = load(tmp_path / "a.npz")
    assert again.config == trained_model().config
    assert again.parameters.keys() == trained_model().parameters.keys()
    for name, array in trained_model().parameters.items():
        np.testing.assert_array_equal(again.parameters[name], array)


def test_models_that_cannot_be_trained_or_saved_are_rejected(tmp_path):
    model = initialise(SMALL, seed=0)
    with pytest.raises(ValueError, match="a positive rate, got 0"):
        train_model(model, 0, rate=0)
    with pytest.raises(ValueError, match="steps: expected 1 or more, got 0"):
        train_model(model, 0, steps=0)
    with pytest.raises(ValueError, match="batch_size: expected 1 or more, got 0"):
        train_model(model, 0, batch_size=0)
    with pytest.raises(ValueError, match=r"a path that ends in \.npz, got weights"):
        save(model, "weights")
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(ValueError, match=r"without a config; write it with attn_lib\.model\.save"):
        load(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npz")
