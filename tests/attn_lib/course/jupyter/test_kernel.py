"""What a kernel of JupyterLab shows for answers and errors, in a real kernel without a browser."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from attn_lib.course.mistakes import catalogue

RIGHT = "def score_matrix(q, k):\n    return q @ np.swapaxes(k, -1, -2)"
WRONG = "def score_matrix(q, k):\n    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])"
TEST = """\
from attn_lib.course.checks import Checks
check = Checks(globals())
check.part("scores", points=2)
check.call("score_matrix", np.eye(2), np.ones((3, 2)), target="score_matrix")
check.finish()
"""
PATIENCE = 120  # seconds
CHANGED = "In the saved notebook, the cell of score_matrix differs from what you last ran."


@dataclass
class Notebook:
    """A notebook's file, and the kernel that runs its cells as JupyterLab would."""

    path: Path
    server_file: Path
    client: object

    def run(self, source: str) -> list:
        outputs = []
        self.client.execute_interactive(
            source, output_hook=outputs.append, timeout=PATIENCE, allow_stdin=False
        )
        shown = ("stream", "display_data", "execute_result", "error")
        return [out["content"] for out in outputs if out["msg_type"] in shown]

    def save(self, *sources: str, after: float = 10.0) -> None:
        """Save cells and headings into the file, some seconds after (or before) what is run now."""
        new = {True: nbformat.v4.new_markdown_cell, False: nbformat.v4.new_code_cell}
        cells = [new[source.startswith("## ")](source) for source in sources]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), self.path)
        at = time.time() + after
        os.utime(self.path, (at, at))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    (folder / "runtime").mkdir()
    (folder / "book/book").mkdir(parents=True)
    for page in {mistake.section.partition("#")[0] for mistake in catalogue()} | {"index"}:
        (folder / f"book/book/{page}.html").write_text("<title>page</title>", encoding="utf-8")
    environment = os.environ | {
        "ATTN_LIB_BOOK": str(folder / "book"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JPY_SESSION_NAME": str(folder / "work.ipynb"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    # The launcher of a kernel names this process as the one that started it.
    server_file = folder / f"runtime/jpserver-{os.getpid()}.json"
    manager, client = start_new_kernel(env=environment, cwd=str(folder))
    try:
        yield Notebook(folder / "work.ipynb", server_file, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(started):
    """The notebook, opened in a server, with NumPy and our errors, and nothing else defined."""
    about = {"base_url": "/hub/"}
    started.server_file.write_text(json.dumps(about), encoding="utf-8")
    started.path.unlink(missing_ok=True)
    started.run(
        "%reset -f\nimport numpy as np\n"
        "from attn_lib.course.jupyter import put_errors_into_words\nput_errors_into_words()"
    )
    return started


def html_of(outputs: list) -> str:
    return "".join(out["data"].get("text/html", "") for out in outputs if "data" in out)


def test_what_passes_is_quiet_and_has_its_points(notebook):
    notebook.run(RIGHT)
    (shown,) = notebook.run(TEST)
    assert shown["data"]["text/plain"] == "scores: ok, worth 2 points"
    assert "scores: ok, worth 2 points" in shown["data"]["text/html"]
    assert "error-color" not in shown["data"]["text/html"]


def test_a_failure_has_colour_and_a_link_to_the_section(notebook):
    notebook.run(WRONG)
    shown, error = notebook.run(TEST)
    (mistake,) = (m for m in catalogue("score_matrix") if m.id in error["evalue"])
    html = shown["data"]["text/html"]
    assert re.search(r'<span style="[^"]*error-color[^"]*">scores: not yet</span>', html)
    page, _, heading = mistake.section.partition("#")
    address = re.escape(f"/hub/attn_lib/book/book/{page}.html#{heading}")
    assert re.search(rf'<a href="{address}"[^>]*>{re.escape(mistake.section)}</a>\)', html)
    assert shown["data"]["text/plain"] == error["evalue"]
    assert error["ename"] == "ChecksFailed"
    assert error["traceback"] == ["1 of 1 parts not right yet."]


def test_what_a_learner_wrote_is_no_markup(notebook):
    notebook.run("def score_matrix(q, k):\n    raise ValueError('<b>bold</b>')")
    shown, _ = notebook.run(TEST)
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown["data"]["text/html"]
    assert "<b>bold" not in shown["data"]["text/html"]


def test_without_a_server_there_is_plain_text(notebook):
    """As where nbclient executes a notebook."""
    notebook.server_file.unlink()
    notebook.run(RIGHT)
    assert notebook.run(TEST) == [{"name": "stdout", "text": "scores: ok, worth 2 points\n"}]
    notebook.run(WRONG)
    notebook.save(RIGHT)
    (error,) = notebook.run(TEST)
    assert error["traceback"] == error["evalue"].splitlines()
    assert CHANGED not in error["evalue"]


@pytest.mark.parametrize("ran", [WRONG, RIGHT])
def test_a_cell_that_was_changed_and_saved_after_its_run(notebook, ran):
    notebook.run(ran)
    notebook.save(RIGHT + " * 2")
    assert CHANGED in html_of(notebook.run(TEST))
    notebook.run(RIGHT + " * 2")
    assert CHANGED not in html_of(notebook.run(TEST))


@pytest.mark.parametrize(
    ("saved", "after"),
    [
        ([RIGHT], 10),  # nothing differs but the comment of the cell that ran
        ([WRONG], -3600),  # saved before the run, which may be of what is not saved yet
        ([WRONG, RIGHT], 10),  # two cells define it
        (["x = 1"], 10),  # none does
        ([TEST], 10),
    ],
)
def test_nothing_is_said_where_nothing_is_known(notebook, saved, after):
    notebook.run(RIGHT + "  # so")
    notebook.save(*saved, after=after)
    (shown,) = notebook.run(TEST)
    assert shown["data"]["text/plain"] == "scores: ok, worth 2 points"


def test_nothing_is_said_of_a_notebook_that_was_renamed(notebook):
    notebook.run(RIGHT)
    notebook.save(WRONG)
    notebook.path.rename(notebook.path.with_name("other.ipynb"))
    (shown,) = notebook.run(TEST)
    assert shown["data"]["text/plain"] == "scores: ok, worth 2 points"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "# learner_id = ...\nlearner_id = ada",
            "NameError: name 'ada' is not defined\nPut your id in quotes: learner_id = \"ada\"",
        ),
        (
            "learner_id = ada lovelace",
            'SyntaxError: invalid syntax\nPut your id in quotes: learner_id = "ada lovelace"',
        ),
        (
            "from attn_lib.course.personal.ids import checked_id\nchecked_id(7)",
            (
                "TypeError: learner_id: expected a string, got 7; put it in quotes.\n"
                'Put it right in the cell near the top, as in learner_id = "ada", and '
                "run that cell first."
            ),
        ),
        (
            "print(learner_id)",
            (
                "NameError: name 'learner_id' is not defined\n"
                "Put your id into its cell near the top, in quotes, and run that cell: "
                'learner_id = "ada"'
            ),
        ),
    ],
)
def test_an_error_of_the_id_is_put_into_words(notebook, source, told):
    (error,) = notebook.run(source)
    assert error["traceback"] == told.splitlines()


def test_a_name_whose_cell_was_not_run(notebook):
    notebook.save("## 2. Scores\n\nWrite.", RIGHT, "score_matrix(1, 2)")
    (error,) = notebook.run("score_matrix(1, 2)")
    assert error["traceback"] == [
        "NameError: name 'score_matrix' is not defined",
        (
            'Run the cell that defines score_matrix, below "2. Scores", then this one again. '
            "If that cell shows an error, put it right first."
        ),
    ]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("print(y)", "NameError"),
        ("learner_id = 'ada'\nprint(ada)", "NameError"),
        ("learner_id = 'ada'\nx = 1 2", "SyntaxError"),
        ("int('x')", "ValueError"),
        ("1 + 'x'", "TypeError"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_other_errors_keep_their_traceback(notebook, source, name):
    (error,) = notebook.run(source)
    assert error["ename"] == name
    text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
    assert "Cell In[" in text
    assert text.rstrip().splitlines()[-1].startswith(f"{name}: ")


def test_an_error_while_code_runs_shows_where_syntax_is_wrong(notebook):
    (error,) = notebook.run("def wrong():\n    eval('1 2')\nwrong()")
    text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
    assert "line 2 in wrong" in text
