"""One student's feedback as HTML: nbgrader's page, without hidden tests and active content.

``nbgrader generate_feedback`` uses `FeedbackExporter` and `ClearHiddenTests` too: see
`nbgrader_pages` and nbgrader_config.py.
"""

from __future__ import annotations

import functools
import html
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import nbgrader
from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from grader.reporting import right_numbers
from grader.reporting.exporter import PageExporter
from grader.reporting.rendering import limited
from grader.reporting.sanitizer import sanitised

#: Forbids the browser to execute scripts and to load anything from another host.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)

#: The name of the meta element with the digest of what a page was made from; see `digest_of`.
MARK = "made-from"

#: An entry in the list at the top of the page. nbgrader names only the kind of cell in it.
_LISTED = re.compile(r'(<li><a href="#([\w-]+)">(?:Test cell|Written response))</a>')

FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"


class FeedbackExporter(PageExporter):
    """Makes nbconvert's HTML without active content and without requests to other hosts."""

    def framed(self, page: str, resources: dict[str, Any], remarks: list[str]) -> str:
        """Return the page without active content, with remarks.

        Raises
        ------
        grader.reporting.sanitizer.TooDeep
            If the tags of the page are nested too deeply.
        """
        head, begin, body = page.partition("<body")
        body = re.sub(r"(?is)</html>\s*\Z", "", body.partition(">")[2])
        body = _LISTED.sub(r"\1 \2</a>", body)
        # The style sheet of Bootstrap refers to font files that do not come with the page.
        head = re.sub(r"@font-face\s*\{[^}]*\}", "", head)
        policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        head = head.replace("<html>", '<html lang="en">', 1)
        head = head.replace("<head>", f"<head>\n{policy}", 1)
        if made_from := resources["nbgrader"].get("made_from"):
            head = head.replace("<head>", f'<head>\n<meta name="{MARK}" content="{made_from}">', 1)
        remarks = [*resources["nbgrader"].get("remarks", ()), *remarks]
        return f"{head}{begin}>\n{_remarks(remarks)}{sanitised(body)}</body>\n</html>\n"


class ClearHiddenTests(preprocessors.ClearHiddenTests):
    """Removes hidden tests, from test cells only.

    nbgrader's own class raises an error if another cell contains the mark of hidden tests. A
    learner may have written it into an answer.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the cell without its hidden lines if it is a test cell."""
        if is_grade(cell) and not is_solution(cell):
            return super().preprocess_cell(cell, resources, cell_index)
        return cell, resources


def feedback_job(job: Mapping[str, Any]) -> str:
    """Return the page for one graded notebook. This is executed in a worker.

    Parameters
    ----------
    job : mapping
        ``assignment``; ``notebook``: the graded notebook's file; ``scores``, ``points`` and
        ``comments`` by cell; ``late_penalty``; ``remarks``; ``without_expected``: whether to leave
        out which numbers are right; ``digest``: of what the page is made from; ``settings``: what
        `settings_of` returned; ``plain``: whether to show every text as it was typed.

    Raises
    ------
    grader.reporting.sanitizer.TooDeep
        If the tags of the page are nested too deeply.
    MemoryError
        If it takes too much memory.
    """
    penalty = job["late_penalty"]
    about = {
        "notebook": job["assignment"],
        "assignment": job["assignment"],
        "score": sum(job["scores"].values()) - penalty,
        "max_score": sum(job["points"].values()),
        "late_penalty": penalty,
        "remarks": job["remarks"],
        "made_from": job["digest"],
    }
    with limited():
        notebook = nbformat.v4.reads(job["notebook"])
        for cell in notebook.cells:
            _put_grades(cell, job)
        if job.get("without_expected", False):
            about["remarks"] = [*about["remarks"], *right_numbers.leave_out(notebook)]
        exporter = feedback_exporter(job["settings"], job.get("plain", False))
        page, _ = exporter.from_notebook_node(notebook, {"nbgrader": about})
    return page


def digest_of(page: Path) -> str:
    """Return the digest in a page, or "" if there is no page or no digest in it."""
    if not page.is_file():
        return ""
    with page.open(encoding="utf-8", errors="replace") as file:
        found = re.search(rf'<meta name="{MARK}" content="(\w+)">', file.read(1000))
    return found[1] if found else ""


def _put_grades(cell: NotebookNode, job: Mapping[str, Any]) -> None:
    """Put the same data into a cell that nbgrader's `GetGrades` takes from the gradebook."""
    if not (is_grade(cell) or is_solution(cell) or is_task(cell)):
        return
    about = cell.metadata.nbgrader
    if is_solution(cell) or is_task(cell):
        about["comment"] = job["comments"].get(about.grade_id)
    if is_grade(cell) or is_task(cell):
        about["score"] = job["scores"].get(about.grade_id, 0.0)
        about["points"] = job["points"].get(about.grade_id, 0.0)


def settings_of(config: Config) -> bytes:
    """Return the sections of nbgrader_config.py that a page depends on, pickled for each job.

    The other sections are left out because they may hold objects that cannot be pickled.
    """
    steps = [import_item(name) for name in config.GenerateFeedback.preprocessors]
    classes = (FeedbackExporter, *steps)
    sections = {"GenerateFeedback", *(name for each in classes for name in each.section_names())}
    return pickle.dumps(Config({name: config[name] for name in sections & config.keys()}))


@functools.lru_cache(maxsize=2)
def feedback_exporter(settings: bytes, plain: bool) -> FeedbackExporter:
    """Return an exporter with the settings of ``nbgrader generate_feedback``."""
    config = pickle.loads(settings)
    config.merge(
        Config(
            {
                "HTMLExporter": {
                    "template_name": "feedback",
                    "extra_template_paths": [
                        str(FORMGRADER / "static/node_modules/bootstrap/dist/css")
                    ],
                },
                "Exporter": {"default_preprocessors": [], "optimistic_validation": True},
            }
        )
    )
    exporter = FeedbackExporter(config, plain=plain)
    for name in config.GenerateFeedback.preprocessors:
        if not name.endswith(".GetGrades"):  # the grades come with the job
            exporter.register_preprocessor(name, enabled=True)
    return exporter


def _remarks(remarks: list[str]) -> str:
    if not remarks:
        return ""
    items = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    return (
        '<div class="container"><div class="panel panel-default"><div class="panel-heading">'
        f"<h4>Remarks on what was handed in</h4></div><ul>{items}</ul></div></div>\n"
    )
