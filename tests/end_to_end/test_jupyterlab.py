"""An exercise works in a real JupyterLab, set up as by `make lab`, in a real browser."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from attn_lib.course.mistakes import catalogue

ASSIGNMENT = "dot-products"
# Timeouts for a machine with two busy cores, where a server, a page or a kernel starts slowly.
PATIENCE = 120  # seconds
SHORT_CELL_PATIENCE = 45  # seconds
# Renders every cell, even those that are scrolled out of sight.
LAB_SETTINGS = '{"windowingMode": "none"}'

SLIDER_CELL = """\
from attn_lib.figures.style import course_style, new_figure
from attn_lib.figures.widgets import Slider, explore


def draw(angle):
    with course_style():
        figure = new_figure(height=1.5)
    figure.text(0.1, 0.5, f"{angle} degrees")
    return figure, f"The angle is {angle} degrees."


explore(draw, angle=Slider([0, 90, 180], "Angle", unit="°", start=90))
"""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab server and its root folder."""

    folder: Path
    address: str
    token: str

    def open(self, page: Page, notebook: str) -> LabNotebook:
        """Open a notebook of the folder in the browser page and wait for its kernel."""
        page.set_default_timeout(PATIENCE * 1000)
        # A new workspace, because JupyterLab reopens the notebooks of the previous one.
        workspace = re.sub(r"\W", "-", notebook)
        page.goto(f"{self.address}/lab/workspaces/{workspace}/tree/{notebook}?token={self.token}")
        opened = LabNotebook(page, self.folder / notebook)
        opened.wait_for_kernel()
        return opened


class LabNotebook:
    """A notebook in JupyterLab, used by mouse and keyboard."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.path = path
        self.cell_ids = [cell.id for cell in nbformat.read(path, as_version=4).cells]

    def wait_for_kernel(self) -> None:
        # Without a kernel, "Run All Cells" does nothing and shows no error.
        status = self.page.get_by_text(re.compile(r"^Python 3.*\| Idle$"))
        expect(status).to_be_visible(timeout=PATIENCE * 1000)
        cells = self.page.locator(".jp-Notebook .jp-Cell")
        expect(cells).to_have_count(len(self.cell_ids), timeout=PATIENCE * 1000)

    def cell(self, cell_id: str):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(self.cell_ids.index(cell_id))

    def write(self, cell_id: str, text: str) -> None:
        """Click into a cell, select its text and type over it."""
        cell = self.cell(cell_id)
        if "jp-MarkdownCell" in cell.get_attribute("class"):
            cell.dblclick()
        editor = cell.locator(".cm-content")
        editor.click()
        expect(editor).to_be_focused()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def run_all(self) -> None:
        """Choose Run All Cells and wait until all have run or one has failed."""
        self.choose("Run", "Run All Cells")
        # Wait for the first cell: before it is done, the page looks as if nothing had started.
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt")
        first_is_done = re.compile(r"\[\d+\]:")
        try:
            expect(prompts.first).to_have_text(first_is_done, timeout=SHORT_CELL_PATIENCE * 1000)
        except AssertionError:
            # Rarely, JupyterLab loses its connection to a newly started kernel, and the first
            # cell stays at [*]. Like a person would, restart the kernel then.
            self.choose("Kernel", "Restart Kernel and Run All Cells…")
            self.page.locator(".jp-Dialog").get_by_role(
                "button", name="Confirm Kernel Restart"
            ).click()
            expect(prompts.first).to_have_text(first_is_done, timeout=PATIENCE * 1000)
        expect(prompts.filter(has_text="[*]")).to_have_count(0, timeout=PATIENCE * 1000)

    def choose(self, menu: str, entry: str) -> None:
        """Click an entry of the menu bar."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=entry, exact=True).click()

    def complaints(self):
        """Return the outputs that are errors or warnings; JupyterLab marks both the same way."""
        return self.page.locator("[data-mime-type='application/vnd.jupyter.stderr']")

    def validate(self) -> str:
        """Press nbgrader's Validate button, close its dialog and return the dialog's text."""
        toolbar = self.page.locator(".jp-NotebookPanel-toolbar")
        toolbar.get_by_text("Validate", exact=True).click()
        dialog = self.page.locator(".jp-Dialog").filter(has_text="Validation Results")
        expect(dialog).to_be_visible(timeout=PATIENCE * 1000)
        text = " ".join(dialog.inner_text().split())
        self.screenshot()
        dialog.get_by_role("button", name="Ok").click()
        expect(dialog).to_have_count(0)
        return text

    def saved_sources(self) -> dict[str, str]:
        """Return the sources of the cells in the saved file, by cell id."""
        return {cell.id: cell.source for cell in nbformat.read(self.path, as_version=4).cells}

    def screenshot(self) -> None:
        """Save a screenshot next to the notebook."""
        self.page.screenshot(path=self.path.with_suffix(".png"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_answers(server: subprocess.Popen, address: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-4000:]}")


@pytest.fixture(scope="module")
def lab(chromium, root, tmp_path_factory):
    """JupyterLab on a folder without notebooks, with separate settings and runtime files."""
    home = tmp_path_factory.mktemp("jupyter")
    folder = tmp_path_factory.mktemp("work")
    (folder / "book/book").mkdir(parents=True)  # two pages in place of the built book
    for name in ("index", "variance-growth"):
        (folder / f"book/book/{name}.html").write_text(f"<title>The page {name}</title>")
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(LAB_SETTINGS, encoding="utf-8")
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    port, token = free_port(), secrets.token_hex(16)
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
    ]
    log = home / "server.log"
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            [root / "tools" / "lab", folder, *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until_it_answers(server, address, log)
        yield Lab(folder, address, token)
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


@pytest.fixture
def page(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture
def exercise(lab, root, page, request) -> LabNotebook:
    """The released exercise, opened from a folder that only this test uses."""
    folder = request.node.name
    shutil.copytree(root / "exercises" / ASSIGNMENT, lab.folder / folder)
    return lab.open(page, f"{folder}/{ASSIGNMENT}.ipynb")


@pytest.fixture(scope="module")
def reference_answers(root) -> dict[str, str]:
    """The sources of the answer cells in the instructor's notebook, by cell id."""
    notebook = nbformat.read(root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    return {
        cell.id: cell.source
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def test_reference_answers_pass_the_validate_button(exercise, reference_answers):
    for cell_id, answer in reference_answers.items():
        exercise.write(cell_id, answer)
    exercise.run_all()
    expect(exercise.complaints()).to_have_count(0)
    # Tasks 4 to 6 ask for typed values, and task 7 for words.
    assert exercise.validate() == (
        "Validation Results The tests that can run here pass. They looked at 9 of 20 points. Of 9 "
        "more they see only that answers are filled in. 2 points are for answers in words, which a "
        "person reads. More tests run when your work is graded. Ok"
    )
    saved = exercise.saved_sources()
    assert {cell_id: saved[cell_id] for cell_id in reference_answers} == reference_answers


def test_a_mistake_is_named_in_the_cell_and_in_the_dialog(exercise, page, reference_answers):
    right = reference_answers["attention"]
    wrong = right.replace("/ np.sqrt(q.shape[-1])", "/ q.shape[-1]")
    assert wrong != right
    for cell_id, answer in (reference_answers | {"attention": wrong}).items():
        exercise.write(cell_id, answer)
    exercise.run_all()
    (mistake,) = (m for m in catalogue("attention") if m.id == "divide-by-d_k")
    expect(exercise.complaints()).to_have_count(1)
    tests = exercise.cell("attention-tests")
    # The lines are broken where the text is 80 columns wide.
    said = " ".join(tests.locator(".jp-OutputArea").inner_text().split())
    assert mistake.sentence in said
    with page.context.expect_page() as opened:
        tests.get_by_role("link", name=mistake.section, exact=True).click()
    assert opened.value.url.endswith(f"/book/{mistake.section.replace('#', '.html#')}")
    expect(opened.value).to_have_title("The page variance-growth")
    opened.value.close()
    said = exercise.validate()
    assert mistake.sentence in said
    assert f"see the book, {mistake.section}" in said
    assert "Success" not in said


def test_the_book_is_for_those_who_are_logged_in(lab):
    page = f"{lab.address}/attn_lib/book/book/index.html"
    with urllib.request.urlopen(f"{page}?token={lab.token}", timeout=PATIENCE) as answer:
        assert answer.read() == b"<title>The page index</title>"
    with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
        assert "/login?" in answer.url


def test_slider_moves_its_picture_by_keyboard(lab, page):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SLIDER_CELL)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / "slider.ipynb")
    opened = lab.open(page, "slider.ipynb")
    opened.run_all()
    output = page.locator(".jp-OutputArea-output")
    expect(output.get_by_text("The angle is 90 degrees.")).to_be_visible()
    before = picture_bytes(output)

    output.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")

    expect(output.get_by_text("The angle is 180 degrees.")).to_be_visible()
    assert picture_bytes(output) != before
    opened.screenshot()


def picture_bytes(output) -> list[int]:
    """Return the bytes of the only picture in a cell's output."""
    return output.locator("img").evaluate(
        "async image => [...new Uint8Array(await (await fetch(image.src)).arrayBuffer())]"
    )
