"""From bytes to cells: what a file says, whatever wrote it.

A learner's file may be anything. So no notebook library sees it: what is needed is picked out
of the JSON, piece by piece, and all else is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.submission.errors import Unreadable
from grader.submission.finding import check_size
from grader.submission.wording import Remarks, listed

#: The most values in a file. Each costs some 100 bytes while the file is read.
MOST_VALUES = 1_000_000
#: The most cells in a notebook. The largest assignment has some 40.
MOST_CELLS = 1000
#: The most text of a cell, in MiB of UTF-8, pictures apart that stand in it as text.
MOST_MIB = 1
#: The most lines of all cells. Each costs some 100 bytes when the notebook is written.
MOST_LINES = 200_000

#: Pictures that a text cell may hold.
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

CODE, MARKDOWN, RAW = "code", "markdown", "raw"

# A text, to its end or that of the file, or what goes before a value. Nothing is tried twice.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
_PICTURE = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]++")
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Cell:
    """What counts of a cell that was handed in."""

    kind: str  #: `CODE`, `MARKDOWN` or `RAW`
    text: str
    id: str = ""  #: the notebook format's id, if it is one
    marks: Mapping[str, Any] = field(default_factory=dict)  #: what nbgrader wrote into it
    pictures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def grade_id(self) -> str:
        """The id that nbgrader wrote into it, or ""."""
        grade_id = self.marks.get("grade_id")
        return grade_id if isinstance(grade_id, str) else ""


@dataclass(frozen=True)
class Reading:
    """The cells of a file, and what was odd about it."""

    cells: list[Cell]
    remarks: list[str]


def read(data: bytes) -> Reading:
    """Return the cells in the file.

    Raises
    ------
    Unreadable
        If it is no notebook, or one too large to be read safely.
    """
    check_size(len(data))
    remarks: list[str] = []
    text = _decode(data, remarks)
    notebook = _parse(text, remarks)
    return Reading(_cells(notebook, remarks), remarks)


def _decode(data: bytes, remarks: list[str]) -> str:
    """Return the file as text, in the encoding it seems to have."""
    if not data.strip(b" \t\r\n\0"):
        raise Unreadable("the file is empty. Save the notebook and hand in again")
    found = _what_else_it_is(data)
    if found:
        raise Unreadable(f"the file is no notebook but {found}. Hand in the .ipynb file itself")
    encoding: str = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text, encoding = _decode_as_well_as_possible(data)
    if encoding == "utf-8-sig":
        remarks.append("The file began with a byte order mark, which was dropped.")
    elif encoding != "utf-8":
        remarks.append(f"The file was not in UTF-8; it was read as {encoding.upper()}.")
    return text.strip("\0\ufeff")


def _decode_as_well_as_possible(data: bytes) -> tuple[str, str]:
    """Return text from what is not quite UTF-8 and the name of what it was taken for."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    not_ascii = len(text) - len(text.encode("ascii", "ignore"))
    if not_ascii - broken > broken:
        return text, "UTF-8 with some broken characters"
    try:
        return data.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "Latin-1"


def _what_else_it_is(data: bytes) -> str:
    """Name the kind of file if it begins like one that is often handed in by mistake."""
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    kinds = [
        ((b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!"), "an archive"),
        ((b"%PDF",), "a PDF"),
        ((b"<!doctype", b"<html", b"<?xml"), "a web page"),
        ((b"version https://git-lfs",), "a pointer of Git LFS"),
        ((b"# %%", b"# coding", b"#!", b"# In[", b"import ", b"from ", b"def "), "a Python file"),
    ]
    for starts, kind in kinds:
        if start.lower().startswith(tuple(s.lower() for s in starts)):
            return kind
    return ""


def _parse(text: str, remarks: list[str]) -> Mapping[str, Any]:
    """Return the JSON object in the text."""
    _check_number_of_values(text)
    twice: dict[str, None] = {}  # an ordered set

    def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    twice[name] = None
                seen.add(name)
        return found

    # Of all numbers only that of the format's version is looked at; the digits of a number may
    # be millions.
    decoder = json.JSONDecoder(
        object_pairs_hook=without_doubles, parse_int=_short_number, parse_float=lambda _: 0.0
    )
    begin = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        notebook, end = decoder.raw_decode(text, begin)
    except RecursionError:
        raise Unreadable(
            "the file is no notebook: its values are nested too deep. Save and hand in again"
        ) from None
    except json.JSONDecodeError as error:
        raise Unreadable(_broken(text, error)) from None
    if text[end:].strip("\0 \t\r\n"):
        remarks.append("Behind the notebook's end the file went on; that was not looked at.")
    if twice:
        names = listed([repr(name[:40]) for name in list(twice)[:5]])
        remarks.append(f"Keys stood twice in one place of the file, {names}; the last was read.")
    if not isinstance(notebook, dict):
        raise Unreadable(
            f"the file is no notebook: it holds {_kind_of(notebook)}, expected an object with "
            "cells. Hand in the .ipynb file itself"
        )
    return notebook


def _check_number_of_values(text: str) -> None:
    """Raise `Unreadable` for JSON that would take too much memory."""
    if sum(map(text.count, "[{,")) <= MOST_VALUES:
        return
    values = texts = 0
    for token in _TOKEN.finditer(text):  # brackets and commas in texts cost nothing
        if text[token.start()] == '"':
            texts += 1
        else:
            values += 1
        if values > MOST_VALUES or texts > 2 * MOST_VALUES:  # a key and a value at each
            raise Unreadable(
                f"the file holds more than {MOST_VALUES:,} values, the most that is read. "
                "Clear the outputs, save and hand in again"
            )


def _short_number(digits: str) -> int:
    return int(digits) if len(digits) < 10 else 0


def _broken(text: str, error: json.JSONDecodeError) -> str:
    if re.search(r"^(?:<{7}|>{7}) ", text, re.MULTILINE):
        return (
            "the file is no notebook: it holds marks of a merge in Git that was not finished. "
            "Finish it and hand in again"
        )
    ends = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
    where = f"it breaks off in line {text.count(chr(10)) + 1}" if ends else f"line {error.lineno}"
    return f"the file is no notebook: {where} ({error.msg}). Open it, save and hand in again"


def _cells(notebook: Mapping[str, Any], remarks: list[str]) -> list[Cell]:
    """Return the cells, of old formats too."""
    found = notebook.get("cells")
    if found is None and isinstance(notebook.get("worksheets"), list):
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        lists = [sheet["cells"] for sheet in sheets if isinstance(sheet.get("cells"), list)]
        found = [cell for cells in lists for cell in cells]
        remarks.append("The notebook was in the format of before 2015; it was read as well.")
    if not isinstance(found, list):
        raise Unreadable(
            f"the file is no notebook: expected a list of cells, got {_kind_of(found)}. "
            "Hand in the .ipynb file itself"
        )
    if len(found) > MOST_CELLS:
        raise Unreadable(f"the notebook has {len(found)} cells; at most {MOST_CELLS} are read")
    odd = Remarks()
    cells = [_cell(cell, f"number {number}", odd) for number, cell in enumerate(found, start=1)]
    remarks += odd.sentences()
    _check_size_of_cells(cells)
    if any("\r" in cell.text for cell in cells if cell):
        remarks.append("Lines ended as on Windows; they were made to end as here.")
    if any(_LONE_SURROGATE.search(cell.text) for cell in cells if cell):
        remarks.append("Broken characters were replaced by �.")
    return [_cleaned(cell) for cell in cells if cell]


def _check_size_of_cells(cells: list[Cell | None]) -> None:
    """Raise `Unreadable` for what would take too much memory as a notebook."""
    lines = 0
    for number, cell in enumerate(cells, start=1):
        if cell is None:
            continue
        text = _PICTURE.sub("", cell.text) if "data:image/" in cell.text else cell.text
        mib = len(text.encode("utf-8", "surrogatepass")) / 2**20
        if mib > MOST_MIB:
            raise Unreadable(
                f"the cell number {number} holds {mib:.2f} MiB of text, more than the {MOST_MIB} "
                "MiB that is read. Take out of it what is no answer, save and hand in again"
            )
        lines += sum(map(cell.text.count, _LINE_ENDS))
    if lines > MOST_LINES:
        raise Unreadable(
            f"the cells have {lines:,} lines together, more than the {MOST_LINES:,} that are "
            "read. Take out what is no answer, save and hand in again"
        )


def _cell(found: Any, name: str, odd: Remarks) -> Cell | None:
    if not isinstance(found, dict):
        what = _kind_of(found)
        odd.add(
            name,
            f"was no cell but {what}; it was left out.",
            f"were no cells but {what}; they were left out.",
        )
        return None
    kind = found.get("cell_type")
    source = found.get("source", found.get("input"))
    text = _text(source)
    if text is None:
        what = _kind_of(source)
        odd.add(
            name,
            f"had for its text {what}; it was taken for empty.",
            f"had for their texts {what}; they were taken for empty.",
        )
        text = ""
    if kind == "heading":  # of the old format
        level = found.get("level")
        text = "#" * (level if isinstance(level, int) and 0 < level < 7 else 1) + " " + text
    elif kind not in (CODE, MARKDOWN, RAW):
        odd.add(
            name,
            "was of no known kind; it was taken for text.",
            "were of no known kind; they were taken for text.",
        )
    cell_id, metadata = found.get("id"), found.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return Cell(
        kind=kind if kind in (CODE, RAW) else MARKDOWN,
        text=text,
        id=cell_id if isinstance(cell_id, str) and _CELL_ID.fullmatch(cell_id) else "",
        marks=marks if isinstance(marks, dict) else {},
        pictures=_pictures(found.get("attachments")),
    )


def _text(source: Any) -> str | None:
    """Return a cell's text, which may stand in the file line by line."""
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return None


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    if not isinstance(attachments, dict):
        return {}
    kept = {}
    for name, kinds in attachments.items():
        if isinstance(kinds, dict):
            pictures = {kind: _text(kinds[kind]) for kind in PICTURES if kind in kinds}
            kept[_whole(name)] = {k: _whole(p) for k, p in pictures.items() if p is not None}
    return {name: kinds for name, kinds in kept.items() if kinds}


def _cleaned(cell: Cell) -> Cell:
    text = cell.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return Cell(cell.kind, _whole(text), cell.id, cell.marks, cell.pictures)


def _whole(text: str) -> str:
    """Return the text with halves of characters replaced: no encoding can write them."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _kind_of(value: Any) -> str:
    """Name what a value is in JSON's words."""
    if value is None:
        return "nothing"
    if isinstance(value, (bool, int, float)):
        return "a number" if not isinstance(value, bool) else str(value).lower()
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return kinds[type(value)]
