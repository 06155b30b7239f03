"""What nbgrader's validator says about a notebook that passes: how many points it looked at.

nbgrader itself says "Success! Your notebook passes all the tests." also where answers wait for a
person, and where a visible test sees only that something is filled in. It has no setting for this
sentence. An nbgrader_config.py calls `say_points`, and the button Validate and the command
``nbgrader validate`` say ours. If all points were looked at, or a cell failed, nbgrader's own text
stays.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

from attn_lib.course.jupyter.looked_at import MIME

_APP = "nbgrader.apps.validateapp"
_HANDLERS = "nbgrader.server_extensions.validate_assignment.handlers"

# nbgrader's script knows only its own sentences, and errors of cells that failed, which are HTML.
# So ours is such an error, and what the script says around it is hidden.
_DIALOG = (
    "<style>#validation-message > div:first-child, #validation-message > div:nth-child(2)"
    " {{display: none}} #validation-message pre {{white-space: pre-wrap; max-width: 34em;"
    " font: inherit !important; border: 0 !important}}</style>{text}"
)


@dataclass(frozen=True)
class Seen:
    """The points of a notebook whose test cells passed."""

    looked_at: float  #: of answers that the tests looked at
    filled_in: float  #: of answers of which they see only that they are filled in
    to_read: float  #: of answers that a person reads
    has_hidden_tests: bool  #: whether more tests run when it is graded

    @property
    def text(self) -> str:
        """What to say, or "" if nothing was left out.

        Examples
        --------
        >>> print(Seen(12, 6, 2, True).text)
        The tests that can run here pass. They looked at 12 of 20 points. Of 6 more they see \
only that answers are filled in. 2 points are for answers in words, which a person reads. \
More tests run when your work is graded.
        >>> Seen(10, 0, 0, False).text
        ''
        """
        total = self.looked_at + self.filled_in + self.to_read
        sentences = [
            "The tests that can run here pass.",
            f"They looked at {self.looked_at:g} of {total:g} points.",
        ]
        if self.filled_in:
            sentences.append(
                f"Of {self.filled_in:g} more they see only that answers are filled in."
            )
        if self.to_read:
            verb = "is" if self.to_read == 1 else "are"
            sentences.append(
                f"{_points(self.to_read)} {verb} for answers in words, which a person reads."
            )
        if self.has_hidden_tests:
            sentences.append("More tests run when your work is graded.")
        return " ".join(sentences) if len(sentences) > 2 else ""


def seen_in(notebook: Any) -> Seen:  # noqa: ANN401  (nbformat's NotebookNode)
    """Return the points that the tests of an executed notebook looked at, all of which passed."""
    from nbgrader.utils import is_grade, is_solution, is_task

    looked_at = filled_in = to_read = 0.0
    is_ours = False
    for cell in notebook.cells:
        if not is_grade(cell) and not is_task(cell):
            continue
        points = float(cell.metadata.nbgrader.get("points") or 0)
        told = _told(cell)
        if is_solution(cell) or cell.cell_type != "code":
            to_read += points
        elif told:
            is_ours = True
            looked_at += told["looked_at"]
            filled_in += told["filled_in"]
        else:
            looked_at += points
    return Seen(looked_at, filled_in, to_read, is_ours)


def say_points() -> None:
    """Let nbgrader's validator, if this process has it, say how many points it looked at."""
    if not {_APP, _HANDLERS} & sys.modules.keys():
        return
    from nbgrader.validator import Validator

    class Telling(Validator):  # type: ignore[misc]
        """Says in a terminal what was looked at."""

        text = ""

        def _preprocess(self, nb: Any) -> Any:  # noqa: ANN401
            executed = super()._preprocess(nb)
            self.text = seen_in(executed).text
            return executed

        def _print_num_failed(self, num_failed: int) -> None:
            if num_failed or not self.text:
                super()._print_num_failed(num_failed)
            else:
                self.stream.write(f"{fill(self.text, width=self.width)}\n")

    class TellingDialog(Telling):
        """Says it in JupyterLab's dialog."""

        def validate(self, filename: str) -> dict[str, list[dict[str, str]]]:
            results = super().validate(filename)
            if results or not self.text:
                return results
            shown = _DIALOG.format(text=escape(self.text))
            return {"failed": [{"source": "", "error": shown, "raw_error": self.text}]}

    for module, validator in ((_APP, Telling), (_HANDLERS, TellingDialog)):
        if module in sys.modules:
            sys.modules[module].Validator = validator  # type: ignore[attr-defined]


def _told(cell: Any) -> dict[str, float]:  # noqa: ANN401
    outputs = cell.get("outputs", ())
    return next((out.data[MIME] for out in outputs if MIME in out.get("data", {})), {})


def _points(points: float) -> str:
    return f"{points:g} point{'s' * (points != 1)}"
