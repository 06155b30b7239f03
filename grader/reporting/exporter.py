"""An exporter of nbconvert that renders each learner's text within limits.

nbconvert's own renders the whole page at once, in the templates and once more with an HTML parser,
without any limit. Here both handle only a frame; see `rendering`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

import nbformat
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from mistune import HTMLRenderer
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from traitlets.config import Config

from grader.reporting.rendering import Rendering
from grader.reporting.sanitizer import sanitised, shown_text

#: Outputs that a page shows, where each line of an error counts as one. Of an honest notebook, a
#: page has about a hundred.
MAX_OUTPUTS = 1000

#: The kinds of pictures that a page shows.
PICTURES = ("image/png", "image/jpeg", "image/gif")

_TAG = re.compile(r"<(img|\w+(?= ))((?: [\w-]+=\"[^\"]*\")*)>")
_FIRST_IN_PRE = re.compile(r"(<pre[^>]*>)\n")
_BETWEEN_TAGS = re.compile(r"<pre[ >].*?</pre>|(?<=>)[ \n\t\f\r]{2,}(?=<)", re.DOTALL)

_NO_ALTERNATIVE = 'alt="No description has been provided for this image"'  # nbconvert's own text


class PageExporter(HTMLExporter):
    """Makes a page in which each learner's text is rendered within limits.

    Parameters
    ----------
    config : Config
    plain : bool
        Whether to show every text as it was typed.
    """

    def __init__(self, config: Config, *, plain: bool = False) -> None:
        self._plain = plain
        self._rendering = Rendering(plain)
        super().__init__(config=config)

    #: Makes the HTML of a learner's text or output safe.
    clean: Callable[[str], str] = staticmethod(shown_text)

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's own
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: object
    ) -> tuple[str, dict[str, Any]]:
        """Return a notebook as a page of HTML, and the resources.

        The outputs of the notebook are changed in place.
        """
        self._rendering = Rendering(self._plain)
        self._fit_outputs(nb)
        page, resources = super().from_notebook_node(nb, resources, **options)
        page = self.framed(page, resources, self._rendering.remarks)
        return self._rendering.fill(page), resources

    def framed(self, page: str, resources: dict[str, Any], remarks: list[str]) -> str:
        """Return what to show around the learner's texts.

        Parameters
        ----------
        page : str
            The page with stand-ins for the texts.
        resources : dict
        remarks : list of str
            Which texts are shown as they were typed, and why.
        """
        return page

    def linked(self, printed: str) -> str:
        """Return the HTML of what a cell printed, with links if the page has any."""
        return printed

    @pass_context
    def markdown2html(self, context: Context, source: str) -> str:
        """Return the stand-in for a text in Markdown."""
        # The text may be rendered in a process of its own, which could not add a picture here.
        attachments = context.get("cell", {}).get("attachments", {})
        pictures = {name: self._picture(name, kinds) for name, kinds in attachments.items()}
        renderer = _Renderer(
            escape=False,
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links,
        )
        renderer.pictures = pictures
        renderer.lexer_options = self.lexer_options
        return self._rendering.text(
            self._rendering.without_pictures(source),
            MarkdownWithMath(renderer=renderer).render,
            self._cleaned,
            where=_name_of(context),
        )

    def register_filter(self, name: str, jinja_filter: Callable[..., str]) -> object:
        """Register a filter; what colours code gets limits."""
        if name == "highlight_code":
            jinja_filter = self._colouring(jinja_filter)
        return super().register_filter(name, jinja_filter)

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.filters |= {
            "ansi2html": self._terminal,
            "clean_html": self._raw_html,
            "strip_files_prefix": lambda stand_in: stand_in,
        }
        return environment

    def _colouring(self, highlight: Callable[..., str]) -> Callable[..., str]:
        @pass_context
        def coloured(context: Context, source: str, metadata: object = None) -> str:
            return self._rendering.text(
                source,
                lambda code: highlight(code, metadata=metadata).replace('=" high', '="high', 1),
                sanitised,
                flat=True,
                where=_name_of(context),
                typed='<div class="highlight"><pre>{}</pre></div>',
            )

        return coloured

    @pass_context
    def _terminal(self, context: Context, text: str) -> str:
        return self._rendering.text(
            text,
            lambda printed: self.linked(str(ansi2html(printed))),
            sanitised,
            flat=True,
            where=f"An output of {_name_of(context)}",
            typed="{}",
        )

    @pass_context
    def _raw_html(self, context: Context, body: str) -> str:
        if self._rendering.is_stand_in(body):
            return body
        return self._rendering.text(body, str, self._cleaned, where=_name_of(context))

    def _picture(self, name: str, kinds: Mapping[str, str]) -> str:
        """Return the address of an attachment, or "" if it is not a picture."""
        for kind in PICTURES:
            if stand_in := self._rendering.picture(kinds.get(kind, ""), name):
                return f"data:{kind};base64,{stand_in}"
        return ""

    def _cleaned(self, body: str) -> str:
        """Return clean HTML as the two parsers would leave it that handle the rest of the page."""
        clean = _TAG.sub(_completed, type(self).clean(body))
        return _BETWEEN_TAGS.sub(_collapsed, _FIRST_IN_PRE.sub(r"\1", clean))

    def _shown(self, data: Mapping[str, object]) -> NotebookNode:
        """Return the kinds of an output that a page shows, with stand-ins for pictures."""
        texts = {
            kind: self._rendering.picture(text) or text if kind in PICTURES else text
            for kind, text in data.items()
            if isinstance(text, str) and kind.startswith(("text/", "image/"))
        }
        return NotebookNode(texts or {"text/plain": ""})

    def _fit_outputs(self, nb: NotebookNode) -> None:
        """Limit the number and the kinds of outputs, and replace pictures by stand-ins."""
        room = MAX_OUTPUTS
        for cell in nb.cells:
            kept = []
            for output in cell.get("outputs", ()):
                room -= 1 + len(output.get("traceback", ()))
                if room < 0:
                    text = "[more outputs are left out: there are too many]\n"
                    kept.append(nbformat.v4.new_output("stream", name="stderr", text=text))
                    break
                if "data" in output:
                    output.data = self._shown(output.data)
                    output.metadata.pop("text/html", None)  # asks for a frame, which is not needed
                kept.append(output)
            if "outputs" in cell:
                cell.outputs = kept


class _Renderer(IPythonRenderer):
    """Renders Markdown, with marked heads of tables, and the names of pictures that are missing."""

    #: The address of each attachment that is a picture, by name.
    pictures: Mapping[str, str] = MappingProxyType({})

    def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
        """Return the HTML of a cell, for mistune's plug-in for tables."""
        scope = ' scope="col"' if head else ""
        style = f' style="text-align:{align}"' if align else ""
        tag = "th" if head else "td"
        return f"  <{tag}{scope}{style}>{text}</{tag}>\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return the HTML of a picture."""
        name = url.removeprefix("attachment:")
        if name == url:
            return super().image(text, url, title)
        name = name if name in self.pictures else unquote(name)  # the parser has quoted it
        if address := self.pictures.get(name):
            return HTMLRenderer.image(self, text, address, title)
        return f"<em>[the picture {html.escape(name)} is missing]</em>"


def _completed(tag: re.Match[str]) -> str:
    """Return a tag with its attributes in order, and with an alternative text for a picture."""
    attributes = re.findall(r'[\w-]+="[^"]*"', tag[2])
    if tag[1] == "img" and not any(each.startswith("alt=") for each in attributes):
        attributes.append(_NO_ALTERNATIVE)
    return f"<{' '.join([tag[1], *sorted(attributes)])}>"


def _collapsed(found: re.Match[str]) -> str:
    if found[0].startswith("<"):
        return found[0]
    return "\n" if "\n" in found[0] else " "


def _name_of(context: Context) -> str:
    """Return the name of the cell that is being rendered, as the subject of a sentence."""
    cell = context.get("cell", {})
    name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return f"the cell {name}" if name else "a cell without a name"
