"""The figures of the trained model show what attn_lib computes, for what a reader asks."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attn_lib.course.effects import PLACES
from attn_lib.course.mistakes import catalogue
from attn_lib.model import (
    RIGHT,
    WORDS,
    encode,
    forward,
    generate,
    multiplications,
    replacement,
    scaled_attention,
    trained_model,
    without_head,
)
from attn_lib.softmax import softmax

PAGE = "from-text-to-next-word"
TYPED = "dan milk eve tea eve"


def figure(page, name):
    return page.locator(f'figure[data-live="{name}"] .attn-live-now')


def text(number, digits=2):
    return f"{number:.{digits}f}".replace("-", "−")


def sentence_of(now):
    return now.locator(".live-sentence:not(.mistake-said, .cache-text)").inner_text()


def rows_of(table):
    """The texts of the cells of each row of a table's body."""
    return table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )


def next_words(logits, count):
    shares = softmax(logits.astype(float))
    best = np.argsort(-shares, kind="stable")[:count]
    return [[WORDS[i], text(shares[i])] for i in best]


@pytest.mark.parametrize("page", [PAGE, "putting-it-together"])
def test_a_figure_opens_on_what_its_still_picture_says(tabs, built_book, page):
    """And not on the word that is asked for, the last one."""
    watched = tabs.open()
    watched.open((built_book / "book" / f"{page}.html").as_uri())
    watched.start_figures()
    now = figure(watched.page, "where-heads-look")
    still = watched.page.locator('figure[data-live="where-heads-look"] figcaption').text_content()
    head, looks, most, weight = re.fullmatch(
        r"(Layer . head .)(?: \(.*\))?: (\w+) → (\w+) ([.\d]+)\.", still.replace(",", "")
    ).groups()
    said = sentence_of(now).replace(",", "")
    assert re.fullmatch(rf"{head}: “{looks}” .* looks most at “{most}” .* with {weight}\.", said)
    words = now.locator(".model-words").get_by_role("radio")
    assert not words.last.is_checked()
    watched.leave()


def test_where_a_head_looks_in_a_sentence_of_the_reader(live_page):
    now = figure(live_page, "where-heads-look")
    now.get_by_label("Sentence").fill(TYPED)
    words = TYPED.split()
    trace = forward(trained_model(), encode(TYPED))
    for layer, head in ((1, 1), (1, 2), (2, 1), (2, 2)):
        now.get_by_label(f"layer {layer}, head {head}").check()
        now.get_by_label("word 4, tea").check()
        weights = trace[f"layer{layer}.weights"][head - 1]
        shown = now.locator(".model-words tbody tr > td:last-child").all_inner_texts()
        assert shown == [*(text(w) for w in weights[3, :4]), "hidden"]
        most = weights[3].argmax()
        assert f"“tea” (word 4) looks most at “{words[most]}” (word {most + 1})" in sentence_of(now)
        assert rows_of(now.locator(".model-next")) == next_words(trace["logits"][3], 5)
        now.get_by_label("which words look at it").check()
        shown = now.locator(".model-words tbody tr > td:last-child").all_inner_texts()
        assert shown == ["hidden"] * 3 + [text(w) for w in weights[3:, 3]]
        giver = 3 + weights[3:, 3].argmax()
        assert (
            f"“{words[giver]}” (word {giver + 1}) gives the most weight to “tea” (word 4), "
            f"{text(weights[giver, 3])};"
        ) in sentence_of(now)
        now.get_by_label("where the word looks").check()


def test_a_word_is_chosen_by_pointing_at_it_and_by_arrow_keys(live_page):
    now = figure(live_page, "where-heads-look")
    now.get_by_label("Sentence").fill("the cats near the dog")
    now.locator(".model-words label", has_text="cats").hover()
    assert "“cats” (word 2) looks most" in sentence_of(now)
    now.get_by_label("word 2, cats").press("ArrowDown")
    assert "“near” (word 3) looks most" in sentence_of(now)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("ada lemo", "“lemo” can become lemonade."),
        ("ada tee ", "“tee” is not a word of this language. There are names (ada, bob, "),
        ("", "Type at least one word. There are names (ada"),
        ("ada tea " * 9, "At most 17 words can be read here, not 18. Remove some."),
    ],
)
def test_what_cannot_be_read_is_told_and_the_figure_stays(live_page, typed, problem):
    now = figure(live_page, "where-heads-look")
    field = now.get_by_label("Sentence")
    field.fill("the fox")
    before = sentence_of(now), now.bounding_box()["height"]
    field.fill(typed)
    assert now.locator(".model-problem").inner_text().startswith(problem)
    assert field.get_attribute("aria-invalid") is not None
    assert (sentence_of(now), now.bounding_box()["height"]) == before
    field.fill("the fox")
    assert not now.locator(".model-problem").is_visible()


def test_words_can_be_put_in_by_buttons(live_page):
    now = figure(live_page, "where-heads-look")
    now.get_by_label("Sentence").fill("ada")
    now.get_by_text("All 48 words").click()
    now.get_by_role("button", name="lemonade", exact=True).click()
    now.get_by_role("button", name="the", exact=True).click()
    assert now.get_by_label("Sentence").input_value() == "ada lemonade the"
    now.get_by_role("button", name="Remove the last word").click()
    assert "“lemonade” (word 2) looks most" in sentence_of(now)
    now.get_by_text("All 48 words").click()


def test_every_array_has_its_shape_and_its_numbers(live_page):
    now = figure(live_page, "array-by-array")
    now.get_by_label("Sentence").fill(TYPED)
    trace = forward(trained_model(), encode(TYPED))
    ring = now.get_by_role("slider", name="Cell")
    step = now.get_by_label("Array")
    step.press("Home")
    ring.press("ArrowRight")
    for i, (name, array) in enumerate(trace.items()):
        assert (
            now.locator(".array-title").inner_text()
            == f"{name} ({', '.join(map(str, array.shape))})"
        )
        row = array[0, -1] if array.ndim == 3 else array[-1]
        assert sentence_of(now).endswith(f": {text(row[1])}.".replace("-inf", "∞")), name
        if i:
            assert step.get_attribute("aria-valuetext") == name
        if i < len(trace) - 1:
            now.get_by_role("button", name="Next").click()
    assert now.get_by_role("button", name="Next").is_disabled()


def test_a_hidden_score_is_read_as_such(live_page):
    now = figure(live_page, "array-by-array")
    now.get_by_label("Sentence").fill(TYPED)
    now.get_by_label("Array").fill(str([*forward(trained_model(), [3])].index("layer1.scores")))
    ring = now.get_by_role("slider", name="Cell")
    for key, times in (("ArrowLeft", 10), ("ArrowDown", 5), ("ArrowUp", 1), ("ArrowRight", 4)):
        for _ in range(times):
            ring.press(key)
    assert sentence_of(now).endswith("head 1, “tea”, “eve”: −∞.")


@pytest.mark.parametrize(("temperature", "seed"), [("0", 0), ("1.5", 3)])
def test_the_model_writes_what_the_library_writes(live_page, temperature, seed):
    now = figure(live_page, "writing-with-a-cache")
    prompt = "cleo juice dan tea eve"
    now.get_by_label("Prompt").fill("the")
    now.get_by_label("Prompt").fill(prompt)
    now.get_by_label("Temperature").fill(temperature)
    now.get_by_label("Seed of the draws").fill(str(seed))
    for step in range(5):
        options = {"temperature": float(temperature), "seed": seed}
        written = generate(trained_model(), prompt, step + 1, **options)
        *words, last = written.text.split()
        shown = now.locator(".cache-text").inner_text()
        assert shown == f"{' '.join(words)} → {last}"
        assert f"{written.multiplications[-1]:,}".replace(",", "\u202f") in sentence_of(now)
        trace = forward(trained_model(), encode(words))
        weights = np.concatenate([trace[f"layer{i}.weights"][:, -1] for i in (1, 2)])
        rows = rows_of(now.locator(".cache-table"))[: len(words)]
        assert [row[1:] for row in rows] == [[text(w) for w in column] for column in weights.T]
        new = [row[0].startswith("+ ") for row in rows]
        assert new == [step == 0 or i == len(words) - 1 for i in range(len(words))]
        now.get_by_role("button", name="Read this word").click()


def test_without_the_cache_all_is_computed_again(live_page):
    now = figure(live_page, "writing-with-a-cache")
    now.get_by_label("Prompt").fill("ada tea bob milk ada")
    now.get_by_role("button", name="Read this word").click()
    now.get_by_label("Keep keys and values in a cache").uncheck()
    assert "computes 6 queries, 6 keys and 6 values. All" in sentence_of(now)
    cost = f"{multiplications(trained_model().config, 6):,}".replace(",", "\u202f")
    assert cost in sentence_of(now)
    now.get_by_label("Keep keys and values in a cache").check()
    assert "1 query, 1 key and 1 value, and reads 5 keys and 5 values from" in sentence_of(now)


def shares_after(sentence, model, parts=RIGHT):
    logits = forward(model, encode(sentence), parts=parts)["logits"][-1]
    return softmax(logits.astype(float))


def compared(now):
    return {word: shares for word, *shares in rows_of(now.locator(".model-next"))}


def expected_shares(sentence, model, parts, words):
    right, now = shares_after(sentence, trained_model()), shares_after(sentence, model, parts)
    return {word: [text(s[WORDS.index(word)]) for s in (right, now)] for word in words}


def test_parts_are_switched_off_one_or_several(live_page):
    now = figure(live_page, "switch-off")
    now.get_by_label("Sentence").fill(TYPED)
    now.get_by_role("button", name="Everything on").click()
    model = trained_model()
    assert "9 of 9 on drinks and 5 of 5 on verbs" in sentence_of(now)
    unmasked = replacement("causal_mask", lambda n_q, n_k: np.ones((n_q, n_k), dtype=bool))
    unscaled = RIGHT._replace(attention=scaled_attention(1))
    both = without_head(without_head(model, 1, 1), 2, 1)
    changes = [
        (["the previous-word head", "the induction head"], both, RIGHT),
        (["scale"], model, unscaled),
        (["mask"], model, unmasked),
    ]
    for parts_off, changed, parts in changes:
        now.get_by_role("button", name="Everything on").click()
        for part in parts_off:
            now.get_by_label(part).uncheck()
        shown = compared(now)
        assert shown == expected_shares(TYPED, changed, parts, shown)


def test_mistakes_in_the_model_answer_as_in_the_library(live_page):
    now = figure(live_page, "try-a-mistake")
    by_id = {mistake.id: mistake for mistake in catalogue()}
    now.get_by_label("Sentence").fill(TYPED)
    ids = now.get_by_role("radio").evaluate_all("radios => radios.map(radio => radio.value)")
    assert len(ids) >= 13
    for id in ids[1:]:
        now.locator(f'input[value="{id}"]').check()
        assert now.locator(".mistake-said").inner_text() == by_id[id].sentence
        if by_id[id].target != "cached_causal_mask":
            parts = PLACES[by_id[id].target](by_id[id].wrong)
            with np.errstate(all="ignore"):
                shown = compared(now)
                expected = expected_shares(TYPED, trained_model(), parts, shown)
            assert shown == {w: [s.replace("nan", "NaN") for s in e] for w, e in expected.items()}
        counts = [int(n) for n in re.findall(r"(\d+) of", sentence_of(now))]
        wrong = now.locator('tr[data-right="false"]').count()
        asked = [int(n) for n in re.findall(r"of (\d+) on", sentence_of(now))]
        assert sum(asked) - sum(counts) == wrong


def test_a_row_and_a_column_of_the_table_of_weights(tabs, built_book):
    watched = tabs.open()
    watched.open((built_book / "book" / "dot-products.html").as_uri())
    watched.start_figures()
    now = figure(watched.page, "row-of-weights")
    typed = "bob milk ada tea bob"
    now.get_by_label("Sentence").fill(typed)
    trace = forward(trained_model(), encode(typed))
    for layer, head in ((1, 1), (2, 1)):
        now.get_by_label(f"layer {layer}, head {head}").check()
        weights = trace[f"layer{layer}.weights"][head - 1]
        rows = [row[-5:] for row in rows_of(now.locator(".model-words"))]
        assert rows == [[text(w) for w in row] for row in weights]
        sums = now.locator(".model-words tfoot td:not(.model-drawn)").all_inner_texts()
        assert sums == [text(total) for total in weights.sum(axis=0)]
        now.get_by_label("word 5, bob").check()
        most = weights[4].argmax()
        name = typed.split()[most]
        assert sentence_of(now) == (
            f"Row 5, “bob”, gives the most to column {most + 1}, “{name}”: "
            f"{text(weights[4, most])}. The row sums to 1.00."
        )
        now.get_by_label("its column").check()
        assert sentence_of(now).endswith(f"The column sums to {text(weights[:, 4].sum())}.")
        now.get_by_label("the word’s row").check()
    assert watched.problems == []
    tabs.close(watched)
