"""Common errors of a notebook's cells in words, below the last line that Python itself says."""

from __future__ import annotations

import ast
import re
import traceback
from types import TracebackType
from typing import Any

from attn_lib.course.jupyter.front_end import kernel, notebook_file
from attn_lib.course.jupyter.not_run import cells_defining, runs_of

_ID = re.compile(r"^learner_id[ \t]*=(?!=)[ \t]*([^#\n]*)", re.MULTILINE)
_QUOTES = " \t\"'“”„‟‘’‚«»`´;"
_EXAMPLE = 'learner_id = "ada"'


class InWords(Exception):
    """Shown by IPython in place of an error: its last line, and what to do."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def put_errors_into_words() -> None:
    """Say in this kernel what to do about common errors; others are shown as always.

    These are an id without quotes or without letters, and a name whose cell was not run. Nothing
    is changed where no kernel runs, where nbgrader executes the notebook, and where another handler
    of errors has been set.
    """
    shell = kernel()
    if shell is None:
        return
    runs_of(shell)
    if not shell.custom_exceptions:
        shell.set_custom_exc((NameError, SyntaxError, TypeError, ValueError), _show)


def _show(
    shell: Any,  # noqa: ANN401
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    source = shell.history_manager.input_hist_raw[-1]
    words = about_id(error, source) or _about_name(shell, error, source)
    if not words:
        was_executed = any(
            frame.f_globals is shell.user_ns for frame, _ in traceback.walk_tb(trace)
        )
        shell.showtraceback(
            (kind, error, trace), tb_offset=tb_offset, running_compiled_code=was_executed
        )
        return
    last_line = traceback.format_exception_only(kind, error)[-1].strip()
    told = InWords(f"{last_line}\n{words}")
    shell.showtraceback((InWords, told, None))


def about_id(error: BaseException, source: str) -> str:
    """Return what to do if an error comes of an id that is no text in quotes, else "".

    Parameters
    ----------
    error : BaseException
    source : str
        The cell that raised it.

    Examples
    --------
    >>> about_id(NameError("name 'ada' is not defined", name="ada"), "learner_id = ada")
    'Put your id in quotes: learner_id = "ada"'
    """
    if isinstance(error, TypeError | ValueError) and str(error).startswith("learner_id: "):
        return f"Put it right in the cell near the top, as in {_EXAMPLE}, and run that cell first."
    found = _ID.search(source)
    if found is None or not _is_there(error, source, found):
        return ""
    written = found[1].strip(_QUOTES)
    if not any(character.isalnum() for character in written):
        return f"Put your id after the equals sign, in quotes: {_EXAMPLE}"
    if '"' in written or "\\" in written:
        return f"Put your id in quotes, as here: {_EXAMPLE}"
    if found[1].strip()[0] in "“”„‟‘’‚«»`´":
        return f'Type straight quotes around your id: learner_id = "{written}"'
    return f'Put your id in quotes: learner_id = "{written}"'


def _is_there(error: BaseException, source: str, found: re.Match[str]) -> bool:
    """Say whether an error was raised for the line that gives the id."""
    if isinstance(error, SyntaxError):
        return error.lineno == source.count("\n", 0, found.start()) + 1
    if not isinstance(error, NameError) or not error.name or _is_text(found[1]):
        return False
    return re.search(rf"\b{re.escape(error.name)}\b", found[1]) is not None


def _is_text(written: str) -> bool:
    try:
        return isinstance(ast.literal_eval(written.strip()), str)
    except (SyntaxError, ValueError):
        return False


def _about_name(shell: Any, error: BaseException, source: str) -> str:  # noqa: ANN401
    """Return what to do if a name's cell was not run, else ""."""
    if not isinstance(error, NameError) or not error.name or error.name in shell.user_ns:
        return ""
    name, file = error.name, notebook_file()
    defining = cells_defining(name, file, shell) if file else []
    if any(cell.source.strip() == source.strip() for _, cell in defining):
        return ""
    if name == "learner_id" and not defining:
        return f"Put your id into its cell near the top, in quotes, and run that cell: {_EXAMPLE}"
    if not defining:
        return ""
    heading, _ = defining[0]
    where = f', below "{heading}",' if heading else ""
    return (
        f"Run the cell that defines {name}{where} then this one again. "
        "If that cell shows an error, put it right first."
    )
