"""What the CSV file, the table and the figures say of results of every kind."""

from __future__ import annotations

import csv

import pytest

from grader import __main__ as commands
from grader.classroom import Result, _reason
from grader.export import neutral, write_csv
from grader.gradebook import Entry
from grader.summary import figures, sentence, table

POINTS = {"a-tests": 2.0, "b-tests": 3.0, "words": 1.0}


def entry(student: str, scores: dict[str, float], first: str = "", last: str = "") -> Entry:
    waiting = [cell for cell in POINTS if cell not in scores]
    return Entry(student, first, last, scores, dict(POINTS), waiting)


RESULTS = [
    Result("ada", entry("ada", {"a-tests": 2.0, "b-tests": 3.0}, "Ada", "Lovelace")),
    Result("bo", entry("bo", {"a-tests": 0.5, "b-tests": 0.0, "words": 1.0}), ("no-scale",)),
    Result("cy", None, problem="nothing submitted"),
    Result("=di", entry("=di", {"a-tests": 2.0, "b-tests": 3.0, "words": 1.0}, "@Di", 'D "x", y')),
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
        "1 have a written answer that waits to be read. 1 could not be graded."
    )


def test_figures_of_nobody():
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


def test_csv(tmp_path):
    path = tmp_path / "grades.csv"
    write_csv(RESULTS, list(POINTS), path)
    assert path.read_text(encoding="utf-8").splitlines()[1:] == [
        '"ada","Lovelace","Ada",5.0,6.0,"to read","",2.0,3.0,""',
        '"bo","","",1.5,6.0,"graded","no-scale",0.5,0.0,1.0',
        '"cy","","","","","failed: nothing submitted","","","",""',
        '"\'=di","D ""x"", y","\'@Di",6.0,6.0,"graded","",2.0,3.0,1.0',
    ]
    with path.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 5


@pytest.mark.parametrize(
    ("missing", "waiting", "status"),
    [
        ([], ["words"], "to read"),
        (["b-tests"], ["words"], "to read, without b-tests"),
        (["a-tests", "b-tests"], [], "graded, without a-tests and b-tests"),
        (list(POINTS), [], "graded, without any cell that gives points"),
    ],
)
def test_the_status_names_the_cells_that_were_not_handed_in(missing, waiting, status):
    scores = dict.fromkeys(missing, 0.0)
    result = Result("ada", Entry("ada", "", "", scores, dict(POINTS), waiting, missing))
    assert result.status == status
    assert result.lost == sum(POINTS[cell] for cell in missing)
    assert figures([result])["full_marks"] == int(not missing)


def test_help_names_every_command_in_plain_text(capsys):
    with pytest.raises(SystemExit) as stop:
        commands.main(["--help"])
    assert stop.value.code == 0
    described, listed = capsys.readouterr().out.split("positional arguments:")
    assert "`" not in described + listed
    assert "release the learners' notebooks, grade what was submitted" in " ".join(
        described.split()
    )
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("    ")][:2] == [
        "release",
        "grade",
    ]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_neutralised(text):
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Ada", "a=1", "O'Brien", "1-2", "Ödegård"])
def test_other_texts_are_left_alone(text):
    assert neutral(text) == text


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            (
                "[ERROR] There was an error\n[ERROR] Traceback\n"
                "    json.JSONDecodeError: Expecting\n"
                "    nbformat.reader.NotJSONError: Notebook does not appear to be JSON: ''\n"
                "[ERROR] There was an error processing 'a' for 'b'\n"
            ),
            "nbformat.reader.NotJSONError: Notebook does not appear to be JSON: ''",
        ),
        (
            (
                "[INFO] Autograding\n[ERROR] While processing, the kernel became unresponsive.\n"
                "[ERROR] Please see the log."
            ),
            "While processing, the kernel became unresponsive.",
        ),
        ("something else", "something else"),
    ],
)
def test_the_reason_is_found_in_nbgraders_log(log, reason):
    assert _reason(log) == reason
