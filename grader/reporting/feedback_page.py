"""One student's feedback as HTML: nbgrader's page, without hidden tests and active content.

``nbgrader generate_feedback`` uses `FeedbackExporter` and `ClearHiddenTests` too, because
nbgrader_config.py names them.
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
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets.config import Config
from traitlets.utils.importstring import import_item

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


class FeedbackExporter(HTMLExporter):
    """Makes nbconvert's HTML without active content and without requests to other hosts."""

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's own
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: object
    ) -> tuple[str, dict[str, Any]]:
        """Return a notebook as a page of HTML, and the resources.

        Raises
        ------
        grader.reporting.sanitizer.TooDeep
            If the tags of the page are nested too deeply.
        """
        page, resources = super().from_notebook_node(nb, resources, **options)
        head, begin, body = page.partition("<body")
        body = re.sub(r"(?is)</html>\s*\Z", "", body.partition(">")[2])
        body = _LISTED.sub(r"\1 \2</a>", body)
        # The style sheet of Bootstrap refers to font files that do not come with the page.
        head = re.sub(r"@font-face\s*\{[^}]*\}", "", head)
        policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        head = head.replace("<html>", '<html lang="en">', 1)
        head = head.replace("<head>", f"<head>\n{policy}", 1)
        remarks = _remarks(resources["nbgrader"].get("remarks", ()))
        return f"{head}{begin}>\n{remarks}{sanitised(body)}</body>\n</html>\n", resources


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
        ``comments`` by cell; ``late_penalty``; ``remarks``; ``digest``: of what the page is made
        from; ``settings``: what `settings_of` returned.

    Raises
    ------
    grader.reporting.sanitizer.TooDeep
        If the tags of the page are nested too deeply.
    """
    notebook = nbformat.v4.reads(job["notebook"])
    for cell in notebook.cells:
        _put_grades(cell, job)
    penalty = job["late_penalty"]
    resources = {
        "nbgrader": {
            "notebook": job["assignment"],
            "assignment": job["assignment"],
            "score": sum(job["scores"].values()) - penalty,
            "max_score": sum(job["points"].values()),
            "late_penalty": penalty,
            "remarks": job["remarks"],
        }
    }
    page, _ = _exporter(job["settings"]).from_notebook_node(notebook, resources)
    return page.replace("<head>", f'<head>\n<meta name="{MARK}" content="{job["digest"]}">', 1)


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


@functools.lru_cache(maxsize=1)
def _exporter(settings: bytes) -> FeedbackExporter:
    """Return an exporter with the same settings as in ``nbgrader generate_feedback``."""
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
                "Exporter": {"default_preprocessors": []},
            }
        )
    )
    exporter = FeedbackExporter(config=config)
    for name in config.GenerateFeedback.preprocessors:
        if not name.endswith(".GetGrades"):  # the grades come with the job
            exporter.register_preprocessor(name, enabled=True)
    return exporter


def _remarks(remarks: list[str] | tuple[str, ...]) -> str:
    if not remarks:
        return ""
    items = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    return (
        '<div class="container"><div class="panel panel-default"><div class="panel-heading">'
        f"<h4>Remarks on what was handed in</h4></div><ul>{items}</ul></div></div>\n"
    )
