"""Fixtures for tests in several folders: the project's root, a browser, the built book."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from book._ext.executing.warm_kernels import WarmKernels
from tests import side_by_side
from tests.one_sandbox import OneSandbox
from tests.warm_nbgrader import WarmNbgrader
from tools.chromium import FLAGS

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Build:
    """One run of jupyter-book."""

    status: int
    output: str
    html: Path

    def tail(self) -> str:
        return self.output[-4000:]


def run_command(arguments: list[str], output: Path) -> int:
    """Run ``jupyter-book``, write what it prints into a file and return its status."""
    command = Path(sys.executable).with_name("jupyter-book")
    with output.open("w") as file:
        run = subprocess.run(
            [command, *arguments],
            stdout=file,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
    return run.returncode


def run_jupyter_book(source: Path, output: Path, *options: str, run=run_command) -> Build:
    """Build the book in `source` into the folder `output`, with warnings as errors."""
    strict = ["-W", "--keep-going", "-n"]
    printed = output / "printed.txt"
    arguments = ["build", str(source), *strict, "--path-output", str(output), *options]
    status = run(arguments, printed)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed.read_text(encoding="utf-8"))
    return Build(status, plain, output / "_build" / "html")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for quick work on pages."""
    parser.addoption(
        "--built-book",
        type=Path,
        metavar="FOLDER",
        help="test the pages in this folder, as in _build/html, and build no book",
    )


@pytest.hookimpl(optionalhook=True)  # pytest-xdist is optional
def pytest_xdist_auto_num_workers() -> int | None:
    """Return the number of processes for `--numprocesses=auto`, unless a variable sets it."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return side_by_side.processes()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected: what is made then lasts until the end.

    Later collect it less often than Python does by default, because figures, syntax trees and
    notebooks are made of many small objects: looking through them took a twentieth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


# Outermost, because it must add marks before pytest-xdist reads them, and sort after pytest has
# grouped tests by the parameters of their fixtures.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Set which tests run in the same process, and which run first."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if group := side_by_side.group_of(item.nodeid, parameters):
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    items.sort(key=lambda item: side_by_side.rank(item.nodeid))


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture(scope="session")
def book_build(tmp_path_factory, worker_id) -> Build:
    """The course's book, built once into an empty folder; the build may have failed.

    If several processes run tests, the first one builds it and the others wait.
    """
    folder = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        folder = folder.parent
    record = folder / "book-build.json"
    with FileLock(folder / "book-build.lock"):
        if not record.exists():
            (folder / "book").mkdir()
            build = run_jupyter_book(ROOT, folder / "book")
            record.write_text(json.dumps([build.status, build.output]), encoding="utf-8")
    status, output = json.loads(record.read_text(encoding="utf-8"))
    return Build(status, output, folder / "book" / "_build" / "html")


@pytest.fixture(scope="session")
def built_book(request) -> Path:
    """The folder with the book's HTML."""
    if built := request.config.getoption("--built-book"):
        return built.resolve(strict=True)
    book_build = request.getfixturevalue("book_build")
    if book_build.status:
        pytest.fail(f"The book does not build:\n{book_build.tail()}")
    return book_build.html


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of the system's Chromium."""
    executable = shutil.which("chromium")
    if executable is None:
        reason = "There is no Chromium here (Debian: apt-get install chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return executable


@pytest.fixture(scope="session")
def browser_path(request) -> str:
    """The path of the browser for tests of pages.

    It is Chromium's headless shell, where there is one: it starts sooner, and takes a tenth less
    time for a page.
    """
    return shutil.which("chromium-headless-shell") or request.getfixturevalue("chromium_path")


@contextlib.contextmanager
def running_loop(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Let asyncio take `loop` for the one that runs in this thread."""
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(before)


@pytest.fixture(scope="session")
def browser(browser_path):
    """The one browser of this process, with the event loop that Playwright keeps running for it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        loop = asyncio.get_running_loop()
        # Outside of the modules that use the browser, asyncio.run has to work.
        with running_loop(None):
            yield browser, loop
        browser.close()


@pytest.fixture(scope="module")
def chromium(browser):
    """A Playwright browser, launched from the system's Chromium."""
    launched, loop = browser
    with running_loop(loop):
        yield launched
        for context in launched.contexts:
            context.close()


@pytest.fixture(scope="session")
def warm_kernels() -> Iterator[WarmKernels]:
    """A process that has loaded what takes long in a kernel."""
    kernels = WarmKernels()
    yield kernels
    kernels.close()


@pytest.fixture(scope="module")
def kernels_start_warm(warm_kernels) -> Iterator[None]:
    """Let all kernels that this process starts be forks of that process."""
    with warm_kernels.replace_others():
        yield


@pytest.fixture(scope="session")
def warm_nbgrader() -> Iterator[WarmNbgrader]:
    """A process that has nbgrader loaded, and forks for each command."""
    commands = WarmNbgrader()
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def one_sandbox() -> Iterator[OneSandbox]:
    """The warm processes that runs may share."""
    sandbox = OneSandbox()
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module")
def runs_share_a_sandbox(one_sandbox) -> Iterator[None]:
    """Let all runs that grade in this process use one warm process."""
    with one_sandbox.replace_others():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape names in other encodings that a test printed: a worker can send UTF-8 only."""
    report = yield
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode())
        for title, text in report.sections
    ]
    return report


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of an empty database of PostgreSQL, on a server for these tests alone."""
    # Not at the top: this imports nbgrader, for a second, before pytest starts its processes.
    from tests.grader.gradebook.server import postgresql_server

    with postgresql_server() as address:
        yield address
