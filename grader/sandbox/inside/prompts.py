"""What asks a person for input raises an error in grading, at once, since nobody is there."""

from __future__ import annotations

import builtins
import cmd
import code
import getpass
import sys

from grader.sandbox.inside.tracebacks import hide_source


class NobodyToAsk(RuntimeError):
    """Raised by `input`, `getpass`, `breakpoint`, debuggers and consoles."""


@hide_source
def _nobody_to_ask(*_: object, **__: object) -> str:
    raise NobodyToAsk(
        "there is nobody to ask: input() does not work in grading. "
        "Assign the value in the cell instead."
    )


@hide_source
def _nobody_to_debug(*_: object, **__: object) -> None:
    raise NobodyToAsk(
        "there is nobody to ask: breakpoint(), debuggers and consoles do not work in grading. "
        "Remove the line that starts one."
    )


def answer_nobody() -> None:
    """Replace what asks, in the process that will execute learner code."""
    builtins.input = getpass.getpass = _nobody_to_ask
    sys.breakpointhook = _nobody_to_debug
    # The loops of all debuggers, pdb and that of IPython, and of consoles.
    cmd.Cmd.cmdloop = _nobody_to_debug  # type: ignore[method-assign]
    code.InteractiveConsole.interact = _nobody_to_debug  # type: ignore[method-assign]
