"""Wrong answers lose exactly their points, and reports explain why."""

from __future__ import annotations

import csv

import pytest
from nbgrader.utils import is_solution

from attn_lib.course.mistakes import appearances
from tests.exercises.proof.matrix import LEARNER, TABLE, as_csv, row_of, trials, try_out
from tests.exercises.proof.notebook import run
from tests.exercises.proof.proof import proofs
from tests.exercises.proof.recording import record

LEARNERS = [LEARNER, "alan"]
SLIPS = [(name, slip) for name, proof in proofs().items() for slip in proof.slips]


class TestNothing:
    def test_released_stub_earns_nothing(self, released, source, points):
        stubs = {cell.id: cell.source for cell in released if is_solution(cell)}
        result = run(source, stubs)
        assert result.scores == dict.fromkeys(points, 0.0)
        assert "not written yet." in "".join(result.reports.values())

    def test_stub_with_an_id_earns_nothing(self, released, source, points):
        stubs = {cell.id: cell.source for cell in released if is_solution(cell)}
        for learner in LEARNERS:
            result = run(source, stubs | {"learner-id": f"learner_id = {learner!r}"})
            assert result.scores == dict.fromkeys(points, 0.0)

    @pytest.mark.parametrize(
        "answer", ["0.0", "None", "np.nan", "True", "'A'", "np.zeros((3, 4))", "[0, 0]", "..."]
    )
    def test_a_constant_answer_earns_nothing(self, answer, source, recording, points):
        import numpy as np

        value = eval(answer, {"np": np})
        put: dict = {}
        for look in recording.comparisons:
            given = value if look.kind == "value" else (lambda *args, value=value: value)
            put.setdefault(recording.homes[look.name], {})[look.name] = given
        cells = {look.cell for look in recording.comparisons}
        result = run(source, put=put)
        for cell in cells:
            lost = {part for part in range(len(result.parts[cell])) if part_of(result, cell, part)}
            looked_at = {look.part for look in recording.comparisons if look.cell == cell}
            assert lost >= looked_at, (cell, result.reports[cell])

    def test_calling_attn_lib_earns_nothing(self, source, recording, proof, points):
        """Every function answer is replaced by attn_lib's function under the answer's name."""
        from attn_lib.course.targets import TARGETS

        calls = {
            (look.name, look.target, look.cell)
            for look in recording.comparisons
            if look.kind == "call"
        }
        for name, target, cell in calls:
            right = TARGETS[target]
            home = recording.homes[name]
            put = {home: {name: lambda *args, right=right: right(*args)}}
            result = run(source, put=put, without=points.keys() - {cell})
            parts = {
                look.part
                for look in recording.comparisons
                if (look.cell, look.name) == (cell, name)
            }
            assert all(part_of(result, cell, part) for part in parts), (cell, name)
            assert "it calls attn_lib's own" in " ".join(result.reports[cell].split())


def part_of(result, cell, part):
    """Tell whether a part was lost."""
    return not result.parts[cell][part].passed


class TestMistakes:
    def test_each_loses_exactly_its_points_and_is_named(self, source, proof, points):
        tried: set[tuple[str, str]] = set()
        seen: set[tuple[str, str]] = set()
        homes: set[str] = set()
        rows = []
        for learner in LEARNERS:
            answers = {"learner-id": f"learner_id = {learner!r}"}
            recording = record(source, answers)
            assert recording.result.scores == points
            for trial in trials(recording):
                if trial.looks[0].kind != "value" and learner != LEARNERS[0]:
                    continue  # inputs of functions do not depend on the learner
                where = (trial.cell, trial.mistake.id)
                tried.add(where)
                told = f"{trial.mistake.id} in {trial.name} ({trial.cell}, {learner})"
                parts = trial.parts
                if not parts:
                    continue
                seen.add(where)
                home = recording.homes[trial.name]
                everywhere = home not in homes  # once for each answer
                homes.add(home)
                result = try_out(trial, proof, source, recording, answers, everywhere=everywhere)
                if learner == LEARNER:
                    rows.append(row_of(proof, trial, recording, result))
                lost = {i for i, part in enumerate(result.parts[trial.cell]) if not part.passed}
                assert lost == parts, f"{told}: {result.reports[trial.cell]}"
                paid = sum(result.parts[trial.cell][i].points for i in lost)
                elsewhere = result.lost(points)
                assert elsewhere.pop(trial.cell) == paid, told
                assert set(elsewhere) <= proof.tests_of(home), told
                named = result.mistakes(trial.cell)
                alike = (
                    mistake.id in named and trial.is_like(wrong)
                    for mistake, wrong in appearances(trial.looks[0].target)
                )
                assert trial.mistake.id in named or any(alike), (
                    f"{told}: {result.reports[trial.cell]}"
                )
        argued = {
            key: {where for where in tried - seen if key in (where[1], "/".join(where))}
            for key in proof.unseen
        }
        assert tried - seen == set().union(*argued.values())
        assert all(argued.values()), argued
        in_book = TABLE.read_text(encoding="utf-8").splitlines()
        of_assignment = [line for line in in_book if line.startswith(f"{proof.assignment},")]
        assert of_assignment == as_csv(rows).splitlines()[1:], (
            "python -m tests.exercises.proof.matrix"
        )

    def test_the_table_in_the_book_has_all_assignments(self):
        with TABLE.open(encoding="utf-8", newline="") as file:
            assert {row["assignment"] for row in csv.DictReader(file)} == set(proofs())

    def test_mistakes_that_cannot_show_have_a_reason(self, proof):
        assert all(len(reason.split()) > 3 for reason in proof.unseen.values())


class TestChoices:
    def test_every_wrong_letter_loses_its_part_and_is_explained(self, source, recording, points):
        for choice in recording.choices:
            for letter in choice.options:
                if letter == choice.right:
                    continue
                home = recording.homes[choice.name]
                others = points.keys() - {choice.cell}
                result = run(source, put={home: {choice.name: letter}}, without=others)
                lost = {i for i, part in enumerate(result.parts[choice.cell]) if not part.passed}
                assert lost == {choice.part}, (choice, letter)
                told = " ".join(result.reports[choice.cell].split())
                assert f'"{letter}" is not right. {choice.because[letter]}' in told

    def test_letters_without_other_answers_earn_nothing(self, source, recording, released, points):
        """Guessing every letter without filling in anything else earns nothing.

        Test cells that ask for no letter get the stub, of which `TestNothing` has the score.
        """
        stubs = {cell.id: cell.source for cell in released if is_solution(cell)}
        skipped = points.keys() - {choice.cell for choice in recording.choices}
        for letter in "ABCDEFGH":
            put: dict = {}
            for choice in recording.choices:
                put.setdefault(recording.homes[choice.name], {})[choice.name] = letter
            answers = stubs | {"learner-id": "learner_id = 'ada'"}
            result = run(source, answers, put=put, without=skipped)
            assert sum(result.scores.values()) == 0, letter


class TestSlips:
    @pytest.mark.parametrize(("proof", "slip"), SLIPS, indirect=["proof"])
    def test_it_costs_its_points_and_is_explained(self, proof, slip, source, points):
        wrong = proof.slips[slip]
        reference = next(cell.source for cell in source if cell.id == wrong.cell)
        answer = f"{reference}\n{wrong.answer}" if wrong.adds else wrong.answer
        # The first slip of each answer shows that only the test cells of `tests_of` depend on it.
        first = next(name for name, other in proof.slips.items() if other.cell == wrong.cell)
        skipped = points.keys() - proof.tests_of(wrong.cell) if slip != first else ()
        result = run(source, {wrong.cell: answer}, without=skipped)
        assert result.lost(points) == wrong.cost
        assert wrong.told in " ".join(result.reports[f"{wrong.cell}-tests"].split())

    def test_there_are_slips_for_every_answer(self, proof, source, points):
        for cell in source:
            if is_solution(cell) and cell.cell_type == "code" and cell.id != "learner-id":
                assert any(slip.cell == cell.id for slip in proof.slips.values()), cell.id
