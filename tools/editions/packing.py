"""Make a PDF smaller: Chromium does not compress its tags, which for a whole book are megabytes.

Since PDF 1.5 (ISO 32000, 7.5.7 and 7.5.8) objects that are no streams may stand in compressed
streams of objects, and the table of all objects is a stream too.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

#: Objects in one stream: a reader unpacks all of them to get one.
TOGETHER = 200
HEAD = re.compile(rb"(\d+) (\d+) obj\s*")
ENTRY = re.compile(rb"(\d{10}) (\d{5}) n")
START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
TRAILER = re.compile(rb"trailer\s*<<(.*)>>\s*startxref", re.DOTALL)


def packed(pdf: bytes) -> bytes:
    """Return a PDF with its objects in compressed streams.

    Parameters
    ----------
    pdf : bytes
        As Chromium writes it: with one table of objects, not encrypted. A file that is written in
        another way is returned as it is.
    """
    start, trailer = START.search(pdf), TRAILER.search(pdf)
    is_known = start and trailer and pdf.startswith(b"xref", int(start[1]))
    if not start or not trailer or not is_known or b"/Encrypt" in trailer[1]:
        return pdf
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    places: dict[int, tuple[int, int, int]] = {0: (0, 0, 65535)}
    loose: list[tuple[int, bytes]] = []
    for number, content in _objects(pdf, int(start[1])):
        if content.endswith(b"endstream"):
            places[number] = (1, len(out), 0)
            out += _object(number, content)
        else:
            loose.append((number, content))
    number = max([*places, *(number for number, _ in loose)])
    for first in range(0, len(loose), TOGETHER):
        group = loose[first : first + TOGETHER]
        number += 1
        places |= {inner: (2, number, index) for index, (inner, _) in enumerate(group)}
        places[number] = (1, len(out), 0)
        out += _object(number, _stream_of_objects(group))
    number += 1
    places[number] = (1, len(out), 0)
    table = b"".join(
        kind.to_bytes(1) + place.to_bytes(4) + index.to_bytes(2)
        for kind, place, index in (places.get(n, (0, 0, 65535)) for n in range(number + 1))
    )
    kept = re.sub(rb"/Size \d+", b"", trailer[1]).strip()
    head = b"/Type /XRef /Size %d /W [1 4 2] %s" % (number + 1, kept)
    end = len(out)
    out += _object(number, _stream(head, table))
    out += b"startxref\n%d\n%%%%EOF\n" % end
    return bytes(out)


def _objects(pdf: bytes, table: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each object, in the order of the file.

    Examples
    --------
    >>> file = b"%PDF-1.4\\n3 0 obj\\n<</A 1>>\\nendobj\\nxref\\n0 1\\n0000000009 00000 n\\n"
    >>> list(_objects(file, file.index(b"xref")))
    [(3, b'<</A 1>>')]
    """
    places = sorted(int(entry[1]) for entry in ENTRY.finditer(pdf, table))
    for place, end in zip(places, [*places[1:], table], strict=True):
        head = HEAD.match(pdf, place)
        whole = pdf[place:end].rstrip()
        if not head or not whole.endswith(b"endobj"):
            raise ValueError(
                f"expected an object of the PDF at byte {place}, got {whole[:40]!r}. "
                "Chromium writes it in another way than this module knows."
            )
        yield int(head[1]), pdf[head.end() : place + len(whole) - len(b"endobj")].rstrip()


def _object(number: int, content: bytes) -> bytes:
    return b"%d 0 obj\n%s\nendobj\n" % (number, content)


def _stream(head: bytes, content: bytes) -> bytes:
    small = zlib.compress(content, 9)
    return b"<<%s /Filter /FlateDecode /Length %d>> stream\n%s\nendstream" % (
        head,
        len(small),
        small,
    )


def _stream_of_objects(group: list[tuple[int, bytes]]) -> bytes:
    contents, places, end = [], [], 0
    for number, content in group:
        places.append(b"%d %d" % (number, end))
        contents.append(content)
        end += len(content) + 1
    index = b" ".join(places) + b"\n"
    head = b"/Type /ObjStm /N %d /First %d" % (len(group), len(index))
    return _stream(head, index + b"\n".join(contents))
