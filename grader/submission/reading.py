"""Reads the cells of a submitted file, which may contain anything.

So no notebook library parses it: the values that are needed are read from the JSON one by one,
and everything else is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.submission.errors import Unreadable
from grader.submission.locating import check_size
from grader.submission.wording import Remarks, listed

#: Maximum number of JSON values in a file. Each needs about 100 bytes while the file is read.
MAX_VALUES = 1_000_000
#: Maximum number of cells in a notebook. The largest assignment has about 40.
MAX_CELLS = 1000
#: Maximum size of a cell's text, in MiB of UTF-8, without embedded pictures (data URLs).
MAX_MIB = 1
#: Maximum number of lines of all cells. Each needs about 100 bytes when the notebook is written.
MAX_LINES = 200_000

#: Maximum number of pictures attached to all text cells.
MAX_PICTURES = 1000

#: MIME types of the pictures that are kept in text cells.
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

CODE, MARKDOWN, RAW = "code", "markdown", "raw"

# A JSON string, perhaps cut off by the end of the file, or a character that precedes a value. The
# quantifiers are possessive, so no input causes backtracking.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
_PICTURE = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]++")
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Cell:
    """The parts of a handed-in cell that are used."""

    kind: str  #: `CODE`, `MARKDOWN` or `RAW`
    text: str
    id: str = ""  #: the notebook format's id, if it is valid
    metadata: Mapping[str, Any] = field(default_factory=dict)  #: its nbgrader metadata
    pictures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def grade_id(self) -> str:
        """Its grade_id from the nbgrader metadata, or ""."""
        grade_id = self.metadata.get("grade_id")
        return grade_id if isinstance(grade_id, str) else ""


@dataclass(frozen=True)
class Reading:
    """The cells of a file, and remarks on its faults."""

    cells: list[Cell]
    remarks: list[str]


def read(data: bytes) -> Reading:
    """Return the cells in the file.

    Raises
    ------
    Unreadable
        If it is not a notebook, or is too large to be read safely.
    """
    check_size(len(data))
    remarks: list[str] = []
    text = _decode(data, remarks)
    notebook = _parse(text, remarks)
    return Reading(_cells(notebook, remarks), remarks)


def _decode(data: bytes, remarks: list[str]) -> str:
    """Return the file as text, decoded by a guess of its encoding."""
    if not data.strip(b" \t\r\n\0"):
        raise Unreadable("the file is empty. Save the notebook and hand in again")
    found = _what_else_it_is(data)
    if found:
        raise Unreadable(f"the file is not a notebook but {found}. Hand in the .ipynb file itself")
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
    """Return the text of a file that is not valid UTF-8, and the name of the encoding used."""
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
    """Return the kind of file, if it starts like one often handed in by mistake; else ""."""
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    kinds = [
        ((b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!"), "an archive"),
        ((b"%PDF",), "a PDF"),
        ((b"<!doctype", b"<html", b"<?xml"), "a web page"),
        ((b"version https://git-lfs",), "a Git LFS pointer"),
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

    # Of all numbers only heading levels and points are used. A number may have millions of digits,
    # so long ones are not parsed.
    decoder = json.JSONDecoder(
        object_pairs_hook=without_doubles, parse_int=_short_number, parse_float=_short_float
    )
    begin = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        notebook, end = decoder.raw_decode(text, begin)
    except RecursionError:
        raise Unreadable(
            "the file is not a notebook: its values are nested too deeply. Save and hand in again"
        ) from None
    except json.JSONDecodeError as error:
        raise Unreadable(_broken(text, error)) from None
    if text[end:].strip("\0 \t\r\n"):
        remarks.append("The file has more text after the end of the notebook; it was ignored.")
    if twice:
        names = listed([repr(name[:40]) for name in list(twice)[:5]])
        remarks.append(
            f"The file has keys twice in the same object, {names}; the last value was used."
        )
    if not isinstance(notebook, dict):
        raise Unreadable(
            f"the file is not a notebook: it contains {_kind_of(notebook)}, expected an object "
            "with cells. Hand in the .ipynb file itself"
        )
    return notebook


def _check_number_of_values(text: str) -> None:
    """Raise `Unreadable` for JSON whose values would need too much memory."""
    if sum(map(text.count, "[{,")) <= MAX_VALUES:
        return
    values = texts = 0
    for token in _TOKEN.finditer(text):  # brackets and commas inside strings do not count
        if text[token.start()] == '"':
            texts += 1
        else:
            values += 1
        if values > MAX_VALUES or texts > 2 * MAX_VALUES:  # a key and a string for each value
            raise Unreadable(
                f"the file has more than {MAX_VALUES:,} values, the largest number that is read. "
                "Clear the outputs, save and hand in again"
            )


def _short_number(digits: str) -> int:
    return int(digits) if len(digits) < 10 else 0


def _short_float(digits: str) -> float:
    return float(digits) if len(digits) < 30 else 0.0


def _broken(text: str, error: json.JSONDecodeError) -> str:
    if re.search(r"^(?:<{7}|>{7}) ", text, re.MULTILINE):
        return (
            "the file is not a notebook: it contains conflict markers of a Git merge. "
            "Resolve the conflict and hand in again"
        )
    ends = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
    where = f"it breaks off in line {text.count(chr(10)) + 1}" if ends else f"line {error.lineno}"
    return f"the file is not a notebook: {where} ({error.msg}). Open it, save and hand in again"


def _cells(notebook: Mapping[str, Any], remarks: list[str]) -> list[Cell]:
    """Return the cells, also from the old format with worksheets."""
    found = notebook.get("cells")
    if found is None and isinstance(notebook.get("worksheets"), list):
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        lists = [sheet["cells"] for sheet in sheets if isinstance(sheet.get("cells"), list)]
        found = [cell for cells in lists for cell in cells]
        remarks.append("The notebook is in the format used before 2015; it was converted.")
    if not isinstance(found, list):
        raise Unreadable(
            f"the file is not a notebook: expected a list of cells, got {_kind_of(found)}. "
            "Hand in the .ipynb file itself"
        )
    if len(found) > MAX_CELLS:
        raise Unreadable(
            f"the notebook has {len(found)} cells; at most {MAX_CELLS} are read. "
            "Delete cells that are not answers, save and hand in again"
        )
    _check_number_of_pictures(found)
    odd = Remarks()
    cells = [_cell(cell, f"number {number}", odd) for number, cell in enumerate(found, start=1)]
    remarks += odd.sentences()
    _check_size_of_cells(cells)
    if any("\r" in cell.text for cell in cells if cell):
        remarks.append("The cells had Windows line endings; they were converted.")
    if any(_LONE_SURROGATE.search(cell.text) for cell in cells if cell):
        remarks.append("Broken characters were replaced by �.")
    return [_cleaned(cell) for cell in cells if cell]


def _check_number_of_pictures(found: list[object]) -> None:
    """Raise `Unreadable` for cells with too many pictures attached."""
    attached = [cell.get("attachments") for cell in found if isinstance(cell, dict)]
    number = sum(len(pictures) for pictures in attached if isinstance(pictures, dict))
    if number > MAX_PICTURES:
        raise Unreadable(
            f"the notebook has {number:,} pictures attached to its cells; at most "
            f"{MAX_PICTURES:,} are read. Delete what is not an answer, save and hand in again"
        )


def _check_size_of_cells(cells: list[Cell | None]) -> None:
    """Raise `Unreadable` for cells that would need too much memory as a notebook."""
    lines = 0
    for number, cell in enumerate(cells, start=1):
        if cell is None:
            continue
        text = _PICTURE.sub("", cell.text) if "data:image/" in cell.text else cell.text
        mib = len(text.encode("utf-8", "surrogatepass")) / 2**20
        if mib > MAX_MIB:
            raise Unreadable(
                f"cell number {number} has {mib:.2f} MiB of text; at most {MAX_MIB} MiB are read. "
                "Delete from it what is not an answer, save and hand in again"
            )
        lines += sum(map(cell.text.count, _LINE_ENDS))
    if lines > MAX_LINES:
        raise Unreadable(
            f"the cells have {lines:,} lines together; at most {MAX_LINES:,} are read. "
            "Delete what is not an answer, save and hand in again"
        )


def _cell(found: object, name: str, odd: Remarks) -> Cell | None:
    if not isinstance(found, dict):
        what = _kind_of(found)
        odd.add(
            name,
            f"was not a cell but {what}; it was dropped.",
            f"were not cells but {what}; they were dropped.",
        )
        return None
    kind = found.get("cell_type")
    source = found.get("source", found.get("input"))
    text = _text(source)
    if text is None:
        what = _kind_of(source)
        odd.add(
            name,
            f"had {what} in place of its text; it was read as empty.",
            f"had {what} in place of their texts; they were read as empty.",
        )
        text = ""
    if kind == "heading":  # in the old format
        level = found.get("level")
        text = "#" * (level if isinstance(level, int) and 0 < level < 7 else 1) + " " + text
    elif kind not in (CODE, MARKDOWN, RAW):
        odd.add(
            name,
            "was of an unknown type; it was read as text.",
            "were of an unknown type; they were read as text.",
        )
    cell_id, metadata = found.get("id"), found.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return Cell(
        kind=kind if kind in (CODE, RAW) else MARKDOWN,
        text=text,
        id=cell_id if isinstance(cell_id, str) and _CELL_ID.fullmatch(cell_id) else "",
        metadata=nbgrader if isinstance(nbgrader, dict) else {},
        pictures=_pictures(found.get("attachments")),
    )


def _text(source: object) -> str | None:
    """Return a cell's text, which the file may have as a list of lines; None for other types."""
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return None


def _pictures(attachments: object) -> dict[str, dict[str, str]]:
    if not isinstance(attachments, dict):
        return {}
    kept = {}
    for name, kinds in attachments.items():
        if isinstance(kinds, dict):
            pictures = {kind: _text(kinds[kind]) for kind in PICTURES if kind in kinds}
            # In base64 they are ASCII. Other characters may take four bytes each.
            kept[_whole(name)] = {k: p for k, p in pictures.items() if p and p.isascii()}
    return {name: kinds for name, kinds in kept.items() if kinds}


def _cleaned(cell: Cell) -> Cell:
    text = cell.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return Cell(cell.kind, _whole(text), cell.id, cell.metadata, cell.pictures)


def _whole(text: str) -> str:
    """Return the text with lone surrogates replaced, since UTF-8 cannot encode them."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _kind_of(value: object) -> str:
    """Return the JSON type of a value, as a sentence names it."""
    if value is None:
        return "nothing"
    if isinstance(value, (bool, int, float)):
        return "a number" if not isinstance(value, bool) else str(value).lower()
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return kinds[type(value)]
