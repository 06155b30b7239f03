"""No text of a learner costs the process that makes pages more than its limits."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from grader.gradebook.reading import Entry
from grader.judging.bounds import TookTooMuch
from grader.reporting import feedback, rendering
from grader.reporting.feedback_page import FeedbackExporter, feedback_exporter, feedback_job
from grader.reporting.rendering import Rendering
from grader.reporting.results import Result
from grader.running.local_workers import LocalWorkers
from grader.submission.locating import MAX_BYTES
from tests.grader.corpus.texts import FITTED, TOO_MUCH, many, printed
from tests.grader.reporting.test_feedback import ASSIGNMENT, PNG, job, text_of

QUICK_JOB = "tests.grader.reporting.quick_pages:quick_job"

#: Processor time for a text, in seconds, and memory for a page, in MiB.
SECONDS, MIB = 0.1, 100

#: Processor time that a process needs for a page apart from texts that are too much.
SECONDS_FOR_THE_REST = 2.0

TYPED = re.compile(r"\[shown as it was typed: ([^\]]*)\]")


@pytest.fixture(scope="module")
def worker():
    with LocalWorkers(QUICK_JOB, 1, attempts=1) as worker:
        yield worker


def done(worker, *cells: NotebookNode, **changes):
    """Return the worker's reply for a notebook with these cells."""
    of = {"notebook": nbformat.writes(new_notebook(cells=list(cells))), "remarks": ()}
    quick = {"seconds": SECONDS, "mib": MIB, "plain": False}
    (reply,) = worker.do([("page", job(**of) | quick | changes)])
    return reply


def made(worker, *cells: NotebookNode, **changes):
    reply = done(worker, *cells, **changes)
    assert reply.returned is not None, reply.reason
    return json.loads(reply.returned)


def test_texts_that_are_too_much_are_shown_as_typed(worker):
    # The first page imports what renders; that has nothing to do with the texts.
    before = made(worker, new_markdown_cell("*a*"), printed("b"), seconds=rendering.SECONDS)
    cells = [cell() for cell in TOO_MUCH.values()]
    between = [new_markdown_cell(f"*honest {number}*") for number in range(len(cells))]
    after = made(worker, *(cell for pair in zip(cells, between, strict=True) for cell in pair))
    page = after["page"]
    assert len(TYPED.findall(page)) == len(TOO_MUCH)
    assert [n for n in range(len(cells)) if f"<em>honest {n}</em>" not in page] == []
    assert text_of(page).count("is shown as it was typed: it ") == len(TOO_MUCH)  # the remarks
    remarks = text_of(page).partition("Remarks on what was handed in")[2]
    assert remarks.index("is shown as it was typed: it ") < remarks.index("honest 0")
    allowed = len(TOO_MUCH) * SECONDS + SECONDS_FOR_THE_REST
    assert after["seconds"] - before["seconds"] < allowed
    assert after["mib"] < before["mib"] + MIB
    # With the real limits, a page takes less than 400 MiB and 30 s.
    assert before["mib"] + rendering.MIB < 400
    assert rendering.SECONDS < rendering.SECONDS_OF_A_PAGE < rendering.SECONDS_TO_LIVE < 30


@pytest.mark.parametrize("name", FITTED)
def test_texts_with_too_much_in_them_are_fitted(worker, name):
    cell, says = FITTED[name]
    limits = {"seconds": rendering.SECONDS, "mib": rendering.MIB}
    found = made(worker, cell(), new_markdown_cell("*honest*"), **limits)
    assert says in text_of(found["page"])
    assert "<em>honest</em>" in found["page"]
    assert "<i>.png" not in found["page"]
    assert len(found["page"]) < 18 * 2**20
    assert "\0" not in found["page"]


def test_the_guide_states_the_limits(root):
    guide = (root / "book" / "instructor-guide.md").read_text(encoding="utf-8")
    assert f"may take {rendering.SECONDS:g} seconds of processor time" in guide
    assert f"a page {rendering.MIB} MiB of memory" in guide
    assert f"a file of more than {MAX_BYTES // 2**20} MiB is refused" in guide


def test_when_the_time_of_a_page_is_used_up_texts_are_typed_at_once(monkeypatch):
    monkeypatch.setattr(rendering, "SECONDS_OF_A_PAGE", 0.2)
    page = Rendering()

    def busy(source: str) -> str:
        while True:
            hash(source)

    shown = [page.text("a", busy, str), page.text("b", str, str)]
    whys = TYPED.findall(page.fill("".join(shown)))
    assert whys == [
        "it took more than 0.2 s of processor time",
        "other texts took 0.2 s of processor time",
    ]


def test_what_becomes_too_long_is_typed(monkeypatch):
    monkeypatch.setattr(rendering, "MAX_HTML_OF_A_PAGE", 3000)
    monkeypatch.setattr(rendering, "MAX_HTML", 1000)
    page = Rendering()
    for length in (1001, 900, 900, 900, 900):
        page.text("x" * 10, lambda _, length=length: "y" * length, str)
    assert [why for why in page.remarks if "too long" in why] == page.remarks
    assert len(page.remarks) == 2
    page.text("&" * 10_000, str, str)
    assert page.remarks[-1].endswith("it became too long.")


def test_an_error_of_a_renderer_concerns_one_text():
    page = Rendering()

    def fails(source: str) -> str:
        raise RecursionError(source)

    shown = page.fill(page.text("1 < 2", fails, str, where="the cell words"))
    assert "[shown as it was typed: rendering it raised RecursionError]\n1 &lt; 2" in shown
    assert page.remarks == [
        "The cell words is shown as it was typed: rendering it raised RecursionError."
    ]


def test_a_process_of_its_own_returns_texts_and_reasons():
    surrogate = "a\udcffé😀"
    assert rendering.in_own_process(lambda: surrogate, 5) == surrogate
    with pytest.raises(TookTooMuch, match="it took too much memory or could not be rendered"):
        rendering.in_own_process(lambda: str(1 / 0), 5)
    with pytest.raises(TookTooMuch, match="it became too long"):
        rendering.in_own_process(lambda: "a" * (4 * rendering.MAX_HTML + 1), 5)


def test_a_page_that_no_worker_survives_shows_texts_as_typed(worker):
    cells = [new_markdown_cell("*words*"), new_code_cell("x = '<b>'")]
    died = done(worker, *cells, dies=True)
    assert died.returned is None
    assert "SIGABRT" in died.reason
    page = made(worker, *cells, dies=True, plain=True)["page"]
    assert "*words*" in page
    assert "x = &#x27;&lt;b&gt;&#x27;" in page
    assert TYPED.findall(page) == ["no text of this page could be rendered"] * 2


def test_feedback_asks_again_with_texts_as_typed(tmp_path, monkeypatch):
    real = feedback._jobs

    def quick(*arguments):
        for name, each in real(*arguments):
            yield name, each | {"seconds": SECONDS, "mib": MIB, "dies": name == "ada"}

    monkeypatch.setattr(feedback, "FEEDBACK_JOB", QUICK_JOB)
    monkeypatch.setattr(feedback, "_jobs", quick)
    results, pages = [], {}
    for student in ("ada", "bo"):
        graded = tmp_path / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        graded.parent.mkdir(parents=True)
        graded.write_text(nbformat.writes(new_notebook(cells=[new_markdown_cell("*words*")])))
        results.append(Result(student, Entry(student, {}, {})))
    assert feedback.write_feedback(ASSIGNMENT, tmp_path, results) == {}
    for student in ("ada", "bo"):
        page = tmp_path / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
        pages[student] = json.loads(page.read_text("utf-8"))["page"]
    assert "]\n*words*</pre>" in pages["ada"]
    assert "<em>words</em>" in pages["bo"]


LONG = "A" * 40_000
TEXTS = [
    "# A\n\n*a* **b** `c` ~~d~~ <u>e</u>\n\n- a\n  - b\n    - c\n- d\n\n1. x\n2. y",
    "> q\n> > r\n\n---\n\nTitle\n=====\n\nTerm\n: means\n\n- [ ] to do\n- [x] done",
    "| a | b |\n|---|:-:|\n| 1 | 2 |\n\n    indented\n\n```\nfenced\n```",
    "```python\ndef f(x):\n    return x\n```\n\n```softmax\nno language\n```",
    "a\n<br>b &nbsp; c  \nd&amp; &lt; 'q' \"x\"\n\n<div>\n\n  <p>in</p>  <p>two</p>\n\n</div>",
    "<table>\n  <tr>\n    <td>1</td>  <td>2</td>\n  </tr>\n</table>",
    "<span title='a' lang=de class='b err'>x</span> <img width=3>",
    f'![a](attachment:a.png) ![](attachment:a.png "t") <img src="data:image/png;base64,{PNG}">',
    f"![x](data:image/png;base64,{LONG})",
    "$x^2 < 3$ and $$\\frac{a}{b}$$ \\begin{align}a &= b\\end{align}",
    "<details><summary>s</summary>\n\ntext\n\n</details>\n\n[l](https://a.org/?a=1&b=2 'ti')",
    *("only text", "   ", "", "<span>a</span>", "text <b>x</b>", "a < b > c & d", "😀 \u00a0 x"),
    "a\n\n<pre>\n\n keep   <b>x</b>   <i>y</i>\n</pre>  \n <p>z</p>",
    many("A long answer, *in words*.\n\n", 11_000),
    "<ul>\n" + "<li>a</li>\n" * 300 + "</ul>",
]
OUTPUTS = [
    {"output_type": "stream", "text": "\n\nhello  <b>\n"},
    {"output_type": "stream", "name": "stderr", "text": "\x1b[31mred\x1b[0m & 'x'"},
    {"output_type": "display_data", "data": {"image/png": PNG}},
    {"output_type": "display_data", "data": {"image/png": LONG, "text/plain": "<Figure>"}},
    {"output_type": "display_data", "data": {"text/plain": " x\n y"}},
    {"output_type": "display_data", "data": {"text/html": "<b>x</b> <i>y</i>\n <p>z</p>"}},
    {"output_type": "display_data", "data": {"text/markdown": "*a*"}},
    {"output_type": "display_data", "data": {"text/latex": "$a<b$"}},
    {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[1mE", " l", " "]},
    {"output_type": "stream", "text": "1\n" * 6000},
]
CODE = ["x = 'é' + \"b\"  # <c>", "", "%matplotlib inline\n!ls\nx?", "x = [1, 2]\n" * 1200]


def test_honest_pages_are_those_of_nbconvert():
    """Rendered one by one within limits, texts give the page that nbconvert would make.

    Only the heads of tables differ: nbconvert does not say what they are the head of.
    """

    class Unlimited(HTMLExporter):
        framed = FeedbackExporter.framed

        def from_notebook_node(self, nb, resources=None, **options):
            page, resources = super().from_notebook_node(nb, resources, **options)
            return self.framed(page, resources, []), resources

    pictures = {"a.png": {"image/png": PNG}}
    cells = [new_markdown_cell(text, attachments=pictures) for text in TEXTS]
    cells += [new_code_cell(code) for code in CODE]
    cells[-1].outputs = [new_output(**output) for output in OUTPUTS]
    cells += [new_raw_cell("raw <b>x</b> text"), new_raw_cell("")]
    notebook = nbformat.writes(new_notebook(cells=cells))
    page = feedback_job(job(notebook=notebook))
    ours = feedback_exporter(job()["settings"], plain=False)
    theirs = Unlimited(config=ours.config)
    theirs._preprocessors = ours._preprocessors
    about = {"score": 0, "max_score": 0, "late_penalty": 0, "notebook": "a"}
    resources = {"nbgrader": about}
    expected, _ = theirs.from_notebook_node(nbformat.reads(notebook, as_version=4), resources)
    begin = '<div class="panel-body">'
    assert TYPED.findall(page) == []
    assert '<th scope="col" style="text-align:center">b</th>' in page
    shown = page.partition(begin)[2].replace('<th scope="col"', "<th")
    assert shown == expected.partition(begin)[2]
    assert len(page.partition(begin)[2]) > 2 * len(LONG)
