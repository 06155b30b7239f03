"""Additions to the course change neither learners' numbers nor the museum's examples."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from attn_lib.course.mistakes import Mistake, appearances, core
from attn_lib.course.personal import first_suitable, personal_rng
from attn_lib.course.targets import TARGETS, examples
from attn_lib.course.targets.examples import EXAMPLES
from tests.attn_lib.course.personal.learner_numbers import TABLE, digests

SOURCE = Path(examples.__file__).read_text(encoding="utf-8")


def known_numbers():
    return json.loads(TABLE.read_text(encoding="utf-8"))


class TestLearnerNumbers:
    def test_a_new_mistake_for_every_target_changes_none(self, monkeypatch):
        """The new mistake gives right answers, so if it counted, no numbers would be accepted."""
        new = {
            f"new-at-{target}": Mistake(f"new-at-{target}", target, right, "It is new.", "a#b")
            for target, right in TARGETS.items()
        }
        monkeypatch.setattr(core, "_CATALOGUE", new | core._CATALOGUE)
        assert all(next(appearances(target))[0].id == f"new-at-{target}" for target in TARGETS)
        assert digests() == known_numbers()

    def test_another_order_of_the_catalogue_changes_none(self, monkeypatch):
        backwards = dict(reversed(core._CATALOGUE.items()))
        monkeypatch.setattr(core, "_CATALOGUE", backwards)
        assert next(iter(core.catalogue())).id == next(iter(backwards))
        assert digests() == known_numbers()

    def test_a_new_task_changes_none(self):
        first_suitable("ada", "new-task", lambda rng: rng.normal(size=7), lambda numbers: True)
        personal_rng("alan", "another").normal(size=5)
        assert digests() == known_numbers()

    def test_they_do_not_use_the_examples(self):
        code = (
            "import sys; from tests.attn_lib.course.personal.learner_numbers import digests;"
            "digests(); print('attn_lib.course.targets.examples' in sys.modules)"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == "False"


class TestExamples:
    def test_new_ones_anywhere_change_none_of_the_others(self):
        """Random draws are inserted before every statement and before every first example."""
        (draw,) = ast.parse("_qkv(10**6, (3, 7), (5, 7), 2)").body
        module = ast.parse(SOURCE)
        for node in ast.walk(module):
            if isinstance(node, ast.Dict):
                node.values = [
                    ast.BinOp(ast.List([draw.value], ast.Load()), ast.Add(), value)
                    for value in node.values
                ]
        draws = [i for i, node in enumerate(module.body) if isinstance(node, ast.FunctionDef)]
        for place in range(len(module.body), max(draws), -1):
            module.body.insert(place, draw)
        names = {"__name__": "extended"}
        exec(compile(ast.fix_missing_locations(module), "extended", "exec"), names)
        extended = names["EXAMPLES"]
        assert extended.keys() == EXAMPLES.keys()
        for target, given in EXAMPLES.items():
            _, *others = extended[target]
            assert len(others) == len(given)
            for one, other in zip(given, others, strict=True):
                for argument, again in zip(one, other, strict=True):
                    np.testing.assert_array_equal(argument, again, err_msg=target)

    def test_no_two_draws_have_the_same_seed(self):
        seeds = re.findall(r"_(?:entries|qkv|blocks|with_outputs|weights|maps)\((\d+)", SOURCE)
        assert len(seeds) > 30
        assert len(set(seeds)) == len(seeds)
        assert SOURCE.count("default_rng(") == 1  # all draws take a seed
