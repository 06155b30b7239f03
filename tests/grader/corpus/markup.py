"""Markup of learners that would act, or would pass for a part of the page that shows it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

from grader.reporting.sanitizer import CLASSES_OF_A_TEXT, STYLES, TAGS

#: Names that formgrader's script looks up, and what makes an element lie over others.
IMPOSTOR = 'id="softmax-tests" name="softmax-tests" class="score full-credit modal-backdrop"'
OVER_ALL = "position:fixed;inset:0;z-index:9999;opacity:0"

#: Text cells. Each would name, cover or load something if it were shown as it is.
MARKUP = {
    "covers the window": f'<div class="nbgrader_cell"><a {IMPOSTOR} href="#x">over all</a></div>',
    "a style": f'<p style="{OVER_ALL};color:red">a</p><p style="pointer-events:none">b</p>',
    "a style with escapes": '<p style="p\\6fsition:fixed">a</p><p style="position/**/:fixed">b</p>',
    "a style that moves": '<b style="margin:-9999px;transform:scale(99);float:left">a</b>',
    "a style that loads": '<p style="background:url(https://example.org/a);color:red">a</p>',
    "entities": "<p &#115;tyle='position:fixed' i&#100;='a' cl&#97;ss='score'>a</p>",
    "details": f'<details open {IMPOSTOR}><summary {IMPOSTOR} tabindex="1">a</summary>b</details>',
    "a dialog": f"<dialog open {IMPOSTOR}>a<form><button>b</button></form></dialog>",
    "a popover": f'<div popover="auto" {IMPOSTOR}>a</div><button popovertarget="softmax-tests">b',
    "a label": '<label for="softmax-tests">a</label><output for="a" form="f">b</output>',
    "fields": f'<input {IMPOSTOR} autofocus value="9"><textarea {IMPOSTOR}>9</textarea><select>',
    "a drawing": f'<svg {IMPOSTOR}><a xlink:href="#x"><rect width="9" height="9"/></a></svg>',
    "a drawing with HTML": f"<svg><foreignObject><div {IMPOSTOR}>a</div></foreignObject></svg>",
    "a drawing with a style": "<svg><style>*{position:fixed}</style><title>a</title></svg>",
    "MathML": f'<math {IMPOSTOR} href="https://example.org"><maction {IMPOSTOR}><mi>x</mi></math>',
    "an image map": '<img usemap="#m" ismap><map name="m"><area href="#x" coords="0,0,9,9"></map>',
    "a link to the page": '<a href="#softmax-tests" target="_top">a</a> [b](#softmax-tests)',
    "a link to the server": "[a](http://localhost:8888/formgrader/?path=submitted) <http://a.org>",
    "a link by reference": '[a][b]\n\n[b]: javascript:alert(1) "title"\n\n[c]\n\n[c]: https://a.org',
    "a link to here": "[a](/formgrader/api/grades) [b](//example.org) <a href=''>c</a>",
    "a link with a title": f"<a title='a\" {IMPOSTOR}' href='https://a.org/\" {IMPOSTOR}'>a</a>",
    "a base": '<base href="https://a.org" target="_top"><meta http-equiv="refresh" content="0">',
    "frames": '<iframe srcdoc="a" name="b"></iframe><object data="a"></object><embed src="a">',
    "the end of the page": "</div></div></div></body></html><div id='notebook-container'>a</div>",
    "an open comment": "a <!-- <div class='score'>b",
    "an open tag": f"a <div {IMPOSTOR}",
    "an open table": f"<table><tr><td>a<div {IMPOSTOR}>b",
    "raw text": f"<plaintext {IMPOSTOR}><xmp {IMPOSTOR}>a</xmp><noscript><p {IMPOSTOR}></noscript>",
    "a template": f"<template {IMPOSTOR}><b id='a'>a</b></template><slot name='b'>c</slot>",
    "an own element": f"<x-score {IMPOSTOR} is='b' part='c' slot='d'>a</x-score>",
    "data of Bootstrap": '<b data-toggle="modal" data-target="#x" data-dismiss="alert">a</b>',
    "things to type in": '<b contenteditable accesskey="s" tabindex="1" autofocus draggable>a</b>',
    "headings": "# softmax-tests\n\nsoftmax-tests\n===\n\n<h2 id='softmax-tests'>a</h2>",
    "a fence": "```score full-credit\na\n```\n\n```softmax-tests {.score #a}\nb\n```",
    "a diagram": "```mermaid\ngraph TD; A-->B; click A callback\n```",
    "formulas": (
        "$\\href{javascript:alert(1)}{a} \\class{full-credit}{b} \\cssId{softmax-tests}{c}$ "
        "$$\\style{position:fixed}{d} \\unicode{60} \\require{html} \\label{softmax-tests}$$"
    ),
    "a formula with markup": f"$<b {IMPOSTOR}>a$ \\begin{{a}}<b {IMPOSTOR}>\\end{{a}}",
    "names of pictures": f"![a](<attachment:a {IMPOSTOR}>) ![\" {IMPOSTOR}](attachment:b 'c')",
    "lists": "- [x] a\n- <input type=checkbox>\n\nterm\n: <dl id='a'><dt class='score'>b</dl>",
}

ISOLATED = {"text/html": {"isolated": True}}

#: Other places for markup: outputs that nbgrader's own autograde would keep, and raw cells.
ELSEWHERE: dict[str, NotebookNode] = {
    **{
        kind: new_code_cell("1", outputs=[new_output("display_data", {kind: body})])
        for kind, body in {
            "text/html": f'<div {IMPOSTOR} style="{OVER_ALL}">a</div><script>b()</script>',
            "text/markdown": f"<div {IMPOSTOR}>a</div>\n\n# softmax-tests",
            "text/latex": f"$<b {IMPOSTOR}>a$",
            "image/svg+xml": f"<svg {IMPOSTOR}><script>a()</script></svg>",
            "application/javascript": "document.body.innerHTML = ''",
            "text/plain": f"<b {IMPOSTOR}>a</b>",
        }.items()
    },
    "a widget": new_code_cell(
        "1",
        outputs=[
            new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"a": "b"}})
        ],
    ),
    "an isolated output": new_code_cell(
        "1", outputs=[new_output("display_data", {"text/html": "<b>a</b>"}, metadata=ISOLATED)]
    ),
    "printed": new_code_cell(
        "1", outputs=[new_output("stream", text=f"\x1b[31m<b {IMPOSTOR}>\x1b[0m")]
    ),
    "an error": new_code_cell(
        "1", outputs=[new_output("error", ename="<b>", evalue="", traceback=[f"<b {IMPOSTOR}>"])]
    ),
    "code": new_code_cell(f"x = '</pre><b {IMPOSTOR}>'  # <script>a()</script>"),
    "code of another language": new_code_cell(f"%%html\n<b {IMPOSTOR}>a</b>"),
    "a raw cell": new_raw_cell(f"<b {IMPOSTOR}>a</b>", metadata={"raw_mimetype": "text/html"}),
}


def cells() -> list[NotebookNode]:
    """Return all of it as the cells of a notebook."""
    return [*map(new_markdown_cell, MARKUP.values()), *ELSEWHERE.values()]


_ATTRIBUTES = """
align alt aria-label class colspan height lang open rel role rowspan scope src start style title
width
"""
ATTRIBUTES = frozenset(_ATTRIBUTES.split())


class _Reader(HTMLParser):
    def __init__(self, links: bool) -> None:
        super().__init__()
        self.links = links
        self.found: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            value = value or ""
            if name in ("id", "name"):
                self.names.add(value)
            if name == "href" and self.links:
                if not re.match(r"https?://|mailto:|#", value):
                    self.found.append(f"{tag} {name}={value}")
            elif name not in ATTRIBUTES:
                self.found.append(f"{tag} {name}")
            if name == "class":
                names = {*value.split()} - CLASSES_OF_A_TEXT
                self.found += [f"{tag} .{each}" for each in names if not each.startswith("hl-")]
            if name == "style":
                properties = {each.partition(":")[0].strip() for each in value.split(";")}
                self.found += [f"{tag} {each}:" for each in properties - STYLES - {""}]
            if name == "src" and not value.startswith("data:image/"):
                self.found.append(f"{tag} src={value}")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"comment {data}")


def foreign(body: str, *, links: bool) -> list[str]:
    """Return the elements, attributes and classes that a learner's HTML may not have.

    Parameters
    ----------
    body : str
    links : bool
        Whether it may have links.
    """
    reader = _Reader(links)
    reader.feed(body)
    reader.close()
    return reader.found


def names(body: str) -> set[str]:
    """Return the ids and names of all elements."""
    reader = _Reader(links=True)
    reader.feed(body)
    reader.close()
    return reader.names
