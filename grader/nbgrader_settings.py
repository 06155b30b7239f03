"""The settings with which nbgrader's own commands judge outside the sandbox, in any course."""

from __future__ import annotations

import sys
from pathlib import Path

import nbgrader
from traitlets.config import Config

from attn_lib.course.jupyter.validation import say_points
from grader.course import ROOT, put_alembic_on_path, read_version_here

_AUTOGRADE = (
    "grader.nbgrader_hooks.preprocessors.JudgeSubmission",
    *("nbgrader.preprocessors.IgnorePattern", "nbgrader.preprocessors.LimitOutput"),
    *("nbgrader.preprocessors.SaveAutoGrades", "nbgrader.preprocessors.AssignLatePenalties"),
    "nbgrader.preprocessors.CheckCellMetadata",
)


def use_judge(c: Config) -> None:
    """Let nbgrader's commands and formgrader use the judge, the sandbox and what protects them.

    Parameters
    ----------
    c : Config
        The configuration in an nbgrader_config.py. Settings of the course itself, such as its
        folders, its id or its rule for late work, are not touched.

    Examples
    --------
    >>> config = Config()
    >>> use_judge(config)
    >>> config.Autograde.autograde_preprocessors[0]
    'grader.nbgrader_hooks.preprocessors.JudgeSubmission'
    """
    put_alembic_on_path()
    if "nbgrader.api" in sys.modules:  # otherwise importing it would take a second
        read_version_here()
    # Names of files and ids are logged so that they cannot control the terminal.
    c.Application.logging_config = {
        "formatters": {"console": {"class": "grader.nbgrader_hooks.logs.PrintableFormatter"}}
    }
    _judge(c)
    _collect_safely(c)
    _show_safely(c)
    say_points()


def _judge(c: Config) -> None:
    """Read and repair submissions first, then judge them, in place of nbgrader's `Execute`.

    `Execute` would execute learners' code and the tests in one kernel.
    """
    c.Autograde.exporter_class = "grader.nbgrader_hooks.autograding.SubmissionExporter"
    c.Autograde.sanitize_preprocessors = [
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.Autograde.autograde_preprocessors = list(_AUTOGRADE)


def _collect_safely(c: Config) -> None:
    """Copy ordinary files only, and unpack archives member by member.

    Links that learners put into the exchange are not followed. A damaged or malicious archive costs
    nobody else's work. File names that learning platforms make are understood.
    """
    c.ExchangeFactory.collect = "grader.nbgrader_hooks.exchange.CollectFiles"
    c.ZipCollectApp.extractor_plugin = "grader.nbgrader_hooks.extracting.ArchiveExtractor"
    c.ZipCollectApp.collector_plugin = "grader.nbgrader_hooks.collecting.GradebookCollector"


def _show_safely(c: Config) -> None:
    """Remove from learners' texts and outputs what is active, in feedback and in formgrader.

    A script in formgrader's page would act with the rights of the grader. Nor may learners' markup
    have an id or a class that the page's own script looks up. Text cells go through the first
    filter; outputs go through the second, but only with sanitize_html.
    """
    # By default, feedback would show the hidden tests in the test cells.
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        "grader.reporting.feedback_page.ClearHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.GenerateFeedback.exporter_class = "grader.reporting.nbgrader_pages.FeedbackInWorker"
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters = {
        "strip_files_prefix": "grader.reporting.sanitizer.shown_text",
        "clean_html": "grader.reporting.sanitizer.shown_text",
    }
    c.HTMLExporter.exclude_anchor_links = True  # ids of headings are removed: links would break
    # Feedback has to open offline, and formgrader must not run scripts of another host. The first
    # folder overrides the part of both templates that loads MathJax from another host. The second
    # is nbgrader's default, which this setting would replace.
    formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    c.HTMLExporter.extra_template_basedirs = [
        str(ROOT / "grader" / "reporting" / "templates"),
        str(formgrader / "templates"),
    ]
    # In a Jupyter server, where formgrader reads the configuration, workers make the pages of
    # submissions, and no learner's nbgrader_config.py is executed.
    servers = sys.modules.get("jupyter_server.serverapp")
    if servers and servers.ServerApp.initialized():
        from grader.reporting.nbgrader_pages import protect_formgrader

        protect_formgrader()
