"""Sampling gives the same words with and without a cache, at the stated number of operations."""

import numpy as np
import pytest

from attn_lib.model import (
    Config,
    decode,
    draw_sentences,
    encode,
    forward,
    generate,
    initialise,
    multiplications,
    trained_model,
)
from attn_lib.softmax import softmax

PROMPTS = ["the penguins near the wizard", "ada tea bob milk . bob", "the"]


@pytest.mark.parametrize("temperature", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_cache_does_not_change_the_generated_words(prompt, temperature):
    with_cache, without = (
        generate(trained_model(), prompt, 7, temperature=temperature, seed=5, use_cache=use)
        for use in (True, False)
    )
    assert with_cache.text == without.text
    assert with_cache.text.startswith(prompt)
    assert len(with_cache.text.split()) == len(prompt.split()) + 7
    np.testing.assert_allclose(with_cache.logits, without.logits, atol=1e-4)
    assert sum(with_cache.multiplications) < sum(without.multiplications)


def test_greedy_sampling_takes_the_word_with_the_highest_logit():
    text = generate(trained_model(), "eve cocoa gus tea", 5).text
    ids = encode(text)
    logits = forward(trained_model(), ids)["logits"]
    assert decode(logits[3:-1].argmax(axis=-1)) == decode(ids[4:])


def test_words_are_drawn_as_often_as_softmax_says():
    model, prompt, temperature = trained_model(), "the owl near the", 1.5
    probabilities = softmax(forward(model, encode(prompt))["logits"][-1].astype(float) / 1.5)
    draws = 400
    counts = np.zeros(len(probabilities))
    for seed in range(draws):
        text = generate(model, prompt, 1, temperature=temperature, seed=seed).text
        counts[encode(text.split()[-1])[0]] += 1
    deviation = np.sqrt(draws * probabilities * (1 - probabilities))
    assert np.all(np.abs(counts - draws * probabilities) <= 4.5 * deviation + 1)


def test_multiplications_are_the_sum_over_all_products():
    config = Config(n_words=11, d_model=6, n_layers=3, n_heads=2, d_k=5, d_ff=7)
    n, past = 4, 9
    one_layer = (
        3 * (n * 6 * 10)  # projections to q, k and v
        + 2 * (n * 5 * (n + past))  # scores of two heads
        + 2 * (n * (n + past) * 5)  # outputs of two heads
        + n * 10 * 6  # output projection to the residual stream
        + n * 6 * 7  # feed-forward layer, first matrix
        + n * 7 * 6  # feed-forward layer, second matrix
    )
    assert multiplications(config, n, past) == 3 * one_layer + n * 6 * 11


def test_a_generation_counts_its_multiplications():
    config = trained_model().config
    with_cache = generate(trained_model(), PROMPTS[0], 3)
    without = generate(trained_model(), PROMPTS[0], 3, use_cache=False)
    assert with_cache.multiplications == (
        multiplications(config, 5),
        multiplications(config, 1, 5),
        multiplications(config, 1, 6),
    )
    assert without.multiplications == tuple(multiplications(config, n) for n in (5, 6, 7))


def test_no_words_are_generated_if_none_are_wanted():
    nothing = generate(trained_model(), "ada", 0)
    assert nothing.text == "ada"
    assert nothing.multiplications == ()
    assert nothing.logits.shape == (0, trained_model().config.n_words)


def test_a_whole_sentence_is_generated_as_expected():
    for sentence in draw_sentences(20, np.random.default_rng(4), "recall", held_out=True):
        for answer in sentence.answers:
            prompt = " ".join(sentence.words[: answer.position])
            assert (
                generate(trained_model(), prompt, 1).text.split()[-1]
                == (sentence.words[answer.position])
            )


def test_invalid_arguments_are_explained():
    with pytest.raises(ValueError, match="a temperature of 0 or more, got -1"):
        generate(trained_model(), "ada", 1, temperature=-1)
    with pytest.raises(ValueError, match="at least one word, got"):
        generate(trained_model(), "", 1)
    with pytest.raises(ValueError, match="n_words: expected 0 or more, got -2"):
        generate(trained_model(), "ada", -2)
    with pytest.raises(ValueError, match="a model of the 49 words of this language, got one of 7"):
        generate(initialise(Config(n_words=7), 0), "ada", 1)
    with pytest.raises(ValueError, match="cut the text"):
        generate(trained_model(), "ada", trained_model().config.max_length + 1)
