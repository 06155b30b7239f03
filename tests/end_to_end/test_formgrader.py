"""nbgrader's formgrader shows a class graded by this course's grader, in a real browser."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import expect

from grader.gradebook import reading
from grader.releasing.answer_files import write_class
from grader.releasing.release import generate
from tests.end_to_end.test_jupyterlab import PATIENCE, free_port, wait_until_it_answers
from tests.grader.corpus.markup import MARKUP, foreign
from tests.grader.corpus.texts import TOO_MUCH

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

WORST = "half-done"


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
    notebook.cells[1:1] = map(nbformat.v4.new_markdown_cell, [NAMED, *MARKUP.values()])
    nbformat.write(notebook, submitted)
    for student, note in ((NEW, b"yesterday"), (WORST, b"\xff")):  # which are no times
        note_of = folder / "submitted" / student / ASSIGNMENT / "timestamp.txt"
        note_of.write_bytes(note)
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
def server(course):
    """A running JupyterLab with nbgrader's formgrader: its address and its process."""
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
        yield f"http://127.0.0.1:{port}", server
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def address(server) -> str:
    return server[0]


@pytest.fixture
def page(chromium, address):
    """A browser page that asks no other host, and whose own scripts its policy allows."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    asked, refused = set(), []
    page.on("request", lambda request: asked.add(request.url))
    page.on("console", lambda message: refused.append(message.text))
    page.on("pageerror", lambda error: refused.append(str(error)))
    yield page
    context.close()
    assert {url for url in asked if not url.startswith((address, "data:"))} == set()
    assert [text for text in refused if "Policy" in text or "Error" in text] == []


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


def path_of(student: str, course) -> str:
    """Return the path of a student's submission in formgrader."""
    with Gradebook(reading.sqlite_url(course)) as book:
        submission = book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, student).id
    return f"/formgrader/submissions/{submission}/?index=0"


def open_hostile(address, page, course) -> None:
    """Open the hostile learner's submission in formgrader."""
    page.goto(f"{address}/formgrader/gradebook/{ASSIGNMENT}/{ASSIGNMENT}")
    page.goto(f"{address}{path_of(HOSTILE, course)}")
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


def test_markup_of_learners_covers_and_triggers_nothing(address, page, course):
    before = scores_of_hostile(course)
    open_hostile(address, page, course)
    parts = page.locator(".rendered_html")
    assert parts.count() > len(MARKUP)
    html = parts.evaluate_all("parts => parts.map(part => part.innerHTML)")
    left = [name for part in html for name in foreign(part, links=False)]
    assert set(left) == {"a tabindex"}  # which formgrader itself gives to links

    saved = []
    page.on("request", lambda request: saved.append(request.url) if request.method == "PUT" else 0)
    parts.evaluate_all(
        "parts => parts.forEach(part => part.querySelectorAll('*').forEach(each => each.click?.()))"
    )
    covered = page.locator("input.score, .full-credit, .no-credit, textarea.comment").evaluate_all(
        """fields => fields.filter(field => {
            field.scrollIntoView({block: "center"});
            const box = field.getBoundingClientRect();
            const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            return box.width && top !== field;
        }).map(field => field.outerHTML)"""
    )
    assert covered == []
    # A click at any of these points, for instance to leave a field, gives no points.
    for x in (5, 200, 650, 1295):
        page.mouse.click(x, 895)
    assert page.url.startswith(f"{address}/formgrader/submissions/")
    with page.expect_response(lambda response: response.request.method == "PUT"):
        page.locator("input.score#attention-tests").fill("1.25")
        page.keyboard.press("Tab")
    assert len(saved) == 1
    assert scores_of_hostile(course) == before | {"attention-tests": 1.25}


def peaks(process: int) -> dict[int, int]:
    """Return the most memory, in MiB, that a process and those below it have used, by process."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, KeyError):  # it has ended, or is a thread of the kernel
            lines = (
                line.partition(":\t") for line in path.read_text("utf-8", "replace").split("\n")
            )
            status = {name: value for name, _, value in lines}
            parents[int(status["Pid"])] = int(status["PPid"])
            used[int(status["Pid"])] = int(status["VmHWM"].split()[0]) // 1024

    def is_below(pid: int) -> bool:
        return pid == process or (pid in parents and is_below(parents[pid]))

    return {pid: mib for pid, mib in used.items() if is_below(pid)}


@pytest.fixture
def worst(course) -> str:
    """The path in formgrader of a submission with a text that takes as long as texts may."""
    graded = course / "autograded" / WORST / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    notebook = nbformat.read(graded, as_version=4)
    missing = nbformat.v4.new_markdown_cell("![a](attachment:lost.png)")
    notebook.cells += [TOO_MUCH["inline formulas"](), missing]
    graded.chmod(0o644)
    nbformat.write(notebook, graded)
    return path_of(WORST, course)


def test_others_are_answered_while_the_worst_page_is_made(server, address, course, worst):
    at = urlsplit(address)
    long, short = (
        http.client.HTTPConnection(at.hostname, at.port, timeout=PATIENCE) for _ in range(2)
    )
    long.request("GET", worst)
    for path in ("/formgrader/api/status", path_of(STUDENTS[1], course)):
        short.request("GET", path)
        answer = short.getresponse()
        assert (answer.status, len(answer.read()) > 10) == (200, True)
        if path.endswith("status"):
            assert select.select([long.sock], [], [], 0)[0] == [], "the other one had to wait"
    answer = long.getresponse()
    page = answer.read().decode("utf-8")
    assert answer.status == 200
    assert page.count("[shown as it was typed: it took more than") == 1
    assert "[the picture lost.png is missing]" in page
    assert 'id="in-words"' in page
    found = peaks(server[1].pid)
    assert len(found) > 2  # the server, the one that forks workers, and workers
    assert max(found.values()) < 400


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


def test_a_configuration_among_learners_files_is_not_executed(address, page, course):
    """A link to formgrader can name any folder, whose configuration nbgrader would execute."""
    folder = course / "submitted" / HOSTILE
    (folder / "nbgrader_config.py").write_text(f"open({str(course / 'done')!r}, 'w').close()")
    (course / "link").symlink_to(folder)
    for path in (folder, "submitted/" + HOSTILE, course / "link"):
        answer = page.request.get(f"{address}/formgrader/", params={"path": str(path)})
        assert answer.status == 403
    assert not (course / "done").exists()
    # The course itself can be opened in this way, and its pages stay safe.
    answer = page.request.get(f"{address}/formgrader/", params={"path": str(course)})
    assert answer.status == 200
    open_hostile(address, page, course)
    expect(page.locator(".rendered_html", has_text="this lies over the window")).to_be_visible()
    assert page.locator(".score").count() == page.locator(".full-credit").count()
