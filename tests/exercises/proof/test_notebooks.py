"""Rules for the notebook of every assignment."""

from __future__ import annotations

import doctest
import re

import numpy as np
from nbgrader.utils import is_grade, is_solution

from grader.releasing.release import generate
from tests.exercises.proof.notebook import run, secret_lines
from tests.exercises.proof.proof import proofs

TASK = re.compile(r"^## (\d+\. .*)\n\n(\d+) minutes, (\d+) points", re.MULTILINE)


def markdown(cells):
    return [cell for cell in cells if cell.cell_type == "markdown"]


def numbers_in(text):
    """Return the numbers in a text such as "2, 5 and 7" or "4 to 7"."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return set(range(numbers[0], numbers[-1] + 1)) if " to " in text else set(numbers)


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_every_assignment_has_a_proof(root):
    assert set(proofs()) == {path.name for path in (root / "solutions").iterdir()}
    assert set(proofs()) == {path.name for path in (root / "exercises").iterdir() if path.is_dir()}


class TestNotebook:
    def test_points_of_parts_sum_to_those_of_their_cell(self, recording, points):
        parts = recording.result.parts
        assert {cell: sum(part.points for part in parts[cell]) for cell in parts} == points

    def test_the_overview_has_the_points_and_minutes_of_the_tasks(self, source, proof):
        overview = re.findall(r"^\| (\d+\. .*?) \| (\d+) \| (\d+) \|$", source[0].source, re.M)
        tasks = [match for cell in source for match in TASK.findall(cell.source)]
        assert overview == tasks
        assert len(tasks) == proof.tasks
        given = [str(cell.metadata.nbgrader.points) for cell in source if is_grade(cell)]
        assert [task_points for _, _, task_points in tasks] == given
        assert all(5 <= int(minutes) <= 15 for _, minutes, _ in tasks)
        minutes, task_points = (sum(int(task[i]) for task in tasks) for i in (1, 2))
        assert task_points == proof.points
        assert f"| together | {minutes} | {task_points} |" in source[0].source

    def test_tasks_said_to_use_personal_numbers_do(self, source):
        text = next(cell.source for cell in source if cell.id == "learner-id-task")
        said = numbers_in(re.search(r"Tasks (.*) use numbers of your own\.", text)[1])
        uses, by_hand, number = set(), set(), 0
        for cell in source:
            if heading := TASK.search(cell.source):
                number = int(heading[1].partition(".")[0])
            if "check.learner_id()" in cell.source:
                uses.add(number)
            if is_grade(cell) and is_solution(
                cell
            ):  # graded by hand, including the use of the numbers
                by_hand.add(number)
        assert uses <= said <= uses | by_hand

    def test_cell_ids_are_words_and_equal_nbgrader_ids(self, source):
        assert len({cell.id for cell in source}) == len(source)
        for cell in source:
            assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id)
            if "nbgrader" in cell.metadata:
                assert cell.metadata.nbgrader.grade_id == cell.id

    def test_no_cell_has_outputs(self, source, released):
        for cell in [*source, *released]:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None

    def test_test_cells_import_what_they_use(self, source):
        """A test cell runs alone after the learner's answers."""
        answers = [cell for cell in source if not is_grade(cell)]
        for cell in source:
            if is_grade(cell) and cell.cell_type == "code":
                alone = run([*answers, cell])
                assert alone.score == cell.metadata.nbgrader.points, cell.id

    def test_test_cells_draw_inputs_only_from_the_seeded_generator(self, source):
        numbers = []
        for cell in source:
            if is_grade(cell) and cell.cell_type == "code":
                assert "np.random" not in cell.source, cell.id
                numbers += re.findall(r"check\.rng\((\d+)\)", cell.source)
        assert len(numbers) == len(set(numbers))

    def test_every_part_has_a_hidden_check(self, source):
        for cell in source:
            if is_grade(cell) and cell.cell_type == "code":
                for part in cell.source.split("check.part(")[1:]:
                    assert "BEGIN HIDDEN TESTS" in part, (cell.id, part[:60])

    def test_examples_in_the_text_are_right(self, source, proof):
        names: dict = {}
        for cell in source:
            if cell.cell_type == "code" and not is_grade(cell):
                exec(compile(cell.source, cell.id, "exec"), names)
        blocks = [b for cell in markdown(source) for b in python_blocks(cell.source)]
        examples = "\n\n".join(block for block in blocks if block.startswith(">>>"))
        test = doctest.DocTestParser().get_doctest(examples, names, proof.assignment, None, 0)
        outcome = doctest.DocTestRunner().run(test)
        assert outcome.failed == 0
        assert outcome.attempted == len(re.findall(r"^>>> ", examples, re.MULTILINE))

    def test_example_values_in_the_text_are_right(self, source, proof):
        found = {}
        for cell in markdown(source):
            shown: dict = {}
            for block in python_blocks(cell.source):
                if not block.startswith(">>>"):
                    exec(block, {"np": np}, shown)
            if shown:
                found[cell.id] = shown
        wanted = {cell: dict(example()) for cell, example in proof.value_examples.items()}
        assert found == wanted

    def test_numbers_in_model_answers_are_right(self, source, proof):
        found = {
            cell.id: sorted(re.findall(r"\d+\.\d+", cell.source))
            for cell in source
            if is_grade(cell) and cell.cell_type == "markdown"
        }
        wanted = {cell: sorted(numbers()) for cell, numbers in proof.model_numbers.items()}
        assert {cell: numbers for cell, numbers in found.items() if numbers} == wanted


class TestRelease:
    def test_exercises_equal_a_new_release(self, root, proof, tmp_path):
        name = proof.assignment
        fresh = generate(name, tmp_path / "once").read_bytes()
        assert (root / "exercises" / name / f"{name}.ipynb").read_bytes() == fresh
        assert generate(name, tmp_path / "twice").read_bytes() == fresh

    def test_only_the_notebook_is_released(self, root, proof):
        for room in ("solutions", "exercises"):
            files = [
                path.name
                for path in (root / room / proof.assignment).iterdir()
                if path.name != ".ipynb_checkpoints"
            ]
            assert files == [f"{proof.assignment}.ipynb"]

    def test_no_answer_and_no_hidden_test_is_released(self, source, released):
        text = "\n".join(cell.source for cell in released)
        secret = secret_lines(source)
        assert len(secret) > 2 * sum(map(is_grade, source))
        assert secret & {line.strip() for line in text.splitlines()} == set()
        assert "SOLUTION" not in text
        assert "HIDDEN" not in text

    def test_only_answers_can_be_edited(self, released):
        for cell in released:
            if "nbgrader" in cell.metadata:
                assert cell.metadata.get("editable", True) == is_solution(cell)
