"""Proof of the assignment `dot-products`: who earns which points, and what they are told."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import textwrap

import numpy as np
import pytest
from nbgrader.utils import is_grade, is_solution

from attn_lib.mistakes import appearances, catalogue
from attn_lib.personal.dot_products import INVISIBLE_BY_HAND, sizes, two_keys, weights_to_read
from attn_lib.targets import TARGETS, output_shape, weights_shape
from grader.release import generate
from grader.submissions import read_answers
from tests.exercises.notebook import run, secret_lines

FUNCTION_CELLS = {
    "score_matrix": "score-matrix",
    "softmax": "softmax",
    "attention": "attention",
}

#: What each catalogued mistake in a function costs, with the cells that build on it.
COSTS = {
    "keys-times-queries": {"score-matrix-tests": 2, "attention-tests": 4},
    "cosine-scores": {"score-matrix-tests": 2, "attention-tests": 4},
    "scores-already-scaled": {"score-matrix-tests": 2, "attention-tests": 4},
    "softmax-over-queries": {"softmax-tests": 3, "attention-tests": 4},
    "softmax-over-everything": {"softmax-tests": 3, "attention-tests": 3},
    "exponentials-not-normalised": {"softmax-tests": 3, "attention-tests": 4},
    "normalised-without-exponential": {"softmax-tests": 3, "attention-tests": 4},
    "softmax-that-overflows": {"softmax-tests": 1},
    "softmax-shifted-by-overall-maximum": {"softmax-tests": 1},
    **{mistake.id: {"attention-tests": 4} for mistake in catalogue("attention")},
    "row-for-column": {"reading-tests": 1},
    **{mistake.id: {"shapes-tests": 1} for mistake in catalogue("weights_shape")},
    **{mistake.id: {"shapes-tests": 1} for mistake in catalogue("output_shape")},
}

#: Right functions that belong to no module of attn_lib, for the wrong ones to build on.
OWN_FUNCTIONS = """
def score_matrix(q, k):
    return q @ np.swapaxes(k, -1, -2)

def scaled_scores(q, k):
    return score_matrix(q, k) / np.sqrt(q.shape[-1])

def softmax(scores, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


def as_answer(mistake) -> str:
    """Return the mistake as a learner would have written it into the function's cell."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(mistake.wrong))).body[0]
    definition.decorator_list = []
    inner = textwrap.indent(OWN_FUNCTIONS + "\n" + ast.unparse(definition), "    ")
    return f"def make():\n{inner}\n    return {definition.name}\n\n{mistake.target} = make()"


class TestNotebook:
    def test_parts_give_the_points_of_their_cell(self, source, points):
        parts = run(source).parts
        assert {cell: sum(part.points for part in parts[cell]) for cell in parts} == points

    def test_points_and_minutes_of_the_overview_are_those_of_the_tasks(self, source):
        overview = re.findall(r"^\| (\d\. .*?) \| (\d+) \| (\d+) \|$", source[0].source, re.M)
        tasks = [
            match.groups()
            for cell in source
            for match in re.finditer(
                r"^## (\d\. .*)\n\n(\d+) minutes, (\d+) points", cell.source, re.M
            )
        ]
        assert overview == tasks
        assert len(tasks) == 7
        given = [str(cell.metadata.nbgrader.points) for cell in source if is_grade(cell)]
        assert [task_points for _, _, task_points in tasks] == given
        assert all(5 <= int(minutes) <= 15 for _, minutes, _ in tasks)
        minutes, task_points = (sum(int(task[i]) for task in tasks) for i in (1, 2))
        assert f"| together | {minutes} | {task_points} |" in source[0].source

    def test_cell_ids_are_words_and_those_of_nbgrader(self, source):
        for cell in source:
            assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id)
            if "nbgrader" in cell.metadata:
                assert cell.metadata.nbgrader.grade_id == cell.id

    def test_no_cell_has_outputs(self, source, released):
        for cell in [*source, *released]:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None

    def test_test_cells_import_what_they_use(self, source):
        """With only the learner's answers around it, a test cell runs alone."""
        answers = [cell for cell in source if not is_grade(cell)]
        for cell in source:
            if is_grade(cell) and cell.cell_type == "code":
                alone = run([*answers, cell])
                assert alone.score == cell.metadata.nbgrader.points, cell.id

    def test_examples_in_the_text_are_right(self, source):
        names: dict = {}
        for cell in source:
            if (
                is_solution(cell)
                and cell.cell_type == "code"
                and cell.id in FUNCTION_CELLS.values()
            ):
                exec("import numpy as np\n" + cell.source, names)
        examples = "\n\n".join(
            block
            for cell in source
            if cell.cell_type == "markdown"
            for block in re.findall(r"```python\n(>>> .*?)```", cell.source, re.DOTALL)
        )
        test = doctest.DocTestParser().get_doctest(examples, names, "examples", None, 0)
        outcome = doctest.DocTestRunner().run(test)
        assert outcome.attempted == 7
        assert outcome.failed == 0

    def test_the_example_by_hand_is_right(self, source):
        text = next(cell.source for cell in source if cell.id == "by-hand-question")
        shown: dict = {}
        exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], shown)
        q, k = np.array([[2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0]])
        v = np.array([[10.0, 0.0], [0.0, 8.0]])
        assert shown["raw_scores"] == TARGETS["score_matrix"](q, k)[0].tolist()
        assert shown["scaled_scores"] == TARGETS["scaled_scores"](q, k)[0].round(3).tolist()
        assert shown["weights"] == TARGETS["attention"](q, k, np.eye(2))[0].round(3).tolist()
        assert shown["output"] == TARGETS["attention"](q, k, v)[0].round(3).tolist()

    def test_the_example_of_shapes_is_right(self, source):
        text = next(cell.source for cell in source if cell.id == "shapes-question")
        shown: dict = {}
        exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], shown)
        shapes = [(4, 8, 100, 64)] * 3
        assert shown["weights_shape"] == tuple(weights_shape(*shapes))
        assert shown["output_shape"] == tuple(output_shape(*shapes))

    def test_the_model_sentence_has_the_right_numbers(self, source):
        text = next(cell.source for cell in source if cell.id == "in-words")
        q, k, v = two_keys("ada")
        raw = TARGETS["score_matrix"](q[None], k)[0]
        weights = TARGETS["attention"](q[None], k, np.eye(2))[0]
        output = TARGETS["attention"](q[None], k, v)[0]
        best = int(weights.argmax())
        assert f"value {best}, {v[best].tolist()}, dominates" in text
        assert f"({raw[best]} against {raw[1 - best]})".replace("-", "−") in text
        assert f"the weight {weights[best]:.3f}" in text
        assert f"the output [{output[0]:.3f}, {output[1]:.3f}]" in text
        assert f"{weights[1 - best]:.3f} of value {1 - best}" in text


class TestRelease:
    def test_exercises_are_what_release_makes(self, root, tmp_path):
        fresh = generate("dot-products", tmp_path / "once").read_bytes()
        assert (root / "exercises/dot-products/dot-products.ipynb").read_bytes() == fresh
        assert generate("dot-products", tmp_path / "twice").read_bytes() == fresh

    def test_nothing_but_the_notebook_is_released(self, root):
        for room in ("solutions", "exercises"):
            files = [
                path.name
                for path in (root / room / "dot-products").iterdir()
                if path.name != ".ipynb_checkpoints"
            ]
            assert files == ["dot-products.ipynb"]

    def test_no_answer_and_no_hidden_test_is_released(self, source, released):
        text = "\n".join(cell.source for cell in released)
        secret = secret_lines(source)
        assert len(secret) > 40
        assert secret & {line.strip() for line in text.splitlines()} == set()
        assert "SOLUTION" not in text
        assert "HIDDEN" not in text

    def test_answers_can_be_edited_and_nothing_else(self, released):
        for cell in released:
            if "nbgrader" in cell.metadata:
                assert cell.metadata.get("editable", True) == is_solution(cell)


class TestRight:
    def test_reference_has_full_marks(self, source, points):
        result = run(source)
        assert result.scores == points
        assert result.score == 18

    def test_it_passes_at_home_without_a_score(self, source, released, points):
        answers = {cell.id: cell.source for cell in source if is_solution(cell)}
        result = run(released, answers, execution="validate")
        assert list(result.scores) == list(points)
        assert all(np.isnan(score) for score in result.scores.values())
        assert "not yet" not in "".join(result.reports.values())

    @pytest.mark.parametrize("style", ["loops", "einsum", "float32"])
    def test_other_styles_have_full_marks(self, style, root, source, points):
        path = root / f"tests/sample_class/answers/full-marks-{style}.py"
        assert run(source, read_answers(path)).scores == points

    @pytest.mark.parametrize(
        ("cell", "answer"),
        [
            (
                "score-matrix",
                "score_matrix = lambda q, k: (k @ q.swapaxes(-1, -2)).swapaxes(-1, -2)",
            ),
            (
                "score-matrix",
                (
                    "def score_matrix(q, k):\n"
                    "    if q.ndim == 2:\n"
                    "        return np.inner(q, k).tolist()\n"
                    "    return [score_matrix(a, b) for a, b in zip(q, k)]\n\n"
                ),
            ),
            (
                "score-matrix",
                (
                    "def score_matrix(q, k):\n"
                    "    products = q[..., :, None, :] * k[..., None, :, :]\n"
                    "    return np.asfortranarray(products.sum(-1))"
                ),
            ),
            (
                "softmax",
                (
                    "def softmax(scores):\n"
                    "    scores = scores.copy()\n"
                    "    scores -= scores.max(-1, keepdims=True)\n"
                    "    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])"
                ),
            ),
            (
                "softmax",
                (
                    "import warnings\n\n"
                    "def softmax(scores):\n"
                    "    warnings.warn('a warning is not a failure')\n"
                    "    print('shape', scores.shape)\n"
                    "    e = np.exp(scores - np.nanmax(scores, axis=-1, keepdims=True))\n"
                    "    return e / e.sum(-1)[..., np.newaxis]"
                ),
            ),
            (
                "attention",
                (
                    "class Attention:\n"
                    "    def __call__(self, q, k, v):\n"
                    "        w = np.exp(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)\n"
                    "        return w @ v / w.sum(-1, keepdims=True)\n\n"
                    "attention = Attention()"
                ),
            ),
            (
                "attention",
                (
                    "def attention(queries, keys, values, scale=None):\n"
                    "    scale = scale or len(np.moveaxis(queries, -1, 0)) ** -0.5\n"
                    "    return softmax(score_matrix(queries * scale, keys)) @ values"
                ),
            ),
        ],
    )
    def test_one_cell_in_another_style(self, cell, answer, source, points):
        assert run(source, {cell: answer}).scores == points

    @pytest.mark.parametrize("seed", range(10))
    def test_half_precision_is_accepted_where_it_can_hold_the_scores(self, seed, source, points):
        names = {"score_matrix": "q, k", "softmax": "scores", "attention": "q, k, v"}
        answers = {}
        for name, cell in FUNCTION_CELLS.items():
            reference = next(c.source for c in source if c.id == cell)
            halves = ", ".join(f"{a}.astype(np.float16)" for a in names[name].split(", "))
            answers[cell] = (
                f"{reference}\n\n"
                f"def {name}({names[name]}, exact={name}):\n"
                f"    return exact({halves})"
            )
        result = run(source, answers, seed=seed)
        # At 2000, float16 has no decimals left.
        assert result.lost(points) == {"softmax-tests": 1}, "\n".join(result.reports.values())
        assert result.parts["softmax-tests"][-1].title == "softmax of large scores"
        assert not result.parts["softmax-tests"][-1].passed

    @pytest.mark.parametrize("seed", range(50))
    def test_no_false_failure_on_other_hidden_inputs(self, seed, source, points):
        answers = {"learner-id": f'learner_id = "learner {seed}"'}
        result = run(source, answers, seed=seed)
        assert result.scores == points, "\n".join(result.reports.values())

    def test_numbers_typed_to_three_decimals_are_accepted(self, source, points):
        for learner in ("ada", "grace", "alan", "emmy", "katherine"):
            q, k, v = two_keys(learner)
            typed = {
                "raw_scores": TARGETS["score_matrix"](q[None], k)[0],
                "scaled_scores": TARGETS["scaled_scores"](q[None], k)[0],
                "weights": TARGETS["attention"](q[None], k, np.eye(2))[0],
                "output": TARGETS["attention"](q[None], k, v)[0],
            }
            answer = "\n".join(f"{name} = {a.round(3).tolist()}" for name, a in typed.items())
            answers = {"learner-id": f"learner_id = {learner!r}", "by-hand": answer}
            assert run(source, answers).scores == points


class TestNothing:
    def test_released_stub_earns_nothing(self, released, source):
        stubs = {cell.id: cell.source for cell in released if is_solution(cell)}
        result = run(source, stubs)
        assert set(result.scores.values()) == {0.0}
        told = "".join(result.reports.values())
        for name in ("score_matrix", "softmax", "attention"):
            assert f"{name}: not written yet." in told
        for name in ("learner_id", "weights_shape", "favourites", "meaning", "raw_scores"):
            assert f"{name}: not there yet." in told

    @pytest.mark.parametrize(
        "result", ["0.0", "None", "np.nan", "True", "'x'", "np.zeros((3, 4))", "q", "..."]
    )
    def test_a_constant_result_earns_nothing(self, result, source):
        answers = {
            cell: f"{name} = lambda q=None, k=None, v=None: {result}"
            for name, cell in FUNCTION_CELLS.items()
        }
        answers["softmax"] = f"softmax = lambda q: {result}"
        scores = run(source, answers).scores
        assert [scores[f"{cell}-tests"] for cell in FUNCTION_CELLS.values()] == [0, 0, 0]

    @pytest.mark.parametrize("letter", "ABCD")
    def test_the_letter_alone_earns_nothing(self, letter, source):
        guess = f"favourites = [0, 0, 0]\nshare = -1\nrest = 0.0\nmeaning = {letter!r}"
        for learner in range(20):
            answers = {"learner-id": f'learner_id = "{learner}"', "reading": guess}
            assert run(source, answers).scores["reading-tests"] == 0

    @pytest.mark.parametrize("value", ["0", "...", "None", "[0, 0]", "[0.5, 0.5]", "'0'", "print"])
    def test_a_constant_answer_by_hand_earns_nothing(self, value, source):
        guess = "\n".join(
            f"{name} = {value}" for name in ("raw_scores", "scaled_scores", "weights", "output")
        )
        for learner in range(20):
            answers = {"learner-id": f'learner_id = "{learner}"', "by-hand": guess}
            assert run(source, answers).scores["by-hand-tests"] == 0

    def test_the_example_typed_in_earns_nothing(self, source):
        examples = {}
        for cell in ("shapes", "by-hand"):
            text = next(c.source for c in source if c.id == f"{cell}-question")
            examples[cell] = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
        scores = run(source, examples).scores
        assert scores["shapes-tests"] == 0
        assert scores["by-hand-tests"] == 0

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            ("", "learner_id: not there yet."),
            ("learner_id = 12345", "learner_id: expected a string, got 12345; put it in quotes."),
            ("learner_id = ' '", "learner_id: expected your id, got '' without a letter or digit;"),
            ('learner_id = "..."', "expected your id, got '...' without a letter or digit;"),
        ],
    )
    def test_without_an_id_the_personal_tasks_earn_nothing(self, answer, told, source):
        """Even when the answers are right for the id that is taken in its place."""
        for task in ("shapes", "reading", "by-hand"):
            reference = next(cell.source for cell in source if cell.id == task)
            answers = {
                "learner-id": 'learner_id = "nobody"',
                task: f"{reference}\ndel learner_id\n{answer}",
            }
            result = run(source, answers)
            assert result.scores[f"{task}-tests"] == 0
            assert told in " ".join(result.reports[f"{task}-tests"].split())

    @pytest.mark.parametrize(
        ("cell", "answer", "name"),
        [
            ("score-matrix", "from attn_lib.targets import score_matrix", "score_matrix"),
            ("softmax", "from attn_lib import softmax", "softmax"),
            ("softmax", "import attn_lib\nsoftmax = lambda s: 1 * attn_lib.softmax(s)", "softmax"),
            ("softmax", "from attn_lib.softmax import _softmax as softmax", "_softmax"),
            (
                "attention",
                "from attn_lib import scaled_dot_product_attention as attention",
                "scaled_dot_product_attention",
            ),
            (
                "attention",
                (
                    "import attn_lib\n\ndef attention(q, k, v):\n"
                    "    sdpa = attn_lib.scaled_dot_product_attention\n"
                    "    return sdpa(q, k, v, return_trace=True).output"
                ),
                "scaled_dot_product_attention",
            ),
        ],
    )
    def test_calling_attn_lib_earns_nothing(self, cell, answer, name, source):
        result = run(source, {cell: answer})
        assert result.scores[f"{cell}-tests"] == 0
        assert f"it calls attn_lib's own {name}." in result.reports[f"{cell}-tests"]


class TestMistakes:
    @pytest.mark.parametrize(
        "mistake", [m for m in catalogue() if m.target in FUNCTION_CELLS], ids=lambda m: m.id
    )
    def test_in_a_function_it_costs_its_points_and_is_named(self, mistake, source, points):
        cell = FUNCTION_CELLS[mistake.target]
        result = run(source, {cell: as_answer(mistake)})
        assert result.lost(points) == COSTS[mistake.id]
        assert result.mistakes(f"{cell}-tests") == [mistake.id]
        assert mistake.sentence in " ".join(result.reports[f"{cell}-tests"].split())

    @pytest.mark.parametrize("mistake", catalogue("attention"), ids=lambda m: m.id)
    def test_half_precision_does_not_hide_it(self, mistake, source):
        answer = as_answer(mistake) + (
            "\n\ndef attention(q, k, v, wrong=attention):\n"
            "    return wrong(q, k, v).astype(np.float16)"
        )
        score = run(source, {"attention": answer}).scores["attention-tests"]
        # Rounding to two digits is near the precision of float16 itself.
        assert score == 0 or mistake.id == "weights-rounded-midway"

    @pytest.mark.parametrize("mistake", catalogue("weight_at"), ids=lambda m: m.id)
    def test_in_reading_the_weights(self, mistake, source, points):
        for learner in range(20):
            wrong = float(mistake.wrong(weights_to_read(str(learner)), 2, 0))
            reading = next(cell.source for cell in source if cell.id == "reading")
            answers = {
                "learner-id": f'learner_id = "{learner}"',
                "reading": f"{reading}\nshare = {wrong:.2f}",
            }
            result = run(source, answers)
            assert result.lost(points) == COSTS[mistake.id]
            assert result.mistakes("reading-tests") == [mistake.id]

    @pytest.mark.parametrize(
        "mistake", [*catalogue("weights_shape"), *catalogue("output_shape")], ids=lambda m: m.id
    )
    def test_in_the_shapes(self, mistake, source, points):
        for learner in range(20):
            size = sizes(str(learner))
            lead = (size.B, size.H)
            shapes = [
                (*lead, size.n_q, size.d_k),
                (*lead, size.n_k, size.d_k),
                (*lead, size.n_k, size.d_v),
            ]
            shape_cell = next(cell.source for cell in source if cell.id == "shapes")
            wrong = mistake.wrong(*shapes).tolist()
            answers = {
                "learner-id": f'learner_id = "{learner}"',
                "shapes": f"{shape_cell}\n{mistake.target} = {tuple(wrong)}",
            }
            result = run(source, answers)
            assert result.lost(points) == COSTS[mistake.id]
            assert result.mistakes("shapes-tests") == [mistake.id]

    @pytest.mark.parametrize("learner", ["ada", "grace", "alan"])
    @pytest.mark.parametrize("name", ["raw_scores", "scaled_scores", "output"])
    def test_by_hand_each_costs_the_answer_it_is_in(self, name, learner, source, points):
        target = {"raw_scores": "score_matrix", "output": "attention"}.get(name, name)
        q, k, v = (array.astype(float) for array in two_keys(learner))
        args = (q[None], k, v) if target == "attention" else (q[None], k)
        right = TARGETS[target](*args)
        by_hand = next(cell.source for cell in source if cell.id == "by-hand")
        tried = 0
        for mistake, wrong_function in appearances(target):
            if mistake.id in INVISIBLE_BY_HAND:
                continue
            try:
                wrong = wrong_function(*args)
            except ValueError:
                continue
            if wrong.shape != right.shape:
                continue
            tried += 1
            answers = {
                "learner-id": f"learner_id = {learner!r}",
                "by-hand": f"{by_hand}\n{name} = {wrong[0].round(3).tolist()}",
            }
            result = run(source, answers)
            assert result.lost(points) == {"by-hand-tests": 1}, mistake.id
            # One mistake may look like another, which is then as likely a cause.
            named = result.mistakes("by-hand-tests")
            assert len(named) == 1
            same = {other.id: function for other, function in appearances(target)}
            assert np.allclose(same[named[0]](*args), wrong, atol=0.003)
        assert tried >= 2

    def test_every_mistake_has_a_price(self, source):
        targets = {
            target for cell in source for target in re.findall(r'target="(\w+)"', cell.source)
        }
        assert set(COSTS) == {m.id for target in targets for m, _ in appearances(target)}


#: Slips of a line or less: cell, answer, what it costs, and a piece of what is told.
SLIPS = {
    "k.T": (
        "score-matrix",
        "def score_matrix(q, k):\n    return q @ k.T",
        {"score-matrix-tests": 1, "attention-tests": 1},
        "it raised ValueError: matmul",
    ),
    "transpose of q": (
        "score-matrix",
        "def score_matrix(q, k):\n    return q.swapaxes(-1, -2) @ k",
        {"score-matrix-tests": 2, "attention-tests": 4},
        "it raised ValueError: matmul",
    ),
    "no transpose": (
        "score-matrix",
        "def score_matrix(q, k):\n    return q @ k",
        {"score-matrix-tests": 2, "attention-tests": 4},
        "it raised ValueError: matmul",
    ),
    "no return": (
        "score-matrix",
        "def score_matrix(q, k):\n    q @ k.swapaxes(-1, -2)",
        {"score-matrix-tests": 2, "attention-tests": 4},
        "got None. Is there a `return`",
    ),
    "arguments left out": (
        "score-matrix",
        "def score_matrix():\n    return 0",
        {"score-matrix-tests": 2, "attention-tests": 4},
        "it raised TypeError: score_matrix() takes 0 positional arguments but 2 were given",
    ),
    "a value in place of a function": (
        "score-matrix",
        "score_matrix = np.eye(3)",
        {"score-matrix-tests": 2, "attention-tests": 4},
        "score_matrix: expected a function, got ndarray.",
    ),
    "keepdims missing in the sum": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = np.exp(scores - scores.max(-1, keepdims=True))\n"
            "    return e / e.sum(-1)"
        ),
        {"softmax-tests": 3, "attention-tests": 3},
        "operands could not be broadcast together",
    ),
    "keepdims missing in the maximum": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = np.exp(scores - scores.max(-1))\n"
            "    return e / e.sum(-1, keepdims=True)"
        ),
        {"softmax-tests": 3, "attention-tests": 3},
        "operands could not be broadcast together",
    ),
    "first axis": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = np.exp(scores - scores.max(axis=0))\n"
            "    return e / e.sum(axis=0)"
        ),
        {"softmax-tests": 3, "attention-tests": 4},
        "softmax-over-queries",
    ),
    "second axis": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = np.exp(scores - scores.max(axis=1, keepdims=True))\n"
            "    return e / e.sum(axis=1, keepdims=True)"
        ),
        {"softmax-tests": 2, "attention-tests": 1},
        "axis 1 is out of bounds",
    ),
    "argument changed": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    scores -= scores.max(-1, keepdims=True)\n"
            "    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)"
        ),
        {"softmax-tests": 3},
        "it changed its argument number 1.",
    ),
    "maximum added": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = np.exp(scores + scores.max(-1, keepdims=True))\n"
            "    return e / e.sum(-1, keepdims=True)"
        ),
        {"softmax-tests": 1},
        "softmax-that-overflows",
    ),
    "powers of two": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = 2 ** (scores - scores.max(-1, keepdims=True))\n"
            "    return e / e.sum(-1, keepdims=True)"
        ),
        {"softmax-tests": 3, "attention-tests": 4},
        "entries differ",
    ),
    "logarithm of the softmax": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    s = scores - scores.max(-1, keepdims=True)\n"
            "    return s - np.log(np.exp(s).sum(-1, keepdims=True))"
        ),
        {"softmax-tests": 3, "attention-tests": 4},
        "entries differ",
    ),
    "rounded": (
        "softmax",
        (
            "def softmax(scores):\n"
            "    e = np.exp(scores - scores.max(-1, keepdims=True))\n"
            "    return (e / e.sum(-1, keepdims=True)).round(2)"
        ),
        {"softmax-tests": 3, "attention-tests": 4},
        "entries differ",
    ),
    "scale from the number of queries": (
        "attention",
        (
            "def attention(q, k, v):\n"
            "    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-2])) @ v"
        ),
        {"attention-tests": 4},
        "entries differ",
    ),
    "scale from the values": (
        "attention",
        (
            "def attention(q, k, v):\n"
            "    return softmax(score_matrix(q, k) / np.sqrt(v.shape[-1])) @ v"
        ),
        # The chapter's example has d_v = d_k; the hidden one has not.
        {"attention-tests": 4},
        "entries differ",
    ),
    "scale of the example": (
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(2)) @ v",
        {"attention-tests": 4},
        "entries differ",
    ),
    "the weights returned": (
        "attention",
        "def attention(q, k, v):\n    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1]))",
        {"attention-tests": 4},
        "expected shape (3, 2), got (3, 5).",
    ),
    "keys and values swapped": (
        "attention",
        (
            "def attention(q, k, v):\n"
            "    return softmax(score_matrix(q, v) / np.sqrt(q.shape[-1])) @ k"
        ),
        {"attention-tests": 4},
        "it raised ValueError",
    ),
    "keys for values": (
        "attention",
        (
            "def attention(q, k, v):\n"
            "    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1])) @ k"
        ),
        {"attention-tests": 4},
        "expected shape (3, 2), got (3, 4).",
    ),
    "the first sequence only": (
        "attention",
        (
            "def attention(q, k, v):\n"
            "    while q.ndim > 2:\n"
            "        q, k, v = q[0], k[0], v[0]\n"
            "    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1])) @ v"
        ),
        {"attention-tests": 1},
        "expected shape (2, 3, 6), got (3, 6).",
    ),
}


class TestSlips:
    @pytest.mark.parametrize("slip", SLIPS)
    def test_it_costs_its_points_and_is_told(self, slip, source, points):
        cell, answer, cost, told = SLIPS[slip]
        result = run(source, {cell: answer})
        assert result.lost(points) == cost
        assert told in " ".join(result.reports[f"{cell}-tests"].split())

    @pytest.mark.parametrize(
        ("cell", "line", "cost", "told"),
        [
            ("shapes", "output_shape = (B, H, n_q)", 1, "expected 4 numbers, got 3."),
            ("shapes", "output_shape = B * H * n_q * d_v", 1, "expected shape (4,), got () (a"),
            ("shapes", "weights_shape = 'B, H, n_q, n_k'", 1, "expected 4 numbers, got str."),
            ("reading", "favourites = W.argmax(axis=0)", 1, "expected 3 numbers, got 4."),
            ("reading", "favourites = [f + 1 for f in favourites]", 1, "(3 of 3 entries differ)"),
            ("reading", "rest = W[1].max()", 1, "rest: expected"),
            ("reading", "rest = 100 * rest", 1, "a share of a row lies between 0 and 1."),
            ("reading", "meaning = D = 4", 1, "expected one of the letters"),
            ("reading", 'meaning = "A"', 1, '"A" is not right. The query at i has d_k numbers'),
            ("reading", 'meaning = "B"', 1, '"B" is not right. Key i shows in column i'),
            ("reading", 'meaning = "C"', 1, '"C" is not right. The values come in after'),
            ("by-hand", "weights = [0.4, 0.4]", 1, "the two have to sum to 1."),
            ("by-hand", "weights = [weights]", 1, "expected shape (2,), got (1, 2)."),
            ("by-hand", "output = output[0]", 1, "expected shape (2,), got () (a single number)."),
            ("by-hand", "del raw_scores", 1, "raw_scores: not there yet."),
        ],
    )
    def test_in_an_answer_typed_in(self, cell, line, cost, told, source, points):
        reference = next(c.source for c in source if c.id == cell)
        result = run(source, {cell: f"{reference}\n{line}"})
        assert result.lost(points) == {f"{cell}-tests": cost}
        assert told in " ".join(result.reports[f"{cell}-tests"].split())

    def test_an_error_in_a_cell_is_told_without_a_traceback(self, source, points):
        result = run(source, {"softmax": "def softmax(scores:\n    return scores"})
        assert result.lost(points) == {"softmax-tests": 3, "attention-tests": 4}
        told = " ".join(result.reports["softmax-tests"].split())
        assert "softmax: not there yet. Fill in its cell above and run it." in told
        told = " ".join(result.reports["attention-tests"].split())
        assert "NameError: name 'softmax' is not defined" in told
