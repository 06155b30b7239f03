"""Feedback pages contain neither hidden tests nor active content."""

from __future__ import annotations

import copy
import html
import re
import shutil
import time
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import axe_playwright_python
import nbformat
import pytest
from nbconvert.filters import Highlight2HTML, ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbgrader.utils import is_solution
from traitlets import TraitError
from traitlets.config import Config

from attn_lib.course.mistakes import catalogue
from grader.course import SOLUTIONS, configuration
from grader.gradebook.reading import Entry
from grader.judging.assignment_source import read_source
from grader.judging.open_feedback import KEY
from grader.reporting.feedback import write_feedback
from grader.reporting.feedback_page import (
    _SECTION,
    FORMGRADER,
    POLICY,
    digest_of,
    feedback_job,
    settings_of,
)
from grader.reporting.page_jobs import page_job
from grader.reporting.results import Result
from grader.reporting.right_numbers import are_withheld
from grader.reporting.sanitizer import (
    CLASSES_OF_A_TEXT,
    TAGS,
    TooDeep,
    depth,
    sanitised,
    shown_text,
    shown_text_without_links,
)
from tests.grader.corpus.markup import IMPOSTOR, MARKUP, foreign, names
from tests.grader.corpus.markup import cells as markup_cells

ASSIGNMENT = "dot-products"
SOURCE = read_source((SOLUTIONS / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes())
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)

ACTIVE = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//example.org/x.js></sCrIpT >",
    "<img src=x onerror=alert(1)>",
    "<img src='https://example.org/pixel.png'>",
    "<img src='//example.org/pixel.png'>",
    "<img src='file:///etc/hostname'>",
    "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
    "<img srcset='https://example.org/a.png 1x'>",
    "<a href='javascript:alert(1)'>a</a>",
    "<a href='JaVa&#x09;Script:alert(1)'>a</a>",
    "<a href='&#1;javascript:alert(1)'>a</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>a</a>",
    "<a href='vbscript:x' onclick='x()' ping='https://example.org'>a</a>",
    "<iframe src='https://example.org'></iframe><iframe srcdoc='<script>1</script>'>",
    "<object data='x.swf'></object><embed src='x.swf'><applet code=x>",
    "<link rel=stylesheet href='https://example.org/x.css'>",
    "<style>body { background: url(https://example.org/x) } @import '//example.org/y';</style>",
    "<p style='background: url(https://example.org/x); position: fixed; color: red'>a</p>",
    "<meta http-equiv=refresh content='0; url=https://example.org'><base href='https://a.org'>",
    "<form action='https://example.org'><input autofocus onfocus=alert(1)><button>x</form>",
    "<svg onload=alert(1)><script>alert(1)</script><use href='https://example.org/#a'/></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></table></math>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<video src='https://example.org/x.mp4' onplay=x></video><audio src=x><source src=//a.org>",
    "<details open ontoggle=alert(1)>a</details><body onload=alert(1)>",
    "<!--[if gte IE 4]><script>alert(1)</script><![endif]--><!-- <img src=x onerror=1> -->",
    "</body></html><script>alert(1)</script>",
    "<x onclick=alert(1) style='behavior:url(x)'>a</x>",
    "<a href='https://example.org' target='_blank' onmouseover='x'>fine</a>",
]


class _Finder(HTMLParser):
    """Finds active content and requests to other hosts in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.problems.append(tag)
        for name, value in attributes:
            value = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or name in {"srcset", "ping", "srcdoc", "action", "target"}:
                self.problems.append(f"{tag} {name}")
            if name == "href" and not re.match(r"https?://|mailto:|#", value):
                self.problems.append(f"{tag} href {value}")
            if name == "src" and not re.match(r"data:image/(?:png|jpeg|gif);base64,", value):
                self.problems.append(f"{tag} src {value}")
            if name == "style" and re.search(r"url|position|expression|behavior", value):
                self.problems.append(f"{tag} style {value}")

    def handle_comment(self, data):
        self.problems.append(f"comment {data}")


def problems(page: str) -> list[str]:
    """Return the active content and the requests to other hosts in a page's body."""
    finder = _Finder()
    finder.feed(page.partition("<body>")[2] or page)
    finder.close()
    return finder.problems


@pytest.mark.parametrize("piece", ACTIVE)
def test_the_pieces_are_active_without_sanitising(piece):
    assert problems(piece)


@pytest.mark.parametrize("piece", ACTIVE)
def test_active_content_is_removed(piece):
    clean = sanitised(f"<p>before</p>{piece}<p>after</p>")
    assert problems(clean) == []
    assert clean.startswith("<p>before</p>")


@pytest.mark.parametrize(
    "piece",
    [
        "<p>a <em>b</em> <code>c</code></p>",
        f'<img src="data:image/png;base64,{PNG}" alt="a plot">',
        '<a href="https://example.org">a</a>',
        '<a href="#top">a</a>',
        '<table><thead><tr><th scope="col">a</th></tr></thead></table>',
        '<details open=""><summary>a</summary>b</details>',
        '<span class="ansi-red-fg">a</span>',
        '<p style="text-align:center">a</p>',
        "<pre>expected shape (1, 3), got (3, 1). 1 &lt; 2 &amp; 3</pre>",
    ],
)
def test_passive_content_is_kept(piece):
    assert sanitised(piece) == piece


#: Pieces of HTML with names that the page uses, and what remains of each in learner content.
NAMED = {
    '<div class="nbgrader_cell"><span id="score-matrix-tests"></span>'
    '<a class="full-credit modal-backdrop fade" href="#x"></a></div>': (
        '<div><span></span><a rel="noopener noreferrer" href="#x"></a></div>'
    ),
    '<b class="highlight tabbable">a</b>': '<b class="highlight">a</b>',
    '<b class="SCORE&#32;Ansi-bold comment">a</b>': "<b>a</b>",
    '<a name="top">a</a>': '<a rel="noopener noreferrer">a</a>',
    '<img name="getElementById" id="submission_id">': "<img>",
    '<div tabindex="1" accesskey="s" contenteditable data-toggle="modal" hidden>a</div>': (
        "<div>a</div>"
    ),
    '<label for="softmax-tests">a</label><output form="x" for="y">b</output>': "ab",
    '<div itemid="a" slot="b" part="c" is="d" popover="auto">a</div>': "<div>a</div>",
    '<p style="position:fixed;inset:0;z-index:9;opacity:0;color:red">a</p>': (
        '<p style="color:red">a</p>'
    ),
}


@pytest.mark.parametrize(("piece", "left"), NAMED.items())
def test_learner_content_cannot_use_names_of_the_page(piece, left):
    assert shown_text(piece) == left


#: Markup that Markdown shows as text already; it matters where a page's script reads formulas.
MARKUP_BY_ITSELF_TEXT = ("an open tag", "formulas", "a formula with markup", "names of pictures")


@pytest.mark.parametrize("name", MARKUP)
def test_markup_is_foreign_without_sanitising_and_not_with_it(name):
    class Pictures(dict):
        def __missing__(self, key):
            return {"image/png": ""}

        def __contains__(self, key):
            return True

    renderer = IPythonRenderer(escape=False, attachments=Pictures())
    body = MarkdownWithMath(renderer=renderer).render(MARKUP[name])
    assert foreign(body, links=False) or name in MARKUP_BY_ITSELF_TEXT
    assert foreign(shown_text(body), links=True) == []
    assert foreign(shown_text_without_links(body), links=False) == []


@pytest.mark.parametrize("kind", ["feedback", "formgrader"])
def test_pages_of_markup_have_no_foreign_names(kind):
    """On both pages only the frame has ids, and formgrader's has all that its script looks up."""
    of = {"assignment_id": ASSIGNMENT, "notebook_id": ASSIGNMENT, "index": 0, "total": 1}
    resources = {**of, "student": f"<b {IMPOSTOR}>", "notebook_path": '"><script>'}
    resources["nbgrader"] = {"score": 0, "max_score": 0, "late_penalty": 0}
    frames, pages = [], []
    for cells in ([], markup_cells()):
        notebook = nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()
        made = {"kind": kind, "notebook": notebook, "resources": resources, "plain": False}
        page = page_job(made | {"settings": settings_of(configuration())})
        (frames if not cells else pages).append(page.partition("<body>")[2])
    added = names(pages[0]) - names(frames[0])
    assert {name for name in added if not name.startswith("cell-id=")} == set()
    parts = re.findall(
        r'<div class="[^"]*rendered_html">(.*?)</div>\s*</div>\s*</div>', pages[0], re.DOTALL
    )
    assert len(parts) >= len(MARKUP)
    assert [name for part in parts for name in foreign(part, links=kind == "feedback")] == []
    assert pages[0].count("<script") == frames[0].count("<script")
    assert pages[0].count("<iframe") == 0
    assert "cdnjs" not in pages[0]


def test_ids_of_headings_are_removed():
    assert shown_text('<h2 id="softmax-tests">softmax-tests</h2>') == "<h2>softmax-tests</h2>"


@pytest.mark.parametrize(
    "piece",
    [
        *(f"\x1b[{code}ma\x1b[0m" for code in (1, 4, 7, *range(30, 38), *range(90, 98))),
        *(f"\x1b[{code}ma\x1b[0m" for code in (*range(40, 48), *range(100, 108))),
    ],
    ids=repr,
)
def test_terminal_colours_are_kept(piece):
    coloured = ansi2html(piece)
    assert 'class="ansi-' in coloured
    assert shown_text(coloured) == coloured


def test_code_colours_are_kept():
    coloured = Highlight2HTML()("@f\ndef g(x: int): return f'{x!r}' + 'a\\n' @ 0x1 # b")
    classes = re.findall(r'<span class="(\w+)"', coloured)
    assert len(set(classes)) > 8
    assert re.findall(r'<span class="(\w+)"', shown_text(coloured)) == classes


def test_kept_classes_are_not_used_by_formgrader():
    """Formgrader's scripts and styles select elements by their classes."""
    theirs = set()
    for path in [*(FORMGRADER / "static/js").glob("*.js"), *FORMGRADER.rglob("formgrade/*.j2")]:
        text = path.read_text(encoding="utf-8")
        theirs |= set(re.findall(r"""\.([a-zA-Z][\w-]*)["' ,:)]""", text))
        for classes in re.findall(r'class="([^"]*)"', text):
            theirs |= set(classes.split())
    for path in (FORMGRADER / "static").rglob("bootstrap/dist/css/bootstrap.css"):
        theirs |= set(re.findall(r"\.([a-zA-Z][\w-]*)", path.read_text(encoding="utf-8")))
    known = {"nbgrader_cell", "full-credit", "tabbable", "score", "comment", "modal-backdrop"}
    assert known <= theirs
    assert theirs & CLASSES_OF_A_TEXT == set()


@pytest.mark.parametrize(
    ("piece", "left"),
    [
        ("<math><mi>x</mi><mo>=</mo><mn>1</mn></math>", "x=1"),
        ("<SVG viewBox='0 0 9 9'><text>a <b>curve</b></text></SVG> below", "a <b>curve</b> below"),
        ("$a &lt; b$ and $x^2$", "$a &lt; b$ and $x^2$"),
        ("add the <mask>, then a <b>softmax</b>.", "add the , then a <b>softmax</b>."),
        ("<annotation-xml>a</annotation-xml><font-face>b<iframe>c<textarea>d", "abcd"),
    ],
)
def test_text_in_removed_tags_is_kept(piece, left):
    assert sanitised(piece) == shown_text(piece) == left


@pytest.mark.parametrize("piece", ["<script></script>", "<!--", "</p>", "&", "<"])
def test_a_very_long_text_is_sanitised(piece):
    begun = time.monotonic()
    assert problems(sanitised(piece * 20_000)) == []
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("piece", "deep"),
    [
        ("<div>", 1500),
        ('<div title="</div>">', 1500),  # an end tag that is none
        ("<div></b>", 1500),  # the end of something else
        ("<b><p>", 6),  # a paragraph ends the one before; only three equal <b> are repeated
        ("<div></div>", 1),
    ],
)
def test_depth_is_that_of_the_parsed_text(piece, deep):
    clean = shown_text(piece * 20)
    assert depth(clean) == min(deep, 20)
    if deep == 1500:
        with pytest.raises(TooDeep, match=r"nested at most 600 deep, found 1500 open at once"):
            sanitised(piece * deep)


def test_a_deeply_nested_text_cell_is_shown_as_source():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("<i>" * 70 + "deep")])
    page = feedback_job(job(notebook=nbformat.writes(notebook)))
    assert "<i><i><i>" in text_of(page)
    assert "deep" in text_of(page)
    assert "<i>" not in page


def job(**changes) -> dict:
    """Return the job for a page of the stub with an answer full of active content."""
    notebook = copy.deepcopy(SOURCE.stub)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "in-words":
            cell.source = "My **answer**.\n\n" + "\n\n".join(ACTIVE)
        elif cell.cell_type == "code" and is_solution(cell):
            cell.source = "x = '<script>alert(1)</script>'"
            cell.outputs = [
                nbformat.v4.new_output(
                    "stream", text="<script>alert(2)</script> \x1b[31mred\x1b[0m"
                ),
                nbformat.v4.new_output(
                    "display_data",
                    {"text/html": "".join(ACTIVE), "application/javascript": "alert(3)"},
                ),
                nbformat.v4.new_output(
                    "display_data", {"image/svg+xml": "<svg onload='alert(4)'/>"}
                ),
                nbformat.v4.new_output("display_data", {"image/png": PNG}),
                nbformat.v4.new_output(
                    "display_data", {"text/latex": "$<script>alert(5)</script>$"}
                ),
                nbformat.v4.new_output("display_data", {"text/markdown": "".join(ACTIVE)}),
            ]
        elif cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax-tests":
            text = "rows: not yet\n  - softmax: expected shape (1, 3), got (3, 1)."
            cell.outputs = [
                nbformat.v4.new_output(
                    "error", ename="ChecksFailed", evalue=text, traceback=text.split("\n")
                )
            ]
    return {
        "assignment": ASSIGNMENT,
        "notebook": nbformat.writes(notebook),
        "scores": {"softmax-tests": 1.5, "attention-tests": 4.0},
        "points": dict(SOURCE.points),
        "comments": {"in-words": "Well put. <script>alert(6)</script>"},
        "late_penalty": 0.0,
        "remarks": ("The cell <b>softmax</b> was there twice.",),
        "digest": "0abc",
        "settings": settings_of(configuration()),
    } | changes


@pytest.fixture(scope="module")
def page() -> str:
    return feedback_job(job())


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page[page.index("<body") :])).split())


def test_hidden_test_markers_in_an_answer_are_harmless():
    notebook = nbformat.reads(job()["notebook"], as_version=4)
    for cell in notebook.cells:
        if is_solution(cell):
            cell.source = "mine\n### BEGIN HIDDEN TESTS\nmine too"
    page = text_of(feedback_job(job(notebook=nbformat.writes(notebook))))
    assert "mine too" in page
    assert "far_apart_in_a_row" not in page


def test_a_page_of_active_answers_is_not_active(page):
    assert problems(page) == []
    assert page.count("<script") == 0
    assert page.count("<body") == 1
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in page
    assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", page) == []
    assert "@font-face" not in page


@pytest.mark.parametrize("kind", ["a text cell", "text/html", "text/markdown", "a raw cell"])
def test_names_in_learner_content_are_removed_from_a_page(kind):
    payload = "".join(NAMED)
    if kind == "a text cell":
        cell = nbformat.v4.new_markdown_cell(f"{payload}\n\n## softmax-tests\n\nlearner's words")
    elif kind == "a raw cell":
        cell = nbformat.v4.new_raw_cell(f"{payload} learner's words")
    else:
        output = nbformat.v4.new_output("display_data", {kind: f"{payload} learner's words"})
        cell = nbformat.v4.new_code_cell("x", outputs=[output])
    page = feedback_job(job(notebook=nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))))
    body = page.partition("<body>")[2]
    assert "learner's words" in body
    names = {"nbgrader_cell", "score-matrix-tests", "full-credit", "modal-backdrop", "tabbable"}
    names |= {"getElementById", "submission_id", 'id="softmax-tests"', "position", 'tabindex="1"'}
    assert {name for name in names if name in body} == set()
    assert body.count('name="top"') == 1


def test_a_page_shows_scores_findings_comments_and_remarks(page):
    text = text_of(page)
    assert "dot-products (Score: 5.5 / 20.0)" in text
    assert "Score: 1.5 / 3.0" in text
    assert "softmax: expected shape (1, 3), got (3, 1)." in text
    assert "Comments: Well put." in text
    assert "The cell <b>softmax</b> was there twice." in text
    assert "x = '<script>alert(1)</script>'" in text
    assert "My answer." in text
    assert f"data:image/png;base64,{PNG}" in page


def test_the_index_names_tasks_with_points_and_comments(page):
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", page)
    assert [text_of(f"<body>{row}") for row in rows] == [
        "1. Score matrix0 of 2",
        "2. Softmax1.5 of 3",
        "3. Attention4 of 4",
        "4. Shapes0 of 2",
        "5. Reading a row of weights0 of 3",
        "6. Apply now: two keys by hand0 of 4",
        "7. Apply now: in words0 of 2comment",
    ]
    assert '<a href="#softmax-tests">2. Softmax</a>' in rows[1]
    assert '<a href="#comment-in-words">comment</a>' in rows[6]
    places = set(re.findall(r'<a name="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= places


def test_the_index_tells_tasks_without_a_heading_and_of_the_same_heading_apart():
    cells = []
    for number, source in enumerate(("# <b>One</b>", "", "", "")):
        if source:
            cells.append(nbformat.v4.new_markdown_cell(source))
        cell = nbformat.v4.new_code_cell("1")
        cell.metadata["nbgrader"] = {
            "grade": True,
            "solution": number == 1,
            "grade_id": f"cell-{number}",
            "schema_version": 3,
        }
        cells.append(cell)
    made = feedback_job(
        job(
            notebook=nbformat.writes(nbformat.v4.new_notebook(cells=cells)),
            scores={"cell-1": 1 / 3},
            points={f"cell-{number}": 1.0 for number in range(4)},
            comments={"cell-1": "Good."},
        )
    )
    rows = re.findall(r'<th scope="row">.*?</tr>', made)
    assert [text_of(f"<body>{row}") for row in rows] == [
        "<b>One</b> (cell-0)0 of 1",
        "<b>One</b> (cell-1)0.33 of 1comment",
        "<b>One</b> (cell-2)0 of 1",
        "<b>One</b> (cell-3)0 of 1",
    ]
    cells.pop(0)
    made = feedback_job(job(notebook=nbformat.writes(nbformat.v4.new_notebook(cells=cells))))
    assert ">cell-2</a></th>" in made


def test_the_index_says_what_a_person_has_still_to_read():
    text = text_of(feedback_job(job(to_read=["in-words"])))
    assert "7. Apply now: in wordsto be read, of 2" in text


def test_points_that_count_are_shown_while_an_answer_is_to_be_read_again():
    text = text_of(feedback_job(job(to_read=["in-words"], scores={"in-words": 1.5})))
    assert "7. Apply now: in words1.5 of 2, to be read again" in text


def test_heads_of_tables_say_what_they_are_the_head_of(page):
    assert '<th scope="col">minutes</th>' in page
    assert len(re.findall(r"<th[ >]", page)) == page.count("<th scope=")


def with_book(address: str) -> bytes:
    config = configuration()
    config.FeedbackExporter.book = address
    return settings_of(config)


def said(text: str) -> str:
    """Return a notebook in which a cell prints the text."""
    output = nbformat.v4.new_output("stream", text=text)
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    )


def test_a_message_links_to_the_section_that_explains_the_mistake():
    notebook = said("(divide-by-d_k; see the\n    book, variance-growth#why-the-root)\n")
    address = "https://example.org/attention"
    made = feedback_job(job(notebook=notebook, settings=with_book(f"{address}/")))
    link = f'href="{address}/variance-growth.html#why-the-root" rel="noopener noreferrer"'
    assert f"<a {link}>variance-growth#why-the-root</a>)" in made
    assert problems(made) == []
    assert "variance-growth.html" not in feedback_job(job(notebook=notebook))


def test_no_other_address_of_a_learner_becomes_a_link():
    notebook = said('see the book, //evil.example/"><b>x</b> see the book, javascript:1#a')
    made = feedback_job(job(notebook=notebook, settings=with_book("https://example.org")))
    assert re.findall(r'href="(?!#)([^"]*)"', made) == ["https://example.org/javascript.html"]
    assert problems(made) == []


def test_every_section_of_the_catalogue_can_be_linked():
    for mistake in catalogue():
        made = _SECTION.fullmatch(f"see the book, {mistake.section}")
        assert made, mistake.section
        assert f"{made[2]}{made[3]}" == mistake.section


def test_an_address_of_the_book_that_is_none_is_told():
    with pytest.raises(TraitError, match=r"c\.FeedbackExporter\.book: expected an address"):
        feedback_job(job(settings=with_book("javascript:alert(1)")))


def test_a_page_can_be_read_on_a_phone_in_light_and_dark(page, chromium, tmp_path):
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    # The page's own policy forbids the script that checks it.
    tab = chromium.new_page(viewport={"width": 375, "height": 800}, is_mobile=True, bypass_csp=True)
    tab.goto((tmp_path / "page.html").as_uri())
    assert tab.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [375, 375]
    tab.evaluate((Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8"))
    for theme, rules in (("light", None), ("dark", ["color-contrast", "link-in-text-block"])):
        tab.emulate_media(color_scheme=theme)
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(number) for number in re.findall(r"\d+", ground)) / 3
        assert (brightness < 64) == (theme == "dark")
        options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
        found = tab.evaluate("options => axe.run(document, options)", options)["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == [], theme
    tab.close()


def test_no_hidden_line_is_in_a_page(page):
    marked = re.compile(r"### BEGIN HIDDEN TESTS(.*?)### END HIDDEN TESTS", re.DOTALL)
    shown = {
        line.strip() for c in SOURCE.stub.cells for line in marked.sub("", c.source).split("\n")
    }
    hidden = {
        line.strip()
        for cell in SOURCE.stub.cells
        for part in marked.findall(cell.source)
        for line in part.splitlines()
        if len(line.strip()) > 3
    } - shown
    assert len(hidden) > 10
    text = text_of(page)
    assert [line for line in hidden if " ".join(line.split()) in text] == []
    assert "HIDDEN" not in text


def test_a_late_penalty_is_shown():
    text = text_of(feedback_job(job(late_penalty=2.0)))
    assert "(Score: 3.5 / 20.0)" in text
    assert "7. Apply now: in words0 of 2commentLate submission penalty-2" in text


class TestAClass:
    @pytest.fixture
    def folder(self, tmp_path):
        for student in ("ada", "bo"):
            path = tmp_path / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(job()["notebook"], encoding="utf-8")
        return tmp_path

    @staticmethod
    def result(student: str, score: float = 1.0) -> Result:
        return Result(student, Entry(student, {"softmax-tests": score}, dict(SOURCE.points)))

    @staticmethod
    def write(folder, *results) -> tuple[list[str], dict[str, str]]:
        written = []
        problems = write_feedback(ASSIGNMENT, folder, results, progress=written.append)
        return sorted(line.rpartition(" ")[2] for line in written), problems

    def test_only_pages_that_have_changed_are_written(self, folder):
        ada, bo = self.result("ada"), self.result("bo")
        failed = Result("cy", None, reason="nothing submitted")
        assert self.write(folder, ada, bo, failed) == (["ada", "bo"], {})
        page = folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
        assert len(digest_of(page)) == 64
        assert self.write(folder, ada, bo) == ([], {})
        assert self.write(folder, ada, self.result("bo", 2.0)) == (["bo"], {})
        page.write_text("written by another program")
        assert self.write(folder, ada) == (["ada"], {})

    def test_right_numbers_are_shown_after_the_deadline(self, folder):
        path = folder / "autograded" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        tests = next(cell for cell in notebook.cells if cell.id == "by-hand-tests")
        tests.metadata[KEY] = "raw_scores: 7 is not right."
        tests.outputs = [nbformat.v4.new_output("stream", text="raw_scores: expected 5, got 7.")]
        nbformat.write(notebook, path)
        page = folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
        now = datetime.now(UTC).replace(tzinfo=None)
        for due, shown in (
            (now + timedelta(days=1), False),
            (now - timedelta(days=1), True),
            (None, True),
        ):
            result = self.result("ada")
            result.entry.due = due
            assert self.write(folder, result) == (["ada"], {})
            text = page.read_text(encoding="utf-8")
            assert ("raw_scores: expected 5, got 7." in text) == shown
            assert ("raw_scores: 7 is not right." in text) != shown
            assert ("Right numbers are left out of the messages below" in text) != shown

    @pytest.mark.parametrize(("shown", "withheld"), [("always", False), ("never", True)])
    def test_an_option_decides_for_any_deadline(self, shown, withheld):
        config = Config({"RightNumbers": {"shown": shown}})
        for due in (None, datetime(2026, 3, 2), datetime(9999, 3, 2)):
            assert are_withheld(due, config) == withheld

    def test_a_missing_graded_notebook_is_reported(self, folder):
        written, problems = self.write(folder, self.result("zoe"), self.result("bo"))
        assert written == ["bo"]
        assert list(problems) == ["zoe"]
        assert problems["zoe"].startswith("no feedback: expected ")

    def test_an_unreadable_graded_notebook_is_reported(self, folder):
        path = folder / "autograded" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.write_text("{")
        written, problems = self.write(folder, self.result("ada"), self.result("bo"))
        assert sorted(written) == ["ada", "bo"]
        assert problems["ada"].startswith("no feedback: JSONDecodeError")

    def test_files_in_the_way_stop_only_the_page_of_one_student(self, folder):
        notebooks = {
            student: folder / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
            for student in ("ada", "bytes", "page", "above", "note")
        }
        for student, path in notebooks.items():
            if student != "ada":
                shutil.copytree(notebooks["ada"].parent, path.parent)
        notebooks["bytes"].write_bytes(b'{"cells": "\xff"}')
        feedback = folder / "feedback"
        (feedback / "page" / ASSIGNMENT / f"{ASSIGNMENT}.html").mkdir(parents=True)
        (feedback / "above").write_text("a file")
        notebooks["note"].with_name("timestamp.txt").write_text("2026-03-01 10:00:00 UTC")
        (feedback / "note" / ASSIGNMENT / "timestamp.txt").mkdir(parents=True)
        _, problems = self.write(folder, *map(self.result, notebooks))
        assert {student: problem[:30] for student, problem in problems.items()} == {
            "bytes": "no feedback: UnicodeDecodeErro",
            "page": "no feedback: [Errno 21] Is a d",
            "above": "no feedback: [Errno 20] Not a ",
            "note": "no feedback: [Errno 21] Is a d",
        }
        assert (feedback / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html").is_file()
