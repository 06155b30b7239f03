"""A class list is read as people write it; what is wrong with a line is a sentence."""

from __future__ import annotations

import codecs

import pytest

from grader.command_line import commands
from grader.gradebook import reading
from grader.gradebook.roster import BadRoster, enter_roster, read_roster

GUIDE = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@example.org,101
soren,Søren,Ødegård,soren@example.org,102
ruth,"Ruth, Jr.",van 't Hoff,ruth@example.org,103
"""


def found(text: str | bytes) -> tuple[dict[str, dict[str, str]], list[str]]:
    roster = read_roster(text if isinstance(text, bytes) else text.encode())
    learners = {learner.id: dict(learner.facts) for learner in roster.learners}
    return learners, [*roster.repairs, *roster.left_out]


def test_the_list_of_the_guide_is_read_without_a_word():
    learners, told = found(GUIDE)
    assert told == []
    assert list(learners) == ["ada", "soren", "ruth"]
    assert learners["ruth"] == {
        "first_name": "Ruth, Jr.",
        "last_name": "van 't Hoff",
        "email": "ruth@example.org",
        "lms_user_id": "103",
    }


SLIPS = {
    "a mark": (
        codecs.BOM_UTF8 + b"id\nada\n",
        ["ada"],
        "The byte-order mark at the start of the file was left out.",
    ),
    "spaces": (
        b" ID , Last_Name\nada,x\n bo , y\n",
        ["ada", "bo"],
        "Spaces around values were left out, first in line 3.",
    ),
    "no id": (b"id,email\nada,a\n,b\n", ["ada"], "Line 3 was left out: it has no id."),
    "semicolons": (
        "id;last_name\nada;Løve\n".encode(),
        ["ada"],
        "The values are separated by ';', not by commas.",
    ),
    "a comma too many": (
        b"id,last_name\nada,Love,lace\nbo,x\n",
        ["bo"],
        "Line 2 was left out: it has 3 values for 2 columns. Put a name with a comma in double q",
    ),
    "the same twice": (
        b"id,email\nada,a\nbo,b\nada,a\n",
        ["ada", "bo"],
        "Lines 2, 4 are the same; ada was taken once.",
    ),
    "two that differ": (
        b"id,email\nada,a\nbo,b\nada,c\n",
        ["bo"],
        "Lines 2, 4 were left out: they say different things of ada.",
    ),
    "capitals": (
        b"id\ns17\nS17\n",
        ["s17", "S17"],
        "Is it the same person? s17 and S17 look alike; all were taken.",
    ),
    "a path": (b"id\n../x\nada\n", ["ada"], "Line 2 was left out: '../x' cannot be the name of a"),
    "too long": (
        b"id\n" + b"x" * 129 + b"\nada\n",
        ["ada"],
        "Line 2 was left out: its id has 129 characters; the gradebook takes at most 128.",
    ),
    "other columns": (
        b"id,section\nada,3\n",
        ["ada"],
        "Columns that the gradebook does not have were left out: section.",
    ),
    "a name over two lines": (
        'id,first_name\r\nada,"Ada\n\u2028A."\r\n'.encode(),
        ["ada"],
        "Line breaks in values became spaces, first in line 2.",
    ),
    "a line after an empty one": (b"id,email\n\nada,a\n,x\n", ["ada"], "Line 4 was left out: it"),
    "a quote that is not closed": (
        b'id,email\nada,"a\nbo,b\n',
        [],
        "Lines 2 to 3 were left out: a value goes on in the next line, as after a double quote",
    ),
    "a zero": (b"id,email\nada,a\0\nbo,b\n", ["bo"], "Line 2 was left out: 'a\\x00' has a char"),
    "two forms of a letter": (
        "id\nü\nu\u0308\n".encode(),
        ["ü", "u\u0308"],
        "Is it the same person? ü and u\u0308 look alike; all were taken.",
    ),
    "what cannot be seen": (
        "id\nada\nada\u200b\n".encode(),
        ["ada", "ada\u200b"],
        "Is it the same person? ada and ada",
    ),
    "a number of two": (
        b"id,lms_user_id\nada,7\nbo,7\nzoe,\nruth,\n",
        ["ada", "bo", "zoe", "ruth"],
        "Look at lms_user_id: 7 is that of ada and bo.",
    ),
    "an address of two": (
        b"id,Email\nada,a@x\nbo,a@x\n",
        ["ada", "bo"],
        "Look at email: a@x is that of ada and bo.",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_sentence_and_keeps_the_others(slip):
    content, students, sentence = SLIPS[slip]
    learners, (told,) = found(content)
    assert list(learners) == students
    assert told.startswith(sentence)


def test_a_heading_may_have_spaces_and_capitals():
    learners, told = found("ID,First name,LAST NAME\nada,Ada,Lovelace\n")
    assert learners == {"ada": {"first_name": "Ada", "last_name": "Lovelace"}}
    assert told == []


def test_empty_lines_and_short_ones_are_no_slips():
    assert found("id,first_name,email\n\nada,Ada\n,,\n") == ({"ada": {"first_name": "Ada"}}, [])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (GUIDE.encode("latin-1"), "in line 3. If that line is 'soren,Søren,Ødegård,soren@"),
        (GUIDE.encode("utf-16"), "expected UTF-8, found UTF-16."),
        (GUIDE.encode("utf-16-le"), "expected UTF-8, found UTF-16."),
        (b"PK\3\4xl/workbook.xml", "expected a CSV file, found a workbook."),
        (b"id\n" + b"x" * 200_000, "line 2 cannot be read as CSV: field larger than field limit"),
        (b"id,email\n\n", "expected a line for each learner below the first line, found none."),
        (b"", "expected one column id in the first line, found nothing."),
        (b"name,email\nada,x\n", "expected one column id in the first line, found name, email."),
        (b"id,email,email\nada,x,y\n", "expected each column once, found email more than once."),
    ],
    ids=lambda part: repr(part[:40]),
)
def test_a_file_that_is_no_class_list_is_refused(content, told):
    with pytest.raises(BadRoster) as refused:
        read_roster(content)
    assert told in str(refused.value)


def test_the_gradebook_is_brought_up_to_date(tmp_path):
    url = reading.sqlite_url(tmp_path)
    first = enter_roster(url, read_roster(GUIDE.encode()))
    assert (first.new, first.changed, first.others) == (["ada", "soren", "ruth"], [], [])
    assert reading.learners(url)["soren"] == (
        *("Søren", "Ødegård", "102"),
        "soren@example.org",
    )
    later = read_roster(b"id,last_name\nada,Byron\nsoren,\xc3\x98deg\xc3\xa5rd\nzoe,\n")
    for dry in (True, False):
        second = enter_roster(url, later, dry=dry)
        assert (second.new, second.changed, second.others) == (["zoe"], ["ada"], ["ruth"])
    assert reading.learners(url)["ada"].last_name == "Byron"
    assert reading.learners(url)["ada"].lms_user_id == "101"
    assert sorted(reading.learners(url)) == ["ada", "ruth", "soren", "zoe"]
    same = enter_roster(url, later)
    assert (same.new, same.changed) == ([], [])


def test_the_command_says_what_it_did(tmp_path, capsys):
    path = tmp_path / "roster.csv"
    path.write_text("id,email\nada,a\n,b\n", encoding="utf-8")
    arguments = ["roster", str(path), "--into", str(tmp_path)]
    assert commands.main([*arguments, "--check"]) == 1
    assert capsys.readouterr().out == (
        "Line 3 was left out: it has no id.\n1 learner in roster.csv: 1 would be new, 0 changed.\n"
    )
    assert reading.learners(reading.sqlite_url(tmp_path)) == {}
    path.write_text("id,email\nada,a\n", encoding="utf-8")
    assert commands.main(arguments) == 0
    assert capsys.readouterr().out == "1 learner in roster.csv: 1 is new, 0 changed.\n"
    path.write_text("id\nbo\n", encoding="utf-8")
    assert commands.main(arguments) == 0
    said = capsys.readouterr().out
    assert "1 learner in roster.csv: 1 is new, 0 changed.\n" in said
    assert "In the gradebook, but not in the file: ada. `nbgrader db student remove" in said
    assert commands.main(["roster", str(tmp_path / "none.csv"), "--into", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"expected a class list, found no {tmp_path}/none.csv.\n"
