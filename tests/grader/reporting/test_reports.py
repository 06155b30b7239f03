"""The CSV file, the table and the summary of figures for results of every kind."""

from __future__ import annotations

import codecs
import csv
import re

import pytest

from grader import __main__ as commands
from grader.gradebook.reading import Entry, Learner
from grader.judging.findings import JudgedFinding, JudgedPart
from grader.reporting.export import neutral, write_csv
from grader.reporting.results import Result
from grader.reporting.summary import exported, figures, remarks, sentence, table

POINTS = {"a-tests": 2.0, "b-tests": 3.0, "words": 1.0}


def entry(student: str, scores: dict[str, float]) -> Entry:
    waiting = [cell for cell in POINTS if cell not in scores]
    return Entry(student, scores, dict(POINTS), waiting)


RESULTS = [
    Result(
        "ada",
        entry("ada", {"a-tests": 2.0, "b-tests": 3.0}),
        learner=Learner("Ada", "Lovelace", "101"),
    ),
    Result(
        "bo",
        entry("bo", {"a-tests": 0.5, "b-tests": 0.0, "words": 1.0}),
        {"a-tests": (JudgedPart("rows", 2.0, False, (JudgedFinding("f", "off.", "no-scale"),)),)},
        remarks=("Two cells were the same.", "=1+1"),
    ),
    Result("cy", None, reason="nothing submitted", learner=Learner("Cy", "Young", "103")),
    Result(
        "=di",
        entry("=di", {"a-tests": 2.0, "b-tests": 3.0, "words": 1.0}),
        learner=Learner("@Di", 'D "x", y'),
    ),
]


def test_figures():
    assert figures(RESULTS) == {
        "graded": 3,
        "failed": 1,
        "full_marks": 2,
        "to_read": 1,
        "points": 6.0,
        "mean": 4.17,
    }
    assert sentence(figures(RESULTS)) == (
        "3 submissions graded, 2 lost no point, mean 4.17 of 6 points. "
        "1 has a written answer that waits to be read. 1 could not be graded."
    )


def test_figures_of_an_empty_class():
    assert figures([])["graded"] == 0
    assert figures(RESULTS[2:3])["mean"] == 0


def test_table():
    assert table(RESULTS).splitlines() == [
        "student  points    status                     mistakes named",
        "ada      5 of 6    to read",
        "bo       1.5 of 6  graded                     no-scale",
        "cy                 failed: nothing submitted",
        "=di      6 of 6    graded",
    ]


def test_remarks():
    assert remarks(RESULTS) == "bo: Two cells were the same.\nbo: =1+1"


def test_a_long_reason_is_printed_below_the_table():
    long = Result("ed", None, reason="the file is no notebook: " + "reason " * 20)
    *_, line = table([*RESULTS, long]).splitlines()
    assert line == "ed                 failed: the file is no notebook: reason reason reason …"
    assert remarks([long]) == f"ed: {long.status}"


def test_a_late_penalty_is_subtracted():
    late = entry("ada", {"a-tests": 2.0, "b-tests": 3.0})
    assert Result("ada", late).lost == 0
    late.late_penalty = 1.5
    assert Result("ada", late).score == 3.5
    assert Result("ada", late).lost == 1.5
    late.late_penalty = 9.0
    assert Result("ada", late).score == 0


def lines(tmp_path, form: str) -> list[str]:
    path = tmp_path / "grades.csv"
    number = write_csv(RESULTS, list(POINTS), path, column="=masking", file_format=form)
    # Canvas cannot read a mark before a quotation mark; Excel takes UTF-8 for another encoding
    # without one.
    assert path.read_bytes().startswith(codecs.BOM_UTF8) == (form == "csv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert len({len(row) for row in rows}) == 1
    assert number == len(rows) - (2 if form == "canvas" else 1)
    return path.read_text(encoding="utf-8-sig").splitlines()


def test_csv(tmp_path):
    assert lines(tmp_path, "csv") == [
        (
            '"student","last_name","first_name","score","points","late_penalty","status",'
            '"mistakes","remarks","a-tests","b-tests","words"'
        ),
        '"ada","Lovelace","Ada",5.0,6.0,0.0,"to read","","",2.0,3.0,""',
        '"bo","","",1.5,6.0,0.0,"graded","no-scale","Two cells were the same. =1+1",0.5,0.0,1.0',
        '"cy","Young","Cy","","","","failed: nothing submitted","","","","",""',
        '"=di","D ""x"", y","\'@Di",6.0,6.0,0.0,"graded","","",2.0,3.0,1.0',
    ]


def test_csv_for_canvas(tmp_path):
    """Canvas has fixed first columns, points in the second row, and students by login."""
    assert lines(tmp_path, "canvas") == [
        '"Student","ID","SIS User ID","SIS Login ID","Section","=masking"',
        '"    Points Possible","","","","",6.0',
        '"Lovelace, Ada","101","","ada","",5.0',
        '"bo","","","bo","",1.5',
        '"Young, Cy","103","","cy","",""',
        '"D ""x"", y, @Di","","","=di","",6.0',
    ]


def test_csv_for_moodle(tmp_path):
    """Students are listed by username; one without a grade is omitted."""
    assert lines(tmp_path, "moodle") == [
        '"username","lastname","firstname","=masking","=masking feedback"',
        '"ada","Lovelace","Ada",5.0,""',
        '"bo","","",1.5,"Two cells were the same. =1+1"',
        '"=di","D ""x"", y","\'@Di",6.0,""',
    ]


def test_csv_for_blackboard(tmp_path):
    assert lines(tmp_path, "blackboard") == [
        '"Last Name","First Name","Username","=masking"',
        '"Lovelace","Ada","ada",5.0',
        '"","","bo",1.5',
        '"D ""x"", y","\'@Di","=di",6.0',
    ]


def test_csv_for_brightspace(tmp_path):
    """The heading ends with words that Brightspace expects, and each line with a sign."""
    assert lines(tmp_path, "brightspace") == [
        '"Username","=masking Points Grade","End-of-Line Indicator"',
        '"ada",5.0,"#"',
        '"bo",1.5,"#"',
        '"=di",6.0,"#"',
    ]


UNREAD = (
    "1 has an answer that waits to be read, so the points are not final. Read the answers in "
    "formgrader, give the command grade once more, then export again."
)


@pytest.mark.parametrize(
    ("of", "number", "told"),
    [
        (
            RESULTS,
            4,
            "4 students in a.csv.\nListed without points, because the work has no grade: 1 (cy).\n"
            + UNREAD,
        ),
        (
            RESULTS,
            3,
            "3 students in a.csv.\nLeft out, because the work has no grade: 1 (cy).\n" + UNREAD,
        ),
        (RESULTS[:1], 1, "1 student in a.csv.\n" + UNREAD),
        (RESULTS[1:2], 1, "1 student in a.csv."),
        (
            RESULTS[:1] * 45,
            45,
            f"45 students in a.csv.\n{UNREAD.replace('1 has', '45 have')}",
        ),
    ],
)
def test_missing_data_of_an_export_is_reported(of, number, told):
    assert exported(of, number, "a.csv") == told


@pytest.mark.parametrize(
    ("missing", "waiting", "status"),
    [
        ([], ["words"], "to read"),
        (["b-tests"], ["words"], "to read, without b-tests"),
        (["a-tests", "b-tests"], [], "graded, without a-tests and b-tests"),
        (["b-tests"], [], "graded, without b-tests"),
    ],
)
def test_the_status_names_missing_answers(missing, waiting, status):
    scores = dict.fromkeys(missing, 0.0)
    entry = Entry("ada", scores, dict(POINTS), waiting)
    result = Result("ada", entry, missing=tuple(missing))
    assert result.status == status
    assert result.lost == sum(POINTS[cell] for cell in missing)
    assert figures([result])["full_marks"] == int(not missing)


def test_help_names_every_command_in_plain_text(capsys):
    with pytest.raises(SystemExit) as stop:
        commands.main(["--help"])
    assert stop.value.code == 0
    described, listed = capsys.readouterr().out.split("positional arguments:")
    assert "`" not in described + listed
    assert "release the learners' notebooks, grade submissions" in " ".join(described.split())
    named = {line.split()[0] for line in listed.splitlines() if re.match(r" {4}\S", line)}
    expected = "release grade autograde feedback export report sample-class doctor"
    assert set(expected.split()) <= named


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_neutralised(text):
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Ada", "a=1", "O'Brien", "1-2", "Ödegård"])
def test_other_texts_stay_the_same(text):
    assert neutral(text) == text
