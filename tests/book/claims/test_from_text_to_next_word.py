"""What the page `from-text-to-next-word` says in figures is what attn_lib computes."""

import re

import numpy as np
import pytest

from attn_lib.course.effects import measured
from attn_lib.course.mistakes import catalogue
from attn_lib.model import (
    CHANCE,
    CONFIG,
    STEPS,
    accuracy,
    draw_sentences,
    encode,
    find_heads,
    forward,
    generate,
    is_held_out,
    multiplications,
    recall_sentence,
    replacement,
    trained_model,
    without_head,
)
from attn_lib.model.language import DRINKS, PLURAL_VERBS, Answer, Sentence
from attn_lib.model.training import WEIGHT_OF_OTHERS
from tests.book.claims.reading import options_of

PAGE = "from-text-to-next-word"
MODEL = trained_model()
#: Other sentences than those of the page.
OWN = draw_sentences(300, np.random.default_rng(77), held_out=True)


@pytest.fixture(scope="module")
def prose(root):
    return (root / "book" / f"{PAGE}.md").read_text(encoding="utf-8")


def test_every_number_shown_is_a_python_number(page):
    assert {type(value) for value in page["glued"].values()} <= {int, float}


def test_the_sizes(page, prose):
    glued = page["glued"]
    size = sum(array.size for array in MODEL.parameters.values())
    assert glued["n_numbers"] == pytest.approx(size / 1000)
    assert (glued["n_words"], glued["d_model"]) == (CONFIG.n_words, CONFIG.d_model)
    assert glued["n_drinks"] == len(DRINKS) == round(1 / CHANCE["recall"])
    assert CHANCE["agreement"] == 1 / 2
    assert glued["root_d_k"] ** 2 == CONFIG.d_k == 16
    assert (CONFIG.n_layers, CONFIG.n_heads, CONFIG.d_ff) == (2, 2, 0)
    assert WEIGHT_OF_OTHERS == 0.1
    assert "counted a tenth" in prose
    with pytest.raises(ValueError, match="at most 17 words"):
        forward(MODEL, np.full(glued["max_length"] + 1, 3))
    assert glued["max_length"] == 17
    assert glued["times_larger"] == pytest.approx(70e9 / MODEL.size / 1e6)


def test_all_answers_are_right_and_none_was_trained_on(page):
    assert all(is_held_out(sentence) for sentence in page["many"])
    assert len(page["many"]) == page["glued"]["n_many"]
    # The table rounds to whole percents: nothing is hidden by that.
    assert page["measured"] == {"recall": 1.0, "agreement": 1.0}
    answers = (Answer(5, 3), Answer(7, 1))
    followed = Sentence((*page["words"], "tea", "."), "recall", answers)
    assert is_held_out(followed)
    assert followed.words[5] == followed.words[3]


def test_the_model_in_ten_lines_is_the_library_s(page):
    np.testing.assert_allclose(page["logits"], page["trace"]["logits"], atol=1e-4)
    assert page["normed"].shape == (7, 32)
    assert page["logits"].shape == (7, 49)


def test_the_stream_is_a_sum(page):
    np.testing.assert_allclose(
        sum(page["steps"].values()), page["trace"]["final.stream"][-1], atol=1e-5
    )
    assert page["glued"]["normed"] == pytest.approx(2 / np.sqrt(8 / 3), abs=1e-5)


def test_words_meet_in_scores_and_weights_alone():
    traces = [
        forward(MODEL, encode(["ada", "tea", "bob", "juice", "bob", "juice", "ada"][:n]))
        for n in (6, 7)
    ]
    short, long = ({name: a.shape for name, a in trace.items()} for trace in traces)
    assert all(shape[-2] == 7 for shape in long.values())
    by_word = {name for name in long if short[name][-1] != long[name][-1]}
    assert by_word == {f"layer{i}.{name}" for i in (1, 2) for name in ("scores", "weights")}


def test_parts_of_the_stream_add_up_to_the_logits(page):
    last = page["trace"]["logits"][-1]
    np.testing.assert_allclose(page["total"], last - last.mean(), atol=1e-4)
    tea, juice = encode("tea juice")
    assert page["glued"]["tea_over_juice"] == pytest.approx(last[tea] - last[juice], abs=1e-4)
    assert page["largest"] == "layer 2, head 1"
    assert page["glued"]["by_induction"] > 0.8 * page["glued"]["tea_over_juice"]


def test_heads_are_where_the_page_says(page, prose):
    for sentences in (page["some"], OWN):
        found = find_heads(MODEL, sentences)
        places = {role: (head.layer, head.head) for role, head in found.items()}
        assert places == {"previous word": (1, 1), "induction": (2, 1), "subject": (1, 2)}
        for role, head in found.items():
            assert head.score == pytest.approx(page["glued"][role.replace(" ", "_")], abs=0.05)
    # Its second habit, and the fourth head, which has none.
    scores = page["scores"]
    assert scores["previous word"][1, 0] > 0.5
    assert max(of_role[1, 1] for of_role in scores.values()) < 0.1
    assert [of_role[0, 0] > 0.1 for of_role in page["alike"].values()] == [True] * 3


def test_the_heads_of_the_sentences_look_where_the_answer_says():
    def looks(layer, head, sentence):
        words = sentence.split()
        weights = forward(MODEL, encode(words))[f"layer{layer}.weights"][head - 1]
        return [
            (word, words[row.argmax()], row.max()) for word, row in zip(words, weights, strict=True)
        ]

    *_, last = looks(2, 1, "ada tea bob juice bob juice ada")
    assert last[:2] == ("ada", "tea")
    assert last[2] > 0.9
    seen = looks(1, 2, "the cats near the dog behind the fox")
    assert [seen[i][:2] for i in (4, 7)] == [("dog", "cats"), ("fox", "cats")]


def test_one_head_says_a_drink_and_the_other_says_which(page):
    means = {
        head: [added[page[kind]].mean() for kind in ("is_answer", "is_other_drink", "is_no_drink")]
        for head, added in page["written"].items()
    }
    right, others, rest = means[2]
    assert right == pytest.approx(others, abs=0.5)
    assert others - rest > 5
    right, others, rest = means[1]
    assert others < -5 < 0 < rest < right
    for head in (1, 2):
        assert page["written"][head].mean(axis=-1) == pytest.approx(0, abs=1e-4)


def test_the_row_by_hand(page):
    np.testing.assert_allclose(
        page["softmax"](page["raw"] / 4), page["trace"]["layer2.weights"][0, -1], atol=1e-5
    )


def test_each_name_finds_the_drinks_behind_itself(page):
    matches = page["matches"]
    assert page["counts"].min() > 20
    assert (matches.argmax(axis=1) == np.arange(8)).all()
    assert (matches.argmax(axis=0) == np.arange(8)).all()


def test_the_induction_head_needs_the_previous_word_head_alone(page):
    everything, no_previous, no_subject = page["induction"].values()
    assert no_previous < 0.25 < 0.9 < no_subject
    assert everything == pytest.approx(no_subject, abs=0.02)


def test_what_breaks_without_a_head(page):
    glued = page["glued"]
    left_out = page["left_out"]
    for sentences in (page["some"], OWN):
        for key in page["HEADS"]:
            own = accuracy(without_head(MODEL, *key), sentences)
            assert own == pytest.approx(left_out[key], abs=0.12)
    assert {left_out[key]["agreement"] for key in ((1, 1), (2, 1), (2, 2))} == {1.0}
    assert glued["without_induction"] == pytest.approx(100 * left_out[2, 1]["recall"])
    assert glued["without_induction"] < glued["chance"] + 8
    assert glued["without_previous"] == pytest.approx(100 * left_out[1, 1]["recall"])
    assert glued["chance"] < glued["without_previous"] < glued["any_drink_named"]
    assert glued["without_subject"] == pytest.approx(100 * left_out[1, 2]["agreement"])
    assert abs(glued["without_subject"] - 50) < 12
    assert left_out[1, 2]["recall"] > 0.9
    # Two draws of a drink for 2, 3 or 4 names, of 6 each: how many different ones.
    rng = np.random.default_rng(8)
    drawn = [recall_sentence(rng) for _ in range(4000)]
    expected = [1 / len(set(s.words) & set(DRINKS)) for s in drawn for _ in s.answers]
    assert glued["any_drink_named"] == pytest.approx(100 * np.mean(expected), abs=3)


def test_without_the_subject_head_ada_still_has_tea():
    model = without_head(MODEL, 1, 2)
    assert generate(model, "ada tea bob juice bob juice ada", 1).text.endswith("ada tea")


def test_the_cache_is_counted(page):
    glued, prompt = page["glued"], page["prompt"].split()
    cached, again = page["cached"], page["again"]
    assert cached.text == again.text == "cleo juice dan tea eve milk eve milk dan tea cleo juice ."
    lengths = range(len(prompt), len(prompt) + 6)
    assert again.multiplications == tuple(multiplications(CONFIG, n) for n in lengths)
    with_cache = [multiplications(CONFIG, 1, n - 1) for n in lengths[1:]]
    assert cached.multiplications == (again.multiplications[0], *with_cache)
    # A key and a value of 32 numbers in each of 2 layers.
    assert set(np.diff(with_cache)) == {glued["per_word"]} == {2 * 2 * 32}
    assert glued["saved"] == pytest.approx(sum(again.multiplications) / sum(cached.multiplications))
    assert glued["cached_total"] < glued["again_total"]


def test_the_verb_changes_and_its_number_does_not():
    verbs = {
        generate(
            MODEL, "the cats near the dog behind the fox", 2, temperature=1, seed=seed
        ).text.split()[-2]
        for seed in range(4)
    }
    assert len(verbs) > 1
    assert verbs <= set(PLURAL_VERBS)


def test_rearranged_words_give_rearranged_outputs(page):
    tokens, order, attend = page["tokens"], page["order"], page["attend"]
    assert list(order) != sorted(order)
    np.testing.assert_allclose(attend(tokens[order]), attend(tokens)[order], atol=1e-5)
    placed = page["trace"]["layer1.stream"]
    places = page["trace"]["places"]
    assert not np.allclose(attend(tokens[order] + places), attend(placed)[order], atol=1e-2)


def test_rotary_scores_and_sinusoidal_rows_depend_on_the_difference(page):
    for kind in ("rotary", "of_places"):
        assert page[kind](5, 2) == pytest.approx(page[kind](105, 102))
        assert page[kind](5, 2) != pytest.approx(page[kind](5, 4), abs=0.1)


# What the page says of the mistakes under each of its headings.
NOTHING_MOVES = [
    *("softmax-that-overflows", "renormalised-after-the-mask", "padding-mask-of-the-longest"),
]
HALF_BROKEN = ["no-scale", "divide-by-d_k", "hard-attention", "softmax-over-queries"]
LEAKING = ["zero-for-minus-infinity", "mask-not-used", "causal-mask-one-too-far"]


def test_what_mistakes_do_to_the_model(page):
    targets = {mistake.id: mistake.target for mistake in catalogue()}
    effects = page["effects"]
    assert all(targets[chosen] in STEPS for chosen in effects)
    right = measured().right.reading
    assert page["measured"] == right == {"recall": 1.0, "agreement": 1.0}
    for chosen in (*NOTHING_MOVES, "scale-by-number-of-keys"):
        assert effects[chosen].accuracy == right
    for chosen in NOTHING_MOVES:
        assert effects[chosen].moved < 1e-4
    assert effects["scale-by-number-of-keys"].moved > 1
    for chosen in HALF_BROKEN:
        shares = effects[chosen].accuracy
        assert 0.6 < shares["recall"] < shares["agreement"]
        assert shares["recall"] < 0.98
    for chosen in (*LEAKING, "mask-after-softmax"):
        assert effects[chosen].accuracy["recall"] < 0.75
    equal = effects["equal-weights"].accuracy
    assert equal["recall"] == pytest.approx(page["glued"]["any_drink_named"] / 100, abs=0.1)
    assert effects["no-softmax"].accuracy["recall"] < 1 / 6
    cached = effects["cache-mask-aligned-at-the-start"].accuracy
    assert cached["recall"] < 0.3
    assert cached["agreement"] < 0.6
    shares, moved = effects["minus-infinity-times-zero"]
    assert shares == {"recall": 0.0, "agreement": 0.0}
    assert np.isnan(moved)


def test_a_cached_mask_is_not_used_where_a_text_is_read_whole(page):
    mistake = page["by_id"]["cache-mask-aligned-at-the-start"]
    parts = replacement(mistake.target, mistake.wrong)
    assert accuracy(MODEL, OWN[:50], parts=parts) == {"recall": 1.0, "agreement": 1.0}


def test_the_page_refers_to_every_chosen_mistake_and_no_head_by_number(page, prose):
    assert len(page["CHOSEN"]) == len(set(page["CHOSEN"])) == 16
    assert set(NOTHING_MOVES + HALF_BROKEN + LEAKING) < set(page["CHOSEN"])
    assert re.search(r"head \d\.\d", prose) is None


def test_the_right_options_of_the_quizzes(root, page):
    trace = page["trace"]
    for quiz, answer in {
        "merged-width-again": f"{trace['layer1.merged'].shape}",
        "cached-shape-again": "(1, 13)",
        "what-is-added": "It adds it to the stream",
        "who-writes-what": 'Into that of "tea"',
        "one-layer-only": "The key of a drink cannot say whose drink it is",
        "leave-out-subject": 'Still with "tea"',
        "shuffled-words": "They are rearranged in the same way",
        "invisible-mistake": "Accuracy is too blunt a test for it",
    }.items():
        assert options_of(root, PAGE, quiz)[1] == answer
    past = forward(MODEL, np.full(12, 3))
    step = forward(MODEL, [4], past=past)
    assert step["layer1.weights"][0].shape == (1, 13)
