"""What is said about an id that is typed as no text in quotes."""

from __future__ import annotations

import pytest

from attn_lib.course.jupyter.words import about_id


def raised_by(source: str) -> BaseException:
    with pytest.raises((NameError, SyntaxError)) as caught:
        exec(compile(source, "<cell>", "exec"), {})
    return caught.value


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("ada", 'Put your id in quotes: learner_id = "ada"'),
        ("ada-lovelace", 'Put your id in quotes: learner_id = "ada-lovelace"'),
        ("ada lovelace  # me", 'Put your id in quotes: learner_id = "ada lovelace"'),
        ("ada@uni.edu", 'Put your id in quotes: learner_id = "ada@uni.edu"'),
        ("007", 'Put your id in quotes: learner_id = "007"'),
        ("12a", 'Put your id in quotes: learner_id = "12a"'),
        ('"ada', 'Put your id in quotes: learner_id = "ada"'),
        ('ada"lovelace', 'Put your id in quotes, as here: learner_id = "ada"'),
        ("“ada”", 'Type straight quotes around your id: learner_id = "ada"'),
        ("‘ada’", 'Type straight quotes around your id: learner_id = "ada"'),
        ("", 'Put your id after the equals sign, in quotes: learner_id = "ada"'),
    ],
)
def test_it_says_what_to_type(written, told):
    source = f'# learner_id = "..."\nlearner_id = {written}\n'
    assert about_id(raised_by(source), source) == told


@pytest.mark.parametrize(
    "source",
    [
        "learner_id = 'ada'\nprint(ada)",
        "learner_id = 'ada'\nx = 1 2",
        "print(learner_id == ada)",
        "x = ada",
        "learner_id == ada",
    ],
)
def test_other_errors_are_none_of_its_business(source):
    assert about_id(raised_by(source), source) == ""
