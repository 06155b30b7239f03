"""One student's feedback as HTML: nbgrader's page, without hidden tests and active content.

``nbgrader generate_feedback`` uses `FeedbackExporter` and `ClearHiddenTests` too: see
`nbgrader_pages` and nbgrader_config.py.
"""

from __future__ import annotations

import functools
import html
import pickle
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import nbgrader
from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import Bunch, TraitError, Unicode, validate
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

STYLE = Path(__file__).parent / "templates" / "feedback" / "page.css"

#: The list at the top of nbgrader's page. It names only the kind of each cell.
_LIST = re.compile(r'<div id="toc">.*?</div>', re.DOTALL)

#: What a message says about a mistake's section; a line may end between its words.
_SECTION = re.compile(r"(see\s+the\s+book,\s+)([a-z][a-z0-9-]*)(#[a-z0-9-]+)?")

#: The key in a cell's data that says whether a person has still to read it.
WAITS = "needs_manual_grade"

#: A heading in a text cell.
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)

#: Characters of a task's title in the index.
MAX_TITLE = 80

FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"


_HEAD = (
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<meta name="color-scheme" content="light dark">\n'
)


class _Row(NamedTuple):
    """A graded cell in the index of a page."""

    title: str  #: the heading above it, or ""
    cell: str
    score: float
    points: float
    comments: list[str]  #: the cells with a comment below the same heading
    waits: bool = False  #: whether a person has still to read it


class FeedbackExporter(PageExporter):
    """Makes nbconvert's HTML without active content and without requests to other hosts."""

    book = Unicode(
        help="The address of the published book, such as https://example.org/attention/. If it is "
        "set, messages that name a mistake link to the section that explains it."
    ).tag(config=True)

    @validate("book")
    def _check_book(self, proposal: Bunch) -> str:
        address = str(proposal.value)
        if address and not re.fullmatch(r"https?://[^\s\"'<>?#]+", address):
            raise TraitError(f"c.FeedbackExporter.book: expected an address, got {address!r}")
        return address.rstrip("/")

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's own
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: object
    ) -> tuple[str, dict[str, Any]]:
        """Return a notebook as a page of HTML, and the resources."""
        resources = resources or {}
        about = {**resources.get("nbgrader", {}), "rows": _rows(nb)}
        return super().from_notebook_node(nb, {**resources, "nbgrader": about}, **options)

    def linked(self, printed: str) -> str:
        """Return what a cell printed, with links to the sections of the book that it names."""
        if not self.book:
            return printed
        return _SECTION.sub(
            lambda found: (
                f'{found[1]}<a href="{self.book}/{found[2]}.html{found[3] or ""}" '
                f'rel="noopener noreferrer">{found[2]}{found[3] or ""}</a>'
            ),
            printed,
        )

    def framed(self, page: str, resources: dict[str, Any], remarks: list[str]) -> str:
        """Return the page without active content, with remarks.

        Raises
        ------
        grader.reporting.sanitizer.TooDeep
            If the tags of the page are nested too deeply.
        """
        head, begin, body = page.partition("<body")
        body = re.sub(r"(?is)</html>\s*\Z", "", body.partition(">")[2])
        about = resources["nbgrader"]
        remarks = [*about.get("remarks", ()), *remarks]
        index = f"{_index(about.get('rows', ()), about.get('late_penalty', 0))}{_remarks(remarks)}"
        body = _LIST.sub(lambda _: index, body, count=1)
        # The page has a part with each of these ids inside of another one.
        body = re.sub(r' id="notebook(?:-container)?"', "", body, count=2)
        body = re.sub(r"<(/?)h4>", r"<\1h1 class='score'>", body, count=1).replace(
            "</h4>", "</h1>", 1
        )
        body = f"<main>{re.sub('</?main>', '', body)}</main>"
        # The style sheet of Bootstrap refers to font files that do not come with the page.
        head = re.sub(r"@font-face\s*\{[^}]*\}", "", head)
        policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        head = head.replace("<html>", '<html lang="en">', 1)
        head = head.replace("</head>", f"{_HEAD}<style>\n{_style()}</style>\n</head>", 1)
        head = head.replace("<head>", f"<head>\n{policy}", 1)
        if made_from := about.get("made_from"):
            head = head.replace("<head>", f'<head>\n<meta name="{MARK}" content="{made_from}">', 1)
        return f"{head}{begin}>\n{sanitised(body)}</body>\n</html>\n"


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
        ``comments`` by cell; ``to_read``: the cells that a person has still to read;
        ``late_penalty``; ``remarks``; ``without_expected``: whether to leave out which numbers are
        right; ``digest``: of what the page is made from; ``settings``: what `settings_of` returned;
        ``plain``: whether to show every text as it was typed.

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
        about[WAITS] = about.grade_id in job.get("to_read", ())


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


@functools.cache
def _style() -> str:
    return STYLE.read_text(encoding="utf-8")


def _rows(notebook: NotebookNode) -> list[_Row]:
    """Return a row for each graded cell, with the comments below the same heading."""
    rows: list[_Row] = []
    comments: list[str] = []
    title = ""
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        is_answer = is_solution(cell) or is_grade(cell)
        if (
            cell.cell_type == "markdown"
            and not is_answer
            and (found := _HEADING.findall(cell.source))
        ):
            title, comments = found[-1], []
        if about.get("comment"):
            comments.append(about.grade_id)
        if is_grade(cell) or is_task(cell):
            score, points = (float(about.get(key) or 0) for key in ("score", "points"))
            waits = bool(about.get(WAITS))
            rows.append(_Row(title, about.grade_id, score, points, comments, waits))
            comments = []
        elif comments and rows and rows[-1].title == title:
            rows[-1].comments.extend(comments)
            comments = []
    return rows


def _index(rows: Sequence[_Row], late_penalty: float) -> str:
    """Return the points of each task as a table, with links to tests and comments."""
    if not rows:
        return ""
    often = Counter(row.title for row in rows)
    heads = ["task", "points", *(["comments"] if any(row.comments for row in rows) else [])]
    lines = []
    for row in rows:
        title = textwrap.shorten(row.title.replace("`", ""), MAX_TITLE, placeholder=" …")
        if not title:
            title = row.cell
        elif often[row.title] > 1:
            title = f"{title} ({row.cell})"
        comments = (f'<a href="#comment-{html.escape(cell)}">comment</a>' for cell in row.comments)
        lines.append(
            f'<tr><th scope="row"><a href="#{html.escape(row.cell)}">{html.escape(title)}</a></th>'
            f'<td class="points">{points_text(row.score, row.points, waits=row.waits)}</td>'
            + f"<td>{' '.join(comments)}</td>" * ("comments" in heads)
            + "</tr>"
        )
    if late_penalty > 0:
        lines.append(
            '<tr class="late-penalty"><th scope="row">Late submission penalty</th>'
            f'<td class="points">-{_number(late_penalty)}</td>'
            + "<td></td>" * ("comments" in heads)
            + "</tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f'<div id="toc"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def points_text(score: float, points: float, *, waits: bool) -> str:
    """Return a cell's points in words. Those of an answer that is to be read again count.

    Examples
    --------
    >>> points_text(0, 2, waits=True), points_text(1.5, 2, waits=True)
    ('to be read, of 2', '1.5 of 2, to be read again')
    """
    if waits and not score:
        return f"to be read, of {_number(points)}"
    text = f"{_number(score)} of {_number(points)}"
    return f"{text}, to be read again" if waits else text


def _number(points: float) -> str:
    return f"{round(float(points), 2):g}"


def _remarks(remarks: list[str]) -> str:
    if not remarks:
        return ""
    items = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    return f'<h2 class="h4">Remarks on what was handed in</h2><ul>{items}</ul>\n'
