"""Submitted notebooks are read and repaired, and each repair is reported."""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import random
import re
import time
import tracemalloc

import nbformat
import pytest
from nbgrader.utils import determine_grade, is_grade, is_solution

from attn_lib.course.checks import ChecksFailed
from grader.course import EXERCISES, SOLUTIONS, assignments
from grader.judging.assignment_source import read_source
from grader.submission import Unreadable, repair
from grader.submission.reading import _check_number_of_values, read
from tests.exercises.proof.drawn_once import numbers_drawn_once
from tests.grader.corpus.accidents import (
    ACCIDENTS,
    ANSWERS,
    POINTS,
    Accident,
    cell,
    delete,
    dumped,
    own_cell,
)
from tests.in_one_test import in_one_test

ASSIGNMENT = "dot-products"


@pytest.fixture(scope="module", autouse=True)
def _numbers_drawn_once():
    with numbers_drawn_once():
        yield


@pytest.fixture(scope="module")
def source():
    return read_source((SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes())


@pytest.fixture
def notebook(handed_in):
    return json.loads(json.dumps(handed_in))


def marks(notebook, monkeypatch) -> dict[str, float]:
    """Return the points by test cell; the answers are trusted and run in this process."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    names, found = {"__name__": "__main__"}, {}
    for c in notebook.cells:
        if c.cell_type != "code" or c.source.startswith("%"):
            continue
        if not is_grade(c):
            with contextlib.suppress(Exception):  # the next cell runs anyway
                exec(c.source, names)
            continue
        *body, last = ast.parse(c.source).body
        try:
            exec(compile(ast.Module(body, []), "<test>", "exec"), names)
            mark = eval(compile(ast.Expression(last.value), "<test>", "eval"), names)
        except ChecksFailed:
            mark = 0.0
        found[c.metadata.nbgrader.grade_id] = mark
    return found


def marked(notebook):
    """Return the cells with nbgrader metadata."""
    return [c for c in notebook.cells if "nbgrader" in c.metadata]


class TestAccidents:
    @pytest.mark.parametrize("name", ACCIDENTS)
    def test_each_is_repaired_or_refused_with_a_reason(
        self, name, handed_in, source, monkeypatch, capsys
    ):
        accident: Accident = ACCIDENTS[name]
        data = accident.file(handed_in)
        if accident.fails:
            with pytest.raises(Unreadable) as refused:
                repair(data, source.stub)
            (says,) = accident.says
            assert says in str(refused.value)
            return
        repaired = repair(data, source.stub)
        nbformat.validate(repaired.notebook)
        assert repaired.missing == list(accident.missing)
        assert len(repaired.remarks) >= len(accident.says)
        assert bool(repaired.remarks) == bool(accident.says), repaired.remarks
        for says in accident.says:
            assert any(says in remark for remark in repaired.remarks), (says, repaired.remarks)
        wanted = {c: points - accident.lost.get(c, 0) for c, points in POINTS.items()}
        assert marks(repaired.notebook, monkeypatch) == wanted

    @pytest.mark.parametrize("name", [n for n, a in ACCIDENTS.items() if not a.fails])
    def test_the_result_has_the_cells_of_the_assignment(self, name, handed_in, source):
        repaired = repair(ACCIDENTS[name].file(handed_in), source.stub).notebook
        ours = {c.id: c for c in source.stub.cells if "nbgrader" in c.metadata}
        theirs = {c.id: c for c in repaired.cells if "nbgrader" in c.metadata}
        assert set(theirs) == set(ours)
        assert len({c.id for c in repaired.cells}) == len(repaired.cells)
        for cell_id, c in theirs.items():
            assert c.metadata == ours[cell_id].metadata
            assert c.cell_type == ours[cell_id].cell_type
            if not is_solution(c):
                assert c.source == ours[cell_id].source
        assert all(not c.outputs for c in repaired.cells if c.cell_type == "code")
        assert repaired.metadata == source.stub.metadata

    @pytest.mark.parametrize("name", [n for n, a in ACCIDENTS.items() if not a.fails])
    def test_a_repaired_notebook_needs_no_repair(self, name, handed_in, source):
        once = repair(ACCIDENTS[name].file(handed_in), source.stub)
        again = repair(nbformat.writes(once.notebook).encode(), source.stub)
        assert again.notebook == once.notebook
        assert again.remarks == []
        assert repair(ACCIDENTS[name].file(handed_in), source.stub) == once

    def test_there_are_many_of_each_kind(self):
        status = [accident.status for accident in ACCIDENTS.values()]
        assert {s: status.count(s) >= 12 for s in set(status)} == dict.fromkeys(
            ("graded", "graded with remarks", "failed"), True
        )


class TestRepair:
    @pytest.mark.parametrize("assignment", assignments())
    def test_the_released_notebook_needs_no_repair(self, assignment):
        ours = read_source((SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes()).stub
        released = EXERCISES / assignment / f"{assignment}.ipynb"
        if not released.exists():
            pytest.skip(f"{assignment} is not released yet")
        repaired = repair(released.read_bytes(), ours)
        assert (repaired.remarks, repaired.missing) == ([], [])
        assert marked(repaired.notebook) == marked(ours)

    @pytest.mark.parametrize("assignment", assignments())
    def test_without_metadata_and_ids_every_cell_of_the_stub_is_recognised(self, assignment):
        ours = read_source((SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes()).stub
        bare = json.loads(nbformat.writes(ours))
        for number, c in enumerate(bare["cells"]):
            c |= {"metadata": {}, "id": str(number)}
        repaired = repair(dumped(bare), ours)
        assert repaired.missing == []
        assert marked(repaired.notebook) == marked(ours)

    def test_the_source_is_not_changed(self, notebook, source):
        before = nbformat.writes(source.stub)
        delete(notebook, "softmax", "imports")
        repaired = repair(dumped(notebook), source.stub)
        for c in repaired.notebook.cells:
            c.metadata["x"] = 1
        repaired.notebook.metadata["x"] = 1
        assert nbformat.writes(source.stub) == before

    def test_cells_of_the_learner_keep_their_order(self, notebook, source):
        notebook["cells"].insert(3, own_cell("x = 1", "x"))
        notebook["cells"].insert(0, own_cell("y = 1", "x"))
        notebook["cells"].append(own_cell("z = 1", "softmax"))
        notebook["cells"].append({"cell_type": "raw", "source": "w"})
        repaired = repair(dumped(notebook), source.stub).notebook
        own = [c for c in repaired.cells if c.id not in {o.id for o in source.stub.cells}]
        assert [(c.id, c.cell_type, c.source) for c in own] == [
            ("x", "code", "y = 1"),
            ("own-1", "code", "x = 1"),
            ("own-2", "code", "z = 1"),
            ("own-3", "raw", "w"),
        ]
        assert repaired.cells[0].source == "y = 1"

    def test_missing_cells_are_restored_in_order(self, notebook, source):
        """Whichever cells are deleted, the order is that of the assignment again."""
        names = [c.id for c in source.stub.cells if "nbgrader" in c.metadata]
        order = [c.id for c in source.stub.cells]
        for deleted in [
            *itertools.pairwise(names),
            *itertools.combinations(names[::3], 3),
            names[::2],
            names[1::2],
        ]:
            left = [c for c in notebook["cells"] if c["id"] not in deleted]
            repaired = repair(dumped(notebook | {"cells": left}), source.stub)
            assert [c.id for c in repaired.notebook.cells] == order, deleted
            assert repaired.missing == [name for name in deleted if name in ANSWERS]

    def test_a_moved_locked_cell_returns_to_its_place(self, notebook, source):
        order = [c.id for c in source.stub.cells]
        locked = [
            c.id for c in source.stub.cells if c.id not in ANSWERS and "nbgrader" in c.metadata
        ]
        for name in locked:
            rest = [c for c in notebook["cells"] if c["id"] != name]
            for to in range(0, len(order), 3):
                cells = [*rest[:to], cell(notebook, name), *rest[to:]]
                repaired = repair(dumped(notebook | {"cells": cells}), source.stub)
                found = [c.id for c in repaired.notebook.cells if "nbgrader" in c.metadata]
                assert found == [i for i in order if i in found], (name, to)

    def test_missing_answers_give_no_points_and_affect_no_others(self, notebook, source):
        delete(notebook, "softmax", "in-words")
        cells = {c.id: c for c in repair(dumped(notebook), source.stub).notebook.cells}
        assert cells["softmax"].source == "# This cell was not handed in."
        assert determine_grade(cells["in-words"]) == (0, 2)

    def test_an_empty_answer_is_recognised_by_its_checksum(self, notebook, source):
        cell(notebook, "in-words")["source"] = "YOUR ANSWER HERE \r\n\r\n"
        cells = {c.id: c for c in repair(dumped(notebook), source.stub).notebook.cells}
        assert determine_grade(cells["in-words"]) == (0, 2)
        cell(notebook, "in-words")["source"] = "Value 0."
        cells = {c.id: c for c in repair(dumped(notebook), source.stub).notebook.cells}
        assert determine_grade(cells["in-words"]) == (None, 2)

    def test_both_halves_of_a_text_can_be_read(self, handed_in, source):
        data = ACCIDENTS["a text split in two"].file(handed_in)
        cells = repair(data, source.stub).notebook.cells
        at = next(i for i, c in enumerate(cells) if c.id == "in-words")
        assert [c.cell_type for c in cells[at - 1 : at + 1]] == ["markdown", "markdown"]
        assert re.match(r"Value \d", cells[at - 1].source)
        assert cells[at].source == "and this is why."

    def test_only_pictures_are_kept_as_attachments(self, notebook, source):
        cell(notebook, "in-words")["attachments"] = {
            "page.jpg": {"image/jpeg": "/9j/", "text/html": "<script>"},
            "a.svg": {"image/svg+xml": "<svg onload=''>"},
            "b": 3,
        }
        cells = {c.id: c for c in repair(dumped(notebook), source.stub).notebook.cells}
        assert cells["in-words"].attachments == {"page.jpg": {"image/jpeg": "/9j/"}}

    def test_a_changed_locked_cell_comes_before_the_assignments_own(self, notebook, source):
        tests = cell(notebook, "softmax-tests")
        tests["source"] = "q = 1\nweights_of_all = 3\ncheck.finish()"
        cells = repair(dumped(notebook), source.stub).notebook.cells
        (at,) = [i for i, c in enumerate(cells) if "weights_of_all" in c.source]
        assert cells[at].metadata == {}  # it is the learner's own, and earns nothing
        assert cells[at + 1].source == cell(source.stub, "softmax-tests").source

    def test_a_changed_test_that_was_turned_into_text_is_not_executed(self, notebook, source):
        tests = cell(notebook, "softmax-tests")
        tests |= {"cell_type": "markdown", "source": "weights_of_all = 3"}
        cells = repair(dumped(notebook), source.stub).notebook.cells
        assert not any("weights_of_all" in c.source for c in cells)

    def test_many_cells_without_metadata_are_repaired_quickly(self, notebook, source):
        """The cells have 12 MiB; an ordinary notebook takes a few milliseconds."""
        delete(notebook, *ANSWERS, *POINTS)
        text = ("a,b = b; " * 10 + "\n") * 160
        notebook["cells"][3:3] = [own_cell(text + str(i), f"o{i}") for i in range(900)]
        data = dumped(notebook)
        assert len(data) > 10 * 2**20
        before = time.process_time()
        assert len(repair(data, source.stub).notebook.cells) > 900
        assert time.process_time() - before < 5


class TestAnythingAtAll:
    """For any file content, the result is a valid notebook or a reason."""

    VALUES = (None, True, -1, 1e9, "", "softmax", "\ud800", [], ["x"], [1], {}, {"a": [{}]})

    @classmethod
    def spoil(cls, value, luck):
        """Return the value with some of its parts replaced, deleted or duplicated."""
        if luck.random() < 0.01:
            return luck.choice(cls.VALUES)
        if isinstance(value, dict):
            return {k: cls.spoil(v, luck) for k, v in value.items() if luck.random() > 0.01}
        if isinstance(value, list):
            parts = [
                cls.spoil(v, luck) for v in value for _ in range(luck.choice([1] * 30 + [0, 2]))
            ]
            if luck.random() < 0.03:
                luck.shuffle(parts)
            return parts
        return value

    @staticmethod
    def outcome(data, source):
        try:
            return repair(data, source.stub), ""
        except Unreadable as refused:
            return None, str(refused)

    @in_one_test("seed", range(150))
    def test_spoilt_values(self, seed, handed_in, source):
        luck = random.Random(seed)
        data = json.dumps(self.spoil(handed_in, luck)).encode()
        repaired, reason = self.outcome(data, source)
        if repaired is None:
            assert reason.startswith("the file is not a notebook")
            return
        nbformat.validate(repaired.notebook)
        nbformat.writes(repaired.notebook).encode()
        wanted = {c.id for c in marked(source.stub)}
        assert {c.id for c in marked(repaired.notebook)} == wanted
        assert repair(nbformat.writes(repaired.notebook).encode(), source.stub).remarks == []

    @in_one_test("seed", range(50))
    def test_spoilt_bytes(self, seed, handed_in, source):
        luck = random.Random(seed)
        data = bytearray(dumped(handed_in))
        for _ in range(luck.randint(1, 5)):
            data[luck.randrange(len(data))] = luck.randrange(256)
        repaired, reason = self.outcome(bytes(data), source)
        if repaired is None:
            assert reason.startswith("the file ")
            return
        nbformat.validate(repaired.notebook)


class TestReading:
    def test_memory_stays_low_whatever_the_file(self):
        bombs = [
            b'{"cells": [' + b"[]," * 330_000 + b"[]]}",
            b'{"cells": [' + b'{"a":1},' * 330_000 + b"{}]}",
            b'{"cells": ["' + b"\\ud83d\\ude00" * 800_000 + b'"]}',
        ]
        for bomb in bombs:
            tracemalloc.start()
            with contextlib.suppress(Unreadable):
                read(bomb)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 130 * 2**20

    @pytest.mark.parametrize(
        "text",
        [
            '["' + r"\"," * 1_100_000,
            '["' + r"\"," * 1_100_000 + '"]',
            '["' + r"\n," * 3_000_000 + '"]',
            '["' + "," * 1_100_000 + '"]' + '""' * 200_000,
        ],
        ids=["open", "closed", "escapes", "quotes"],
    )
    def test_values_are_counted_in_one_pass_with_little_memory(self, text):
        before = time.process_time()
        tracemalloc.start()
        _check_number_of_values(text)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**20
        # A quadratic search would take hours for the first text.
        assert time.process_time() - before < 20

    @pytest.mark.parametrize(
        "text",
        [
            "[" + "," * 1_000_001,
            "{" * 1_000_001,
            "[" + "[" * 1_000_000,
            '["' + "," * 1_000_001 + '"' + '""' * 2_000_000,
            '"' + "," * 1_000_001 + '"' + "," * 1_000_001 + '"',
        ],
        ids=["commas", "braces", "brackets", "texts", "beside a text"],
    )
    def test_too_many_values_are_refused(self, text):
        with pytest.raises(Unreadable, match="more than 1,000,000 values"):
            _check_number_of_values(text)

    def test_text_contents_do_not_count_as_values(self):
        _check_number_of_values(json.dumps([',"{[\\'] * 400_000))
        _check_number_of_values(json.dumps([{",": ","}] * 300_000))

    def test_a_very_long_cell_is_refused_with_a_reason(self, handed_in):
        notebook = json.loads(json.dumps(handed_in))
        at = next(i for i, c in enumerate(notebook["cells"]) if c["id"] == "softmax")
        notebook["cells"][at]["source"] = "é" * 2**19
        assert len(read(dumped(notebook)).cells[at].text) == 2**19
        notebook["cells"][at]["source"] = "é" * (2**19 + 2**14)
        says = f"cell number {at + 1} has 1.03 MiB of text; at most 1 MiB are read."
        with pytest.raises(Unreadable, match=says):
            read(dumped(notebook))
        notebook["cells"][at]["cell_type"] = "markdown"
        with pytest.raises(Unreadable, match=says):
            read(dumped(notebook))

    def test_an_embedded_picture_does_not_count_as_length_of_a_text(self, handed_in):
        notebook = json.loads(json.dumps(handed_in))
        text = f"![page](data:image/png;base64,{'iVBO' * 2**20}==) my answer"
        notebook["cells"].append({"cell_type": "markdown", "source": text})
        assert read(dumped(notebook)).cells[-1].text == text

    @pytest.mark.parametrize("end", ["\n", "\r", "\f", "\u2028"])
    def test_millions_of_lines_are_refused_with_a_reason(self, end, handed_in):
        notebook = json.loads(json.dumps(handed_in))
        notebook["cells"] += [own_cell(end * 50_000, f"o{i}") for i in range(4)]
        says = r"the cells have 200,\d+ lines together; at most 200,000 are read"
        with pytest.raises(Unreadable, match=says):
            read(dumped(notebook))
        assert read(dumped(notebook | {"cells": notebook["cells"][:-1]})).cells

    def test_the_reason_names_the_line_of_a_syntax_error(self):
        with pytest.raises(Unreadable, match=r"it breaks off in line 3 \(Expecting value\)"):
            read(b'{\n"cells":\n')
        with pytest.raises(Unreadable, match="line 2 "):
            read(b'{"cells": [\n}\n]}')
