"""Accidents that happen to honest notebooks, and the expected verdict on each.

Every accident happens to the same notebook: `dot-products` with right answers, which has 18
points and a text to grade by hand. `ACCIDENTS` is the table of accidents and expectations.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Notebook = dict[str, Any]


@dataclass(frozen=True)
class Accident:
    """An accident and the expected result of grading."""

    happen: Callable[[Notebook], bytes | None]  #: changes the notebook in place, or returns a file
    says: tuple[str, ...] = ()  #: pieces of the remarks in order, or of the reason for a failure
    fails: bool = False  #: whether it cannot be graded
    lost: Mapping[str, float] = field(default_factory=dict)  #: lost points by test cell
    missing: tuple[str, ...] = ()  #: answers that were not handed in

    @property
    def status(self) -> str:
        """The expected status of the verdict."""
        if self.fails:
            return "failed"
        return "graded with remarks" if self.says else "graded"

    def file(self, notebook: Notebook) -> bytes:
        """Return the submitted file after the accident; `notebook` itself is not changed."""
        notebook = copy.deepcopy(notebook)
        made = self.happen(notebook)
        return dumped(notebook) if made is None else made


ACCIDENTS: dict[str, Accident] = {}

POINTS = {
    "score-matrix-tests": 2.0,
    "softmax-tests": 3.0,
    "attention-tests": 4.0,
    "shapes-tests": 2.0,
    "reading-tests": 3.0,
    "by-hand-tests": 4.0,
}
ANSWERS = (
    *("learner-id", "score-matrix", "softmax", "attention", "shapes", "reading", "by-hand"),
    "in-words",
)


def accident(*says: str, fails: bool = False, lost: str = "", missing: tuple[str, ...] = ()):
    """Enter the decorated function into the table; `lost` names test cells that give no points."""

    def enter(happen):
        name = happen.__name__.replace("_", " ")
        points = {cell: POINTS[cell] for cell in lost.split()}
        ACCIDENTS[name] = Accident(happen, says, fails, points, missing)
        return happen

    return enter


def dumped(notebook: Notebook) -> bytes:
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode("utf-8")


def place(notebook: Notebook, cell_id: str) -> int:
    return next(i for i, cell in enumerate(notebook["cells"]) if cell["id"] == cell_id)


def cell(notebook: Notebook, cell_id: str) -> dict[str, Any]:
    return notebook["cells"][place(notebook, cell_id)]


def move(notebook: Notebook, cell_id: str, to: int) -> None:
    notebook["cells"].insert(to, notebook["cells"].pop(place(notebook, cell_id)))


def delete(notebook: Notebook, *cell_ids: str) -> None:
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] not in cell_ids]


def copy_behind(notebook: Notebook, cell_id: str, source: str | None = None, new_id: str = "c0"):
    """Copy a cell and insert the copy after it, with a new id, as editors do."""
    at = place(notebook, cell_id)
    other = copy.deepcopy(notebook["cells"][at]) | {"id": new_id}
    if source is not None:
        other["source"] = source
    notebook["cells"].insert(at + 1, other)


def write(notebook: Notebook, cell_id: str, text: str) -> None:
    """Write a text at the top of a cell."""
    changed = cell(notebook, cell_id)
    changed["source"] = text + "".join(changed["source"])


def own_cell(source: str, cell_id: str = "b7d91c02") -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 7,
        "id": cell_id,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


# --- Harmless changes that need no remark ---


@accident()
def nothing_happened(notebook):
    pass


@accident()
def run_and_saved_with_outputs(notebook):
    for number, c in enumerate(notebook["cells"]):
        if c["cell_type"] == "code":
            c["execution_count"] = number
            c["outputs"] = [
                {"output_type": "stream", "name": "stderr", "text": ["DeprecationWarning\n"]},
                {"output_type": "display_data", "data": {"text/html": "<script>"}, "metadata": {}},
            ]


@accident()
def a_kernel_of_conda(notebook):
    notebook["metadata"] = {"kernelspec": {"name": "conda-env-ml-py", "display_name": "ml"}}


@accident()
def the_metadata_of_colab(notebook):
    notebook["metadata"]["colab"] = {"provenance": [], "toc_visible": True}
    notebook["nbformat_minor"] = 0
    for number, c in enumerate(notebook["cells"]):
        del c["id"]
        c["metadata"] |= {"id": f"x{number}Zq", "colab": {"base_uri": "https://localhost:8080/"}}


@accident()
def the_metadata_of_vs_code(notebook):
    for c in notebook["cells"]:
        c["metadata"]["vscode"] = {"languageId": "python"}


@accident()
def cells_of_their_own(notebook):
    at = place(notebook, "attention")
    notebook["cells"].insert(at, own_cell("def root(x):\n    return x**0.5"))
    notebook["cells"].insert(at, own_cell("%timeit -n1 -r1 1 + 1", "c1"))
    attention = cell(notebook, "attention")
    attention["source"] = "".join(attention["source"]).replace("d_k**0.5", "root(d_k)")


@accident()
def sources_in_one_string(notebook):
    for c in notebook["cells"]:
        c["source"] = "".join(c["source"])


@accident()
def white_space_at_ends_of_lines(notebook):
    for c in notebook["cells"]:
        c["source"] = "".join(c["source"]).replace("\n", "  \n") + "\n\n"


@accident()
def not_a_number_in_outputs(notebook):
    cell(notebook, "softmax")["outputs"] = [{"output_type": "x", "data": [float("nan"), 1e400]}]


@accident()
def pages_of_html_in_a_text(notebook):
    cell(notebook, "in-words")["source"] = "<script>alert(1)</script> <b>Value 0.</b>"


@accident()
def a_text_of_the_task_deleted(notebook):
    delete(notebook, "start", "softmax-task", "end")


# --- Files ---


@accident("byte order mark")
def a_byte_order_mark(notebook):
    return b"\xef\xbb\xbf" + dumped(notebook)


@accident("not in UTF-8; it was read as UTF-16")
def utf_16(notebook):
    return dumped(notebook).decode().encode("utf-16")


@accident("not in UTF-8; it was read as UTF-16-BE")
def utf_16_without_a_mark(notebook):
    return dumped(notebook).decode().encode("utf-16-be")


@accident("not in UTF-8; it was read as WINDOWS-1252")
def latin_1(notebook):
    cell(notebook, "in-words")["source"] = "Schlüssel 0 paßt, à peu près."
    return dumped(notebook).decode().encode("latin-1", "replace")


@accident("UTF-8 WITH SOME BROKEN CHARACTERS")
def one_byte_broken(notebook):
    cell(notebook, "in-words")["source"] = "Schlüssel für Schlüssel: µ"
    return dumped(notebook).replace("µ".encode(), b"\xff")


@accident("Windows line endings")
def line_ends_of_windows(notebook):
    for c in notebook["cells"]:
        c["source"] = "".join(c["source"]).replace("\n", "\r\n")
    return dumped(notebook).replace(b"\n", b"\r\n")


@accident("Broken characters were replaced")
def half_a_character(notebook):
    cell(notebook, "in-words")["source"] = "Value 0 \ud83d wins."
    return json.dumps(notebook).encode("ascii")


@accident("more text after the end of the notebook")
def something_behind_the_end(notebook):
    return dumped(notebook) + b'\n{"cells": []}'


@accident("'source'; the last value was used", lost="softmax-tests attention-tests")
def a_key_twice(notebook):
    text = json.dumps(cell(notebook, "softmax"), ensure_ascii=False)
    twice = text[:-1] + ', "source": "softmax = 0"}'
    cells = [json.dumps(c, ensure_ascii=False) for c in notebook["cells"]]
    cells[place(notebook, "softmax")] = twice
    return ('{"nbformat": 4, "cells": [' + ",".join(cells) + "]}").encode()


@accident("format used before 2015")
def the_format_of_2014(notebook):
    for c in notebook["cells"]:
        del c["id"]
        if c["cell_type"] == "code":
            c["input"] = c.pop("source")
            c |= {"language": "python", "collapsed": False}
    cells = notebook.pop("cells")
    cells.insert(0, {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Mine"]})
    notebook |= {"nbformat": 3, "worksheets": [{"cells": cells[:9]}, {"cells": cells[9:]}]}


@accident("number 2 was not a cell but nothing", "number 4 was not a cell but a text")
def cells_that_are_none(notebook):
    notebook["cells"].insert(1, None)
    notebook["cells"].insert(3, "softmax")


@accident(
    "number 11 had a number in place of its text; it was read as empty.",
    lost="softmax-tests attention-tests",
)
def a_number_for_a_text(notebook):
    assert place(notebook, "softmax") == 9
    notebook["cells"].insert(0, own_cell(""))
    cell(notebook, "softmax")["source"] = 7


@accident("of an unknown type")
def a_cell_of_an_unknown_kind(notebook):
    notebook["cells"].append({"cell_type": "sql", "id": "q", "metadata": {}, "source": "select"})


@accident("the file is empty", fails=True)
def an_empty_file(notebook):
    return b""


@accident("the file is empty", fails=True)
def a_file_of_zeros(notebook):
    return b"\0" * 4096


@accident("it breaks off in line", fails=True)
def an_upload_that_broke_off(notebook):
    data = dumped(notebook)
    return data[: len(data) // 2]


@accident("line 1 (Expecting value)", fails=True)
def a_text(notebook):
    return b"My answer is D."


@accident("an archive", fails=True)
def an_archive(notebook):
    return b"PK\x03\x04\x14\0\0\0" + bytes(200)


@accident("a PDF", fails=True)
def a_pdf(notebook):
    return b"%PDF-1.7\n%\xe2\xe3\xcf\xd3"


@accident("a web page", fails=True)
def the_page_of_a_login(notebook):
    return b"<!DOCTYPE html><html><title>Sign in</title></html>"


@accident("a Python file", fails=True)
def a_python_file(notebook):
    return b"# %%\nimport numpy as np\n"


@accident("of a Git merge", fails=True)
def a_merge_that_was_not_finished(notebook):
    line = b' "nbformat": 4,'
    both = b"<<<<<<< HEAD\n" + line + b"\n=======\n" + line + b"\n>>>>>>> other\n"
    return dumped(notebook).replace(line, both)


@accident("it contains a list", fails=True)
def a_list(notebook):
    return dumped(notebook["cells"])


@accident("expected a list of cells, got nothing", fails=True)
def no_list_of_cells(notebook):
    del notebook["cells"]


@accident("expected a list of cells, got an object", fails=True)
def cells_in_an_object(notebook):
    notebook["cells"] = {"0": notebook["cells"][0]}


@accident("nested too deep", fails=True)
def nested_a_hundred_thousand_deep(notebook):
    return b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@accident("more than 1,000,000 values", fails=True)
def millions_of_values(notebook):
    return b'{"cells": [' + b"{}," * 2_000_000 + b"{}]}"


@accident("2000 cells; at most 1000", fails=True)
def thousands_of_cells(notebook):
    notebook["cells"] = [own_cell("1") for _ in range(2000)]


@accident("larger than 20 MiB", fails=True)
def a_file_of_21_mib(notebook):
    return b" " * (21 * 2**20)


@accident()
def an_integer_of_a_million_digits(notebook):
    return dumped(notebook).replace(b'"nbformat": 4', b'"nbformat": 4, "x": ' + b"9" * 10**6)


@accident()
def commas_in_a_long_output(notebook):
    text = "1,2,3,[4],{5}\n" * 300_000
    cell(notebook, "softmax")["outputs"] = [{"output_type": "stream", "text": text}]


# --- Duplicated, split and missing cells ---


@accident("The cell softmax occurred more than once, with one answer")
def an_answer_copied(notebook):
    copy_behind(notebook, "softmax")


@accident("The cell softmax occurred more than once, with one answer")
def the_empty_cell_kept_behind_the_answer(notebook):
    stub = 'def softmax(scores):\n    """Return the shares of each row of scores, along the last '
    stub += 'axis."""\n    # YOUR CODE HERE\n    raise NotImplementedError()\n'
    copy_behind(notebook, "softmax", stub)


@accident("with different answers or in pieces", lost="softmax-tests attention-tests")
def a_wrong_answer_behind_the_right_one(notebook):
    copy_behind(notebook, "softmax", "def softmax(scores):\n    return scores")


@accident("with different answers or in pieces")
def a_right_answer_behind_a_wrong_one(notebook):
    copy_behind(notebook, "softmax", cell(notebook, "softmax")["source"])
    cell(notebook, "softmax")["source"] = "def softmax(scores):\n    return scores"


@accident("The cell reading occurred more than once, with different answers or in pieces")
def an_answer_split_in_two_with_the_metadata_in_both(notebook):
    lines = "".join(cell(notebook, "reading")["source"]).split("\n")
    cell(notebook, "reading")["source"] = "\n".join(lines[:2])
    copy_behind(notebook, "reading", "\n".join(lines[2:]))


@accident()
def an_answer_split_in_two_with_the_metadata_in_one(notebook):
    lines = "".join(cell(notebook, "reading")["source"]).split("\n")
    cell(notebook, "reading")["source"] = "\n".join(lines[:2])
    notebook["cells"].insert(place(notebook, "reading") + 1, own_cell("\n".join(lines[2:])))


@accident("The cell in-words occurred more than once, with different answers or in pieces")
def a_text_split_in_two(notebook):
    copy_behind(notebook, "in-words", "and this is why.")


@accident("The cell softmax-tests occurred more than once; one copy was executed.")
def a_test_copied(notebook):
    copy_behind(notebook, "softmax-tests")


@accident(
    "softmax-tests and attention-tests occurred more than once; one copy of each was executed."
)
def tests_split(notebook):
    for number, name in enumerate(("softmax-tests", "attention-tests")):
        copy_behind(notebook, name, "check.finish()", f"c{number}")
        cell(notebook, name)["source"] = "import numpy as np"
    copy_behind(notebook, "softmax-tests", "x = 1", "c3")


@accident(
    "The cell softmax-tests occurred more than once; one copy was executed.",
    "The cell softmax was not handed in.",
    missing=("softmax",),
)
def an_answer_written_into_a_copy_of_the_test(notebook):
    copy_behind(notebook, "softmax-tests")
    cell(notebook, "softmax-tests")["source"] = cell(notebook, "softmax")["source"]
    delete(notebook, "softmax")


@accident("The cell softmax-tests was not handed in; it was put back.")
def a_test_deleted(notebook):
    delete(notebook, "softmax-tests")


@accident(
    "imports, shapes-given, reading-given and by-hand-tests were not handed in; they were put"
)
def given_cells_and_a_test_deleted(notebook):
    delete(notebook, "imports", "shapes-given", "reading-given", "by-hand-tests")


@accident(
    "The cell softmax was not handed in.",
    lost="softmax-tests attention-tests",
    missing=("softmax",),
)
def an_answer_deleted(notebook):
    delete(notebook, "softmax")


@accident("The cell in-words was not handed in.", missing=("in-words",))
def a_text_deleted(notebook):
    delete(notebook, "in-words")


@accident("The cell softmax had lost nbgrader's metadata; it was recognised by the names")
def an_answer_written_into_a_new_cell(notebook):
    source = cell(notebook, "softmax")["source"]
    at = place(notebook, "softmax")
    notebook["cells"][at] = own_cell(source)


@accident(
    "The cell softmax had lost nbgrader's metadata; it was recognised by the names",
    "The cell softmax-tests had been moved",
    lost="attention-tests",
)
def an_answer_written_at_the_end(notebook):
    source = cell(notebook, "softmax")["source"]
    delete(notebook, "softmax")
    notebook["cells"].append(own_cell(source))


@accident(
    "The cells learner-id, score-matrix, softmax, attention, shapes, reading, by-hand and in-words "
    "were not handed in.",
    "imports, score-matrix-tests,",
    lost=" ".join(POINTS),
    missing=ANSWERS,
)
def every_cell_deleted(notebook):
    notebook["cells"] = []


@accident(
    "None of the assignment's cells",
    "were not handed in.",
    "they were put back.",
    lost=" ".join(POINTS),
    missing=ANSWERS,
)
def the_notebook_of_another_course(notebook):
    notebook["cells"] = [own_cell("print('hello')")]


@accident(
    "The cell 'warm-up' is not one of the assignment's; it was executed as the learner's own."
)
def a_task_that_the_assignment_has_no_longer(notebook):
    marks = {"grade_id": "warm-up", "grade": True, "points": 5, "solution": True, "locked": False}
    notebook["cells"].insert(2, own_cell("warm = 1") | {"metadata": {"nbgrader": marks}})


# --- Cells with a changed type, position, metadata or text ---


@accident("The cell softmax-tests had been turned into text; it was read as code.")
def a_test_turned_into_text(notebook):
    cell(notebook, "softmax-tests")["cell_type"] = "markdown"


@accident("The cell softmax had been turned into text; it was read as code.")
def an_answer_turned_into_text(notebook):
    cell(notebook, "softmax")["cell_type"] = "markdown"


@accident("The cells shapes and reading had been turned into raw text; they were read as code.")
def answers_turned_raw(notebook):
    for name in ("shapes", "reading"):
        cell(notebook, name)["cell_type"] = "raw"


@accident("The cell in-words had been turned into code; it was read as text.")
def a_text_turned_into_code(notebook):
    cell(notebook, "in-words")["cell_type"] = "code"


@accident("The cell softmax-tests had been moved; it was put back in its place.")
def a_test_moved_to_the_start(notebook):
    move(notebook, "softmax-tests", 0)


@accident("The cells imports and shapes-given had been moved")
def given_cells_moved_to_the_end(notebook):
    move(notebook, "imports", len(notebook["cells"]))
    move(notebook, "shapes-given", len(notebook["cells"]))


@accident("The cell softmax-tests had been moved; it was put back in its place.")
def an_answer_moved_behind_its_test(notebook):
    move(notebook, "softmax", place(notebook, "softmax-tests"))


@accident()
def a_whole_task_moved_before_another(notebook):
    at = place(notebook, "shapes-task")
    names = ("reading-task", "reading-given", "reading-question", "reading", "reading-tests")
    for number, name in enumerate(names):
        move(notebook, name, at + number)


@accident("and in-words had lost nbgrader's metadata; they were recognised by their ids.")
def all_metadata_lost(notebook):
    for c in notebook["cells"]:
        c["metadata"] = {}


@accident(
    "imports, score-matrix-tests, softmax-tests, attention-tests, shapes-given,",
    "recognised by the names they define",
    "The cell in-words had lost nbgrader's metadata; it was recognised by its place.",
)
def all_metadata_and_ids_lost(notebook):
    for number, c in enumerate(notebook["cells"]):
        c |= {"metadata": {}, "id": f"{number:08x}"}


@accident("had other metadata (points, grade and locked); the assignment's metadata was used")
def points_and_flags_changed(notebook):
    marks = cell(notebook, "softmax-tests")["metadata"]["nbgrader"]
    marks |= {"points": 300, "grade": False, "locked": False, "checksum": "0"}


@accident("The cell softmax had lost nbgrader's metadata; it was recognised by the names")
def an_unknown_name_in_the_metadata(notebook):
    softmax = cell(notebook, "softmax")
    softmax["metadata"]["nbgrader"]["grade_id"] = "soft-max"
    softmax["id"] = "11"


@accident("The cells softmax-tests and reading-given differ from the assignment's; what was handed")
def locked_cells_changed(notebook):
    tests = cell(notebook, "softmax-tests")
    tests["source"] = "".join(tests["source"]).replace("softmax", "len") + "\n3"
    cell(notebook, "reading-given")["source"] = "W = 0"


@accident(
    "The cell softmax-tests differs from the assignment's; what was handed in was executed first",
    "The cell softmax was not handed in.",
    missing=("softmax",),
)
def an_answer_written_into_the_test(notebook):
    answer = "".join(cell(notebook, "softmax")["source"])
    tests = cell(notebook, "softmax-tests")
    tests["source"] = answer + "\n" + "".join(tests["source"])
    delete(notebook, "softmax")


@accident(
    "The cells imports, score-matrix-tests and shapes-given differ from the assignment's; what"
)
def imports_and_helpers_written_into_locked_cells(notebook):
    """Some editors let learners change cells that are locked."""
    write(notebook, "imports", "import math\n")
    write(notebook, "score-matrix-tests", "def swapped(k):\n    return np.swapaxes(k, -1, -2)\n\n")
    write(notebook, "shapes-given", "def root(x):\n    return math.sqrt(x)\n\n")
    cell(notebook, "score-matrix")["source"] = "def score_matrix(q, k):\n    return q @ swapped(k)"
    cell(notebook, "attention")["source"] = (
        "def attention(q, k, v):\n"
        "    return softmax(score_matrix(q, k) / math.sqrt(q.shape[-1])) @ v"
    )
    cell(notebook, "by-hand")["source"] = (
        "raw_scores = (keys @ query).tolist()\nscaled_scores = [x / root(2) for x in raw_scores]\n"
        "weights = softmax(np.array(scaled_scores))\noutput = weights @ values"
    )


@accident(
    "softmax-tests had lost nbgrader's metadata; it was recognised by its text",
    "The cell softmax-tests differs from the assignment's; what was handed in was executed first",
)
def a_changed_test_without_metadata(notebook):
    tests = cell(notebook, "softmax-tests")
    tests |= {"metadata": {}, "id": "9", "source": ["# mine\n", *tests["source"]]}


@accident()
def metadata_that_is_none(notebook):
    for c in notebook["cells"]:
        c["metadata"] |= {"tags": None, "x": [[[[]]]]}
    for name in ("start", "softmax-task"):
        cell(notebook, name)["metadata"] = None
