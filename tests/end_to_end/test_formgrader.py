"""nbgrader's formgrader shows a class graded by this course's grader, in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import expect

from grader.gradebook import reading
from grader.releasing.answer_files import write_class
from grader.releasing.release import generate
from tests.end_to_end.test_jupyterlab import PATIENCE, free_port, wait_until_it_answers

ASSIGNMENT = "dot-products"
STUDENTS = ("divides-by-d-k", "full-marks-loops", "half-done")
NEW = "rounds-midway"  # submitted, not graded yet

#: Appended to one learner's written answer. On formgrader's page a script would have the
#: instructor's rights and could run code on the server.
HOSTILE = "divides-by-d-k"
ACTIVE = """

<script>document.body.dataset.taken = "by a script"</script>
<img src="x" onerror="document.body.dataset.taken = 'by a picture'">
<svg onload="document.body.dataset.taken = 'by a drawing'"></svg>
<a href="javascript:document.body.dataset.taken = 'by a link'">click</a>
[click](javascript:document.body.dataset.taken='by-a-link')
"""

#: In a text cell of the same learner, above the tests. Without a sanitiser, it would cover the
#: window invisibly, and a click on it would give full marks for the tests named in it.
NAMED = """<div class="nbgrader_cell">
<span id="softmax-tests"></span><span id="attention-tests"></span>
<a class="full-credit modal-backdrop fade" href="#x">this lies over the window</a>
<input class="score tabbable"><b class="score tabbable" tabindex="1" name="in-words">b</b>
</div>

## softmax-tests
"""


@pytest.fixture(scope="module")
def course(root, tmp_path_factory) -> Path:
    """A copy of the course with a graded class of three and one ungraded submission."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(root / "nbgrader_config.py", folder)
    for room in ("solutions", "grader", "attn_lib"):
        shutil.copytree(root / room, folder / room)
    answers = folder / "answers"
    answers.mkdir()
    for student in (*STUDENTS, NEW):
        shutil.copy(root / f"tests/sample_class/answers/{student}.py", answers)
    with (answers / f"{HOSTILE}.py").open("a", encoding="utf-8") as file:
        file.write(ACTIVE)  # the written answer is the last one
    released = generate(ASSIGNMENT, folder / "released")
    write_class(released, answers, folder / "submitted")
    submitted = folder / "submitted" / HOSTILE / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    notebook = nbformat.read(submitted, as_version=4)
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(NAMED))
    nbformat.write(notebook, submitted)
    later = folder / "later"
    shutil.move(folder / "submitted" / NEW, later / NEW)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "grader", "grade", ASSIGNMENT),
            *("--submitted", folder / "submitted", "--into", folder),
        ],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shutil.move(later / NEW, folder / "submitted" / NEW)
    return folder


@pytest.fixture(scope="module")
def address(course, root):
    """The address of a running JupyterLab with nbgrader's formgrader."""
    log, port = course / "server.log", free_port()
    scripts = Path(sys.executable).parent
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        *(["--allow-root"] if os.getuid() == 0 else []),
    ]
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            [scripts / "jupyter-lab", *options],
            cwd=course,
            env=os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_it_answers(server, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


@pytest.fixture
def page(chromium):
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    yield page
    context.close()


def test_the_gradebook_shows_the_class(address, page, course):
    page.goto(f"{address}/formgrader/manage_submissions/{ASSIGNMENT}")
    row = page.locator("tr").filter(has_text="divides-by-d-k")
    expect(row).to_contain_text("14 / 20")
    expect(page.locator("tr").filter(has_text="full-marks-loops")).to_contain_text("18 / 20")
    expect(page.locator("tr").filter(has_text=NEW)).to_contain_text("needs autograding")
    page.screenshot(path=course / "class.png")


def test_a_written_answer_can_be_graded(address, page, course):
    page.goto(f"{address}/formgrader/gradebook/{ASSIGNMENT}/{ASSIGNMENT}")
    page.locator("a[href*='formgrader/submissions/']").first.click()
    scores = page.locator("input.score")
    expect(scores.first).to_be_visible()
    last = scores.last
    last.scroll_into_view_if_needed()
    last.fill("1.5")
    last.press("Tab")
    expect(page.locator("#statusmessage, .save-icon").first).to_be_attached()
    page.wait_for_timeout(1000)
    page.screenshot(path=course / "words.png")
    entries = reading.entries(reading.sqlite_url(course), ASSIGNMENT)
    assert [entry.scores.get("in-words") for entry in entries.values()].count(1.5) == 1


def open_hostile(address, page, course) -> None:
    """Open the hostile learner's submission in formgrader."""
    page.goto(f"{address}/formgrader/gradebook/{ASSIGNMENT}/{ASSIGNMENT}")
    with Gradebook(reading.sqlite_url(course)) as book:
        submission = book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, HOSTILE).id
    page.goto(f"{address}/formgrader/submissions/{submission}/?index=0")
    expect(page.locator("input.score").first).to_be_visible()


def scores_of_hostile(course) -> dict[str, float]:
    return reading.entries(reading.sqlite_url(course), ASSIGNMENT)[HOSTILE].scores


def test_text_cells_cannot_capture_clicks_or_scores(address, page, course):
    before = scores_of_hostile(course)
    open_hostile(address, page, course)
    text = page.locator(".rendered_html", has_text="this lies over the window")
    expect(text).to_be_visible()
    # Formgrader itself gives links a tabindex of -1.
    named = text.locator("[id], [class], [name], [tabindex]:not([tabindex='-1']), input")
    assert named.count() == 0
    tests = page.locator("input.score").evaluate_all("inputs => inputs.map(input => input.id)")
    assert set(before) | {"in-words"} == set(tests)
    assert page.locator(".score").count() == page.locator(".full-credit").count() == len(tests)

    saved = []
    page.on("request", lambda request: saved.append(request.url) if request.method == "PUT" else 0)
    for x, y in (
        (3, 450),
        (1290, 450),
        (650, 890),
    ):  # the margins, where the page has nothing to click
        page.mouse.click(x, y)
    text.locator("a").first.click()
    with page.expect_response(lambda response: response.request.method == "PUT"):
        page.locator("input.score#softmax-tests").fill("0.5")
        page.keyboard.press("Tab")
    assert len(saved) == 1
    assert scores_of_hostile(course) == before | {"softmax-tests": 0.5}


def test_active_content_of_an_answer_does_not_run(address, page, course):
    open_hostile(address, page, course)
    answer = page.locator(".nbgrader_cell", has_text="click").locator(".rendered_html")
    expect(answer).to_be_visible()
    assert answer.locator("script, svg, [onerror], [onload], a[href^=javascript]").count() == 0
    for link in answer.locator("a").all():
        link.click()
    page.wait_for_timeout(500)
    assert page.evaluate("document.body.dataset.taken") is None


def test_the_autograde_button_uses_the_judge(address, page, course):
    page.goto(f"{address}/formgrader/manage_submissions/{ASSIGNMENT}")
    row = page.locator("tr").filter(has_text=NEW)
    row.locator("td.autograde a").click()
    dialog = page.locator(".modal-dialog").filter(has_text=re.compile("[Ss]uccess"))
    expect(dialog).to_be_visible(timeout=PATIENCE * 1000)
    page.screenshot(path=course / "button.png")
    entry = reading.entries(reading.sqlite_url(course), ASSIGNMENT)[NEW]
    assert sum(entry.scores.values()) == 17
    graded = course / "autograded" / NEW / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert "weights-rounded-midway" in graded.read_text(encoding="utf-8")
