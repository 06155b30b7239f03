"""Directives that show an exercise's tasks, read from the table at the top of its notebook.

::

    :::{assignment} dot-products
    :::

    :::{assignments} dot-products variance-growth
    :::

The first shows one assignment: how long it takes, how to open it, and a line for each task. The
second shows a line for each assignment, and the sums. In a sentence, the role
``{exercise-time}`all``` or ``{exercise-time}`masking``` shows how long they take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from .downloads.addresses import binder_address, colab_address
from .reading_time import duration

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

#: What the columns of the table mean. Its words may be those of any language.
COLUMNS = ["task", "minutes", "points"]


class OverviewError(ValueError):
    """Raised if a notebook does not begin with a valid table of its tasks."""


@dataclass(frozen=True)
class Task:
    """A row of the table."""

    name: str
    minutes: int
    points: int


@dataclass(frozen=True)
class Overview:
    """The title and the tasks in the first cell of an exercise."""

    name: str
    title: str
    tasks: tuple[Task, ...]
    header: tuple[str, ...] = tuple(COLUMNS)  #: the words above the columns

    @property
    def minutes(self) -> int:
        """Minutes for all tasks together."""
        return sum(task.minutes for task in self.tasks)

    @property
    def points(self) -> int:
        """Points for all tasks together."""
        return sum(task.points for task in self.tasks)


def path_of(root: Path, name: str) -> Path:
    """Return the path of an assignment's learner notebook."""
    return root / "exercises" / name / f"{name}.ipynb"


def read_overview(path: Path) -> Overview:
    """Read the title and the tasks of an exercise.

    Raises
    ------
    OverviewError
        If there is no notebook, no table in its first cell, or a wrong sum in the table.
    """
    if not path.is_file():
        raise OverviewError(f"expected the notebook {path.name}, found none; run make exercises.")
    text = nbformat.read(path, as_version=4).cells[0].source
    return overview(path.stem, text)


def overview(name: str, text: str) -> Overview:
    r"""Read the title and the tasks from the text of a first cell.

    Raises
    ------
    OverviewError
        If there is no table of tasks, or a wrong sum in it.

    Examples
    --------
    >>> rows = ["# Sums", "| task | minutes | points |", "|---|---|---|", "| Add | 5 | 2 |"]
    >>> overview("sums", "\n".join([*rows, "| together | 5 | 2 |"])).tasks
    (Task(name='Add', minutes=5, points=2),)
    """
    lines = text.splitlines()
    titles = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in lines
        if line.lstrip().startswith("|")
    ]
    if not titles or len(rows) < 4 or len(rows[0]) != len(COLUMNS):
        raise OverviewError(
            f"{name}: expected a title and a table of {', '.join(COLUMNS)} in the first cell, with "
            "the sums in its last row."
        )
    try:
        *tasks, sums = (Task(row[0], int(row[1]), int(row[2])) for row in rows[2:])
    except (IndexError, ValueError):
        raise OverviewError(f"{name}: expected whole minutes and points in each row.") from None
    found = Overview(name, titles[0], tuple(tasks), tuple(rows[0]))
    if (sums.minutes, sums.points) != (found.minutes, found.points):
        raise OverviewError(
            f"{name}: expected the sums {found.minutes} and {found.points} in the last row, "
            f"got {sums.minutes} and {sums.points}."
        )
    return found


def _id(name: str) -> str:
    """Return the address of an assignment in its chapter, whatever the heading above it is."""
    return f"exercise-{name}"


def _rows(header: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    aligned = ["---", *("---:" for _ in header[1:])]
    return [f"| {' | '.join(map(str, row))} |" for row in (header, aligned, *rows)]


def describe(found: Overview, repository: str = "", branch: str = "main") -> list[str]:
    """Return the Markdown of one assignment.

    Parameters
    ----------
    found : Overview
    repository, branch : str
        The course's repository on GitHub, for links that open the notebook; empty for none.
    """
    sentences = (
        f"The exercise `{found.name}` has {len(found.tasks)} tasks. They take about "
        f"{found.minutes} minutes together and give {found.points} points. "
        "On a computer, open JupyterLab ([how](how-to-use.md#open-the-exercises)) and choose "
        f"`{found.name}`, then `{found.name}.ipynb`."
    )
    tasks = [[task.name, task.minutes, task.points] for task in found.tasks]
    return [
        sentences,
        "",
        "{.downloads}",
        _ways_to_open(found.name, repository, branch),
        "",
        *_rows(found.header, tasks),
    ]


def _ways_to_open(name: str, repository: str, branch: str) -> str:
    path = f"exercises/{name}/{name}.ipynb"
    file = f"{{download}}`{name}.ipynb </{path}>`"
    download = f"Or download {file}, which needs `attn_lib` installed."
    if not repository:
        return download
    colab, binder = (make(repository, branch, path) for make in (colab_address, binder_address))
    return (
        f"{download} Or open it [in Binder]({binder}), or [in Colab]({colab}), where a cell with "
        f'`%pip install "attn_lib @ git+{repository}@{branch}"` has to come first. Both forget '
        "your work, so download it when you stop."
    )


def compare(found: list[Overview], pages: set[str]) -> list[str]:
    """Return the Markdown of several assignments, each linked to its chapter if it has one."""
    rows = [
        [
            f"[{one.name}]({one.name}.md#{_id(one.name)})" if one.name in pages else one.name,
            len(one.tasks),
            one.minutes,
            one.points,
        ]
        for one in found
    ]
    sums = [
        "**together**",
        sum(len(one.tasks) for one in found),
        sum(one.minutes for one in found),
        sum(one.points for one in found),
    ]
    return _rows(["exercise", "tasks", "minutes", "points"], [*rows, sums])


class _Reading(SphinxDirective):
    """Base of both directives: reads notebooks and writes Markdown."""

    def read(self, name: str) -> Overview | None:
        path = path_of(Path(self.env.srcdir), name)
        self.env.note_dependency(str(path))
        try:
            return read_overview(path)
        except OverviewError as problem:
            logger.warning("%s", problem, location=self.get_location(), type="assignments")
            return None

    def write(self, markdown: list[str]) -> list[nodes.Node]:
        content = nodes.Element()
        lines = StringList(markdown, source=self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, content)
        return content.children


class AssignmentDirective(_Reading):
    """Read ``:::{assignment} name``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        found = self.read(self.arguments[0])
        config = self.config
        if not found:
            return []
        place = nodes.target("", "", ids=[_id(found.name)])
        described = describe(found, config.repository_address, config.repository_branch)
        return [place, *self.write(described)]


class AssignmentsDirective(_Reading):
    """Read ``:::{assignments} name name …``."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        found = [self.read(name) for name in self.arguments[0].split()]
        folder = Path(self.env.docname).parent.as_posix()
        pages = {Path(name).name for name in self.env.found_docs if name.startswith(f"{folder}/")}
        return self.write(compare([one for one in found if one], pages))


class ExerciseTimeRole(SphinxRole):
    """Read ``{exercise-time}`NAME```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        root = Path(self.env.srcdir)
        names = [path.stem for path in (root / "exercises").glob("*/*.ipynb")]
        minutes = 0
        for name in sorted(names) if self.text == "all" else [self.text]:
            path = path_of(root, name)
            self.env.note_dependency(str(path))
            try:
                minutes += read_overview(path).minutes
            except OverviewError as problem:
                logger.warning("%s", problem, location=self.get_location(), type="assignments")
        return [nodes.Text(duration(minutes))], []


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_directive("assignment", AssignmentDirective)
    app.add_directive("assignments", AssignmentsDirective)
    app.add_role("exercise-time", ExerciseTimeRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
