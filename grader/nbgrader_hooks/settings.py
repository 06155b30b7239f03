"""Options of nbgrader_config.py: ``c.Grading`` and ``c.PersonalNumbers``."""

from __future__ import annotations

from dataclasses import fields

from traitlets import Enum, Float, Integer, Unicode
from traitlets.config import Configurable

from grader.course import options
from grader.sandbox.inside.limits import BUBBLEWRAP, NONE, Limits

_DEFAULT = Limits()


class Grading(Configurable):
    """Limits and isolation, set for example by ``c.Grading.call_seconds = 2``.

    Examples
    --------
    >>> from traitlets.config import Config
    >>> Grading(config=Config({"Grading": {"memory_mib": 512}})).limits.memory_mib
    512
    """

    call_seconds = Float(
        _DEFAULT.call_seconds, min=0.1, help="Seconds that one call of a function may take."
    ).tag(config=True)
    cell_seconds = Float(
        _DEFAULT.cell_seconds, min=0.1, help="Seconds that one cell may take."
    ).tag(config=True)
    submission_seconds = Float(
        _DEFAULT.submission_seconds, min=1, help="Seconds that a whole submission may take."
    ).tag(config=True)
    memory_mib = Integer(
        _DEFAULT.memory_mib, min=128, help="MiB of memory for all processes of a submission."
    ).tag(config=True)
    processes = Integer(
        _DEFAULT.processes, min=1, help="Processes and threads that a submission may have."
    ).tag(config=True)
    disk_mib = Integer(
        _DEFAULT.disk_mib, min=1, help="MiB of files that a submission may write; they are deleted."
    ).tag(config=True)
    output_kib = Integer(
        _DEFAULT.output_kib, min=1, help="KiB that are kept of the output of one cell."
    ).tag(config=True)
    result_mib = Integer(
        _DEFAULT.result_mib, min=1, help="MiB that a function may return from one call."
    ).tag(config=True)
    isolation = Enum(
        [BUBBLEWRAP, NONE],
        BUBBLEWRAP,
        help="Where learners' code runs: in the bubblewrap sandbox, or unprotected as your user.",
    ).tag(config=True)

    @property
    def limits(self) -> Limits:
        """The limits in the form that judging takes."""
        return Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})


class PersonalNumbers(Configurable):
    """The secret of a class, set by ``c.PersonalNumbers.salt = "…"``."""

    salt = Unicode(
        "",
        help="A secret that learners' numbers depend on. With one, releases are without answers.",
    ).tag(config=True)


def configured_salt() -> str:
    """Return the salt as nbgrader_config.py sets it; "" for none."""
    return str(options(PersonalNumbers).salt)


def configured() -> Grading:
    """Return the options as nbgrader_config.py sets them."""
    return options(Grading)
