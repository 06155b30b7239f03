"""What a worker does for one page of formgrader or of ``nbgrader generate_feedback``."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import pickle
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from grader.reporting.exporter import PageExporter
from grader.reporting.feedback_page import feedback_exporter
from grader.reporting.rendering import limited
from grader.reporting.sanitizer import shown_text_without_links

_HANDLER = re.compile(r' on[a-z]+="([^"]*)"')


class FormgraderExporter(PageExporter):
    """Makes the page on which formgrader shows a submission.

    Its policy allows the browser to execute the page's own scripts only, and to load from the
    server alone.
    """

    clean = staticmethod(shown_text_without_links)

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's own
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: object
    ) -> tuple[str, dict[str, Any]]:
        """Return a notebook as a page of HTML, and the resources."""
        # The template puts the names of students and files into the page as they are.
        texts = {k: html.escape(v) for k, v in (resources or {}).items() if isinstance(v, str)}
        return super().from_notebook_node(nb, {**(resources or {}), **texts}, **options)

    def framed(self, page: str, resources: dict[str, Any], remarks: list[str]) -> str:
        """Return the page with a policy. The learner's texts are not in it yet."""
        nonce = secrets.token_urlsafe(16)
        handlers = {html.unescape(code) for code in _HANDLER.findall(page)}
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; "
            f"script-src-attr 'unsafe-hashes' {' '.join(sorted(map(_hash, handlers)))}; "
            "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'"
        )
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        page = page.replace("<script", f'<script nonce="{nonce}"')
        return page.replace("<head>", f"<head>\n{meta}", 1)


def page_job(job: Mapping[str, Any]) -> str:
    """Return a page.

    Parameters
    ----------
    job : mapping
        ``kind``: "feedback" or "formgrader"; ``notebook``: the graded notebook, as bytes;
        ``resources``: what nbgrader tells its templates; ``settings``: what
        `grader.reporting.feedback_page.settings_of` returned; ``plain``: whether to show every text
        as it was typed.

    Raises
    ------
    grader.reporting.sanitizer.TooDeep
        If the tags of the page are nested too deeply.
    """
    with limited():
        notebook = nbformat.reads(job["notebook"].decode("utf-8"), as_version=4)
        make: Callable[[bytes, bool], PageExporter]
        make = feedback_exporter if job["kind"] == "feedback" else formgrader_exporter
        exporter = make(job["settings"], job["plain"])
        page, _ = exporter.from_notebook_node(notebook, job["resources"])
    return page


@functools.lru_cache(maxsize=2)
def formgrader_exporter(settings: bytes, plain: bool) -> FormgraderExporter:
    """Return an exporter with the settings of formgrader."""
    config = pickle.loads(settings)
    config.merge(Config({"HTMLExporter": {"template_name": "formgrade"}}))
    return FormgraderExporter(config, plain=plain)


def _hash(code: str) -> str:
    digest = hashlib.sha256(code.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
