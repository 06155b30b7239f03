"""The quiz directive: its errors, its output, and its use by mouse and keyboard."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from tests.book.claims.reading import options_of

QUIZ = "#quiz-which-shape"
EXPLANATIONS = {
    "A": "That is the shape of",
    "B": "So it has",
    "C": "No axis belongs to queries twice.",
}
#: Options whose longest has no more characters are numbers, and their lengths say nothing.
NUMBER_LENGTH = 6


@pytest.fixture(scope="module")
def bad_build(build_tiny_book):
    return build_tiny_book("bad-quizzes")


@pytest.fixture(scope="module")
def quiz_address(build_tiny_book):
    build = build_tiny_book("good-quiz")
    assert build.status == 0, build.tail()
    return (build.html / "book" / "index.html").as_uri()


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("no-option", "expected a list of options ('- [ ] …') at the end, got no option"),
        ("no-question", "expected a question, a paragraph, above the options, got none"),
        ("one-option", "expected at least two options, got 1"),
        ("none-right", "expected exactly one right option, marked '[x]', got 0"),
        ("two-right", "expected exactly one right option, marked '[x]', got 2"),
        ("no-explanation", "expected an explanation below option B, got none"),
        ("no-mark", "at the start of option B, got 'that'"),
        ("Not An Id", "expected an id of lower-case words joined by hyphens"),
        (
            "twice",
            "expected an id that no other quiz has, got one that is already on page book/index",
        ),
    ],
)
def test_a_mistake_in_a_quiz_is_explained(bad_build, identifier, message):
    reports = re.findall(
        rf"index\.md:\d+: WARNING: quiz {identifier}: (.*)$", bad_build.output, re.MULTILINE
    )
    assert len(reports) == 1
    assert message in reports[0]


def test_a_mistake_in_a_quiz_fails_the_build(bad_build):
    assert bad_build.status == 1


def test_other_builders_write_paragraphs(build_tiny_book):
    build = build_tiny_book("good-quiz", "--builder", "custom", "--custom-builder", "text")
    assert build.status == 0, build.tail()
    text = (build.html.parent / "text" / "book" / "index.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line]
    start = lines.index('What is the shape of "scores", when n_q \\ne n_k?')
    assert lines[start + 1] == "Each query is compared with each key."
    assert lines[start + 2] == 'A. "(n_k, n_q)"'
    assert lines[start + 3] == "B. (n_q, n_k), a *row* for each query"
    assert "A: Not quite." in lines
    assert lines[lines.index("B: Right.") + 1] == "Row i compares query i with every key."


def test_options_about_the_others_come_last(built_book):
    page = (built_book / "book" / "softmax-saturation.html").read_text(encoding="utf-8")
    _, _, shown = page.partition('id="quiz-which-loss-is-silenced"')
    shown, _, _ = shown.partition("</fieldset>")
    texts = re.findall(r'class="quiz-text">(\w+)', shown)
    assert len(texts) == 4
    assert set(texts[2:]) == {"Both", "Neither"}


def test_the_place_of_the_right_option_says_nothing(built_book):
    places = Counter()
    for page in (built_book / "book").glob("*.html"):
        html = page.read_text(encoding="utf-8")
        places.update(re.findall(r'data-option="([A-Z])" data-right', html))
    assert places.total() > 50
    shares = np.array([places[letter] for letter in "ABCD"]) / places.total()
    assert shares.min() > 0.15
    assert shares.max() < 0.35


def shown(source: str) -> str:
    """Return about what a reader sees of an option, one character for each command of a formula."""
    text = re.sub(r"\{[a-z:]+\}`[^`]*`", "12.3", source)
    text = re.sub(r"\$[^$]*\$", lambda formula: re.sub(r"\\[a-zA-Z]+", "x", formula[0]), text)
    return re.sub(r"[$`*{}^_\\]|\]\(.*?\)", "", text)


def test_the_right_option_is_the_longest_as_often_as_by_chance(root):
    longest, chances = 0, []
    for page in (root / "book").glob("*.md"):
        source = page.read_text(encoding="utf-8")
        for quiz in re.findall(r"^:::\{quiz\} (\S+)$", source, re.MULTILINE):
            options, right = options_of(root, page.stem, quiz)
            lengths = [len(shown(option)) for option in options]
            if max(lengths) > NUMBER_LENGTH:
                rivals = [len(shown(option)) for option in options if option != right]
                longest += len(shown(right)) > max(rivals)
                chances.append(1 / len(options))
    shares = np.array(chances)
    assert len(shares) > 40
    spread = np.sqrt((shares * (1 - shares)).sum())
    assert abs(longest - shares.sum()) <= 1.5 * spread


def test_the_group_and_its_buttons_have_accessible_names(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    group = watched.page.get_by_role("group", name="What is the shape of scores")
    buttons = group.get_by_role("radio")
    assert buttons.count() == 3
    assert group.get_by_role("radio", name="A (n_k, n_q)").count() == 1
    assert {buttons.nth(i).get_attribute("name") for i in range(3)} == {"quiz-which-shape"}


def choose(page, letter: str) -> None:
    page.locator(f"{QUIZ} input[value={letter}]").check()
    page.locator(f"{QUIZ} button").click()


def explained(place) -> set[str]:
    """Return the options whose explanations a reader sees in a place."""
    text = place.inner_text() if place.is_visible() else ""
    return {option for option, words in EXPLANATIONS.items() if words in text}


def test_an_answer_by_keyboard_shows_its_explanation_once(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    page = watched.page
    status = page.locator(f"{QUIZ} [role=status]")
    answers = page.locator(f"{QUIZ} details")
    assert status.inner_text() == ""
    assert not answers.is_visible()

    page.locator(f"{QUIZ} input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check answer"
    page.keyboard.press("Enter")
    assert status.inner_text().startswith("Right.")
    assert explained(status) == {"B"}

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "The other explanations"
    page.keyboard.press("Enter")
    assert explained(answers) == {"A", "C"}
    assert watched.problems == []


def test_the_right_option_stays_unsaid_until_two_others_are_tried(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    page = watched.page
    status, answers = page.locator(f"{QUIZ} [role=status]"), page.locator(f"{QUIZ} details")
    for _ in range(2):  # The same option twice is one try.
        choose(page, "C")
        assert status.inner_text().startswith("Not quite. Try again.")
        assert explained(status) == {"C"}
        assert not answers.is_visible()
    choose(page, "A")
    assert status.inner_text().splitlines()[0] == "Not quite."
    answers.locator("summary").click()
    assert explained(status) == {"A"}
    assert explained(answers) == {"B", "C"}


def test_answers_are_remembered_in_the_browser(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    page = watched.page
    status, chosen = page.locator(f"{QUIZ} [role=status]"), page.locator(f"{QUIZ} input:checked")
    choose(page, "C")
    watched.open_until(
        quiz_address, lambda page: page.evaluate("memory.quiz('quiz-which-shape').wrong").count("C")
    )
    assert status.inner_text() == ""
    assert chosen.count() == 0
    choose(page, "A")  # the second wrong option, since the first is remembered
    assert page.locator(f"{QUIZ} details").is_visible()
    choose(page, "B")
    watched.open_until(quiz_address, lambda _: chosen.count() == 1)
    assert page.locator(f"{QUIZ} input[value=B]").is_checked()
    assert status.inner_text().startswith("Right.")
    page.evaluate("memory.forget()")
    watched.open_until(quiz_address, lambda _: chosen.count() == 0)
    assert chosen.count() == 0
    assert watched.problems == []


#: What an earlier or later version of the pages may have left in the browser.
STORED = [
    "not JSON",
    "7",
    "[]",
    '{"quizzes": "none", "place": {"page": 3}}',
    '{"quizzes": {"quiz-which-shape": {"right": 1, "wrong": "AC"}}, "done": ["a"]}',
]


def test_what_another_version_stored_breaks_nothing(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    for stored in STORED:
        watched.page.evaluate(
            "stored => localStorage.setItem('scaled-dot-product-attention', stored)", stored
        )
        watched.page.reload()
        assert not watched.page.locator(f"{QUIZ} details").is_visible()
        choose(watched.page, "B")
        assert watched.page.evaluate("memory.quiz('quiz-which-shape').right") is True
    assert watched.problems == []


def test_a_quiz_works_where_the_browser_stores_nothing(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    watched.page.evaluate("""() => {
        const refuse = () => { throw new DOMException("refused", "SecurityError"); };
        Object.assign(Storage.prototype, { getItem: refuse, setItem: refuse, removeItem: refuse });
    }""")
    assert watched.page.evaluate("memory.isUsable()") is False
    choose(watched.page, "B")
    assert explained(watched.page.locator(f"{QUIZ} [role=status]")) == {"B"}
    watched.page.evaluate("memory.forget()")
    assert watched.problems == []


def test_enter_on_an_option_checks_it(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    watched.page.locator(f"{QUIZ} input").nth(1).focus()
    watched.page.keyboard.press("Space")
    watched.page.keyboard.press("Enter")
    assert watched.page.locator(f"{QUIZ} [role=status]").inner_text().startswith("Right.")


def test_a_check_without_an_answer_asks_for_one(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    watched.page.locator(f"{QUIZ} button").click()
    assert watched.page.locator(f"{QUIZ} [role=status]").inner_text() == "Choose an answer first."
    assert not watched.page.locator(f"{QUIZ} details").is_visible()


def test_another_choice_removes_the_verdict(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    options = watched.page.locator(f"{QUIZ} input")
    options.nth(1).check()
    watched.page.locator(f"{QUIZ} button").click()
    options.nth(2).check()
    assert watched.page.locator(f"{QUIZ} [role=status]").inner_text() == ""


def test_without_javascript_a_collapsible_block_has_the_answers(watch, quiz_address):
    page = watch(java_script_enabled=False).page
    page.goto(quiz_address)
    assert not page.locator(f"{QUIZ} button").is_visible()
    answers = page.locator(f"{QUIZ} details")
    explanation = answers.get_by_text(EXPLANATIONS["C"])
    assert not explanation.is_visible()
    answers.locator("summary").click()
    assert explanation.is_visible()
    verdicts = answers.locator(".quiz-verdict").all_inner_texts()
    assert verdicts == ["A: Not quite.", "B: Right.", "C: Not quite."]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_an_answered_quiz_is_accessible_and_fits(watch, quiz_address, theme, width):
    watched = watch(theme, width)
    watched.open(quiz_address)
    for letter in "AB":
        watched.page.locator(f"{QUIZ} input[value={letter}]").check()
        watched.page.locator(f"{QUIZ} button").click()
        watched.page.locator(f"{QUIZ} details").evaluate("fold => { fold.open = true }")
        assert watched.axe() == []
        assert watched.overflow() <= 0


def test_the_keyboard_scrolls_a_wide_formula(watch, quiz_address):
    watched = watch(width=375)
    watched.open(quiz_address)
    formula = watched.page.get_by_role("group", name="Formula, scrolls sideways")
    formula.focus()
    watched.page.keyboard.press("ArrowRight")
    watched.page.wait_for_function(
        "formula => formula.scrollLeft > 0", arg=formula.element_handle()
    )


def test_a_formula_that_fits_is_not_focusable(watch, quiz_address):
    watched = watch(width=2400)
    watched.open(quiz_address)
    formula = watched.page.locator(".katex-display")
    assert formula.count() == 1
    assert formula.get_attribute("tabindex") is None


def test_screen_readers_get_each_formula_as_mathml_and_nothing_else(watch, quiz_address):
    watched = watch()
    watched.open(quiz_address)
    formulas = watched.page.locator(".math").count()
    assert formulas == watched.page.locator(".katex-mathml > math").count() > 0
    assert formulas == watched.page.locator(".katex-html[aria-hidden=true]").count()
