"""Set up nbgrader for this course: the only module that reads its configuration and calls it."""

from __future__ import annotations

import copy
import difflib
import fnmatch
import functools
import json
import os
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grader.errors import GraderError

# Other imports stand in the functions that need them: importing nbgrader takes a second, which
# the commands' help need not wait for.
if TYPE_CHECKING:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config, Configurable

    OfKind = TypeVar("OfKind", bound=Configurable)

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
EXERCISES = ROOT / "exercises"
CONFIGURATION = ROOT / "nbgrader_config.py"

#: The folder for graded notebooks, beside the gradebook.
AUTOGRADED = "autograded"

#: nbgrader's own choice of a folder for the exchange.
EXCHANGE = "/usr/local/share/nbgrader/exchange"

#: nbgrader's names for the folders of a course that hold instructors' and learners' work.
_FOLDERS = ("source", "submitted", AUTOGRADED, "feedback")


#: The folders of this course's own that its commands do not look up in the configuration.
_KEPT_IN = {
    "source_directory": "solutions",
    "release_directory": "exercises",
    "autograded_directory": AUTOGRADED,
    "feedback_directory": "feedback",
}

#: The sections of nbgrader_config.py in which a slip would change grades in silence.
_SECTIONS = (
    *("Grading", "PersonalNumbers", "RightNumbers", "Totals", "CourseDirectory", "NbGraderAPI"),
    *("AssignLatePenalties", "LateSubmissionPlugin", "FeedbackExporter", "GradebookCollector"),
    *("FileNameCollectorPlugin", "ArchiveExtractor", "Exchange"),
)


class ConfigurationFailed(GraderError):
    """Raised when nbgrader_config.py raises an error, or its options have no such values."""


class NbGraderFailed(GraderError):
    """Raised when a step of nbgrader fails; the message is the log of that step."""


def assignments() -> list[str]:
    """Return the sorted names of all assignments that have an instructor's notebook."""
    return sorted(path.parent.name for path in SOLUTIONS.glob("*/*.ipynb"))


def read_solution_notebook(assignment: str) -> bytes:
    """Return the content of an assignment's notebook in solutions/."""
    return (SOLUTIONS / assignment / f"{assignment}.ipynb").read_bytes()


def cell_ids(folder: Path | None = None) -> dict[str, frozenset[str]]:
    """Return the ids that nbgrader knows cells by, for each assignment.

    Parameters
    ----------
    folder : Path, optional
        Of the instructor's notebooks, in a folder for each assignment. Default: that of the course.
    """
    found: dict[str, frozenset[str]] = {}
    for path in sorted((folder or SOLUTIONS).glob("*/*.ipynb")):
        cells = json.loads(path.read_bytes())["cells"]
        ids = {cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells} - {None}
        found[path.parent.name] = found.get(path.parent.name, frozenset()) | ids
    return found


def matches_student(student: str, pattern: str) -> bool:
    """Say whether a student's id equals the pattern or matches its ``*`` and ``?``.

    Examples
    --------
    >>> matches_student("ada", "a*"), matches_student("c[1]", "c[1]"), matches_student("bo", "a*")
    (True, True, False)
    """
    return student == pattern or fnmatch.fnmatchcase(student, pattern)


def graded_cells(assignment: str) -> list[str]:
    """Return the ids of the cells that are worth points, in the order of the notebook."""
    import nbformat
    from nbgrader.utils import is_grade

    notebook = nbformat.reads(read_solution_notebook(assignment).decode("utf-8"), as_version=4)
    return [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_grade(cell)]


def graded_notebook(folder: Path, assignment: str, student: str) -> Path:
    """Return the path of a student's graded notebook in the folder that holds the gradebook."""
    return folder / AUTOGRADED / student / assignment / f"{assignment}.ipynb"


def put_alembic_on_path() -> None:
    """Add the folder with this Python's commands to ``PATH``, if it is not there yet.

    nbgrader's commands call ``alembic`` when they create or upgrade a gradebook. It is installed
    next to this Python, but is on ``PATH`` only if the environment is activated.
    """
    scripts, path = sysconfig.get_path("scripts"), os.environ.get("PATH", "")
    if scripts not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, path])


def read_version_here() -> None:
    """Let nbgrader read the version of a new gradebook in this process.

    By itself it starts ``alembic`` to print it, which takes more than a second.
    """
    from nbgrader import api

    api.get_alembic_version = gradebook_version


@functools.cache
def gradebook_version() -> str:
    """Return the version that nbgrader enters in a new gradebook: that of its last migration."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    settings = Config()
    settings.set_main_option("script_location", ALEMBIC_DIR)
    return str(ScriptDirectory.from_config(settings).get_current_head())


def configuration() -> Config:
    """Return the configuration in nbgrader_config.py, as a copy that the caller may change.

    The file is executed only once in each process.
    """
    return copy.deepcopy(_executed_configuration())


@functools.cache
def _executed_configuration() -> Config:
    config = executed_configuration(ROOT)
    course = config.get("CourseDirectory", {})
    for option, kept in _KEPT_IN.items():
        if course.get(option, kept) != kept:
            raise ConfigurationFailed(
                f"{CONFIGURATION.name} sets c.CourseDirectory.{option} to {course[option]!r}, but "
                f"this course has it in {kept!r}. Set that, and move the folder back."
            )
    return config


def executed_configuration(folder: Path) -> Config:
    """Return the configuration in the nbgrader_config.py of any course, after executing it.

    Raises
    ------
    ConfigurationFailed
        If it cannot be executed.
    """
    from traitlets.config.loader import PyFileConfigLoader

    path = folder / CONFIGURATION.name
    try:
        config = PyFileConfigLoader(path.name, path=str(folder)).load_config()
    except (Exception, SystemExit) as error:  # it is a program, and may raise anything
        raise ConfigurationFailed(
            f"{path}{_line_of(error, path)}: {type(error).__name__}: "
            f"{getattr(error, 'msg', error)}. Correct it, then give the command again."
        ) from error
    _check_values(config, path)
    return config


def _check_values(config: Config, path: Path) -> None:
    """Raise `ConfigurationFailed` for a value or a name that would be read as something else."""
    from dateutil import tz

    for section in config:
        # Nearly equal only: c.ExchangeList is one of nbgrader's own.
        close = difflib.get_close_matches(section, _SECTIONS, n=1, cutoff=0.85)
        if section not in _SECTIONS and close:
            raise ConfigurationFailed(
                f"{path.name} sets options of c.{section}, which does not exist. Did you mean "
                f"c.{close[0]}?"
            )
    texts = config.get("CourseDirectory", {}).items()
    for name, value in texts:
        if name.endswith(("_directory", "_url", "root", "_id")) and not isinstance(value, str):
            raise ConfigurationFailed(
                f"{path.name} sets c.CourseDirectory.{name} to {value!r}. Expected a text: put it "
                "in quotes, or into str()."
            )
    zone = config.get("NbGraderAPI", {}).get("timezone", "UTC")
    if not (isinstance(zone, str) and tz.gettz(zone)):
        raise ConfigurationFailed(
            f"{path.name} sets c.NbGraderAPI.timezone to {zone!r}. Expected the name of a time "
            'zone as "Europe/Berlin".'
        )


def _line_of(error: BaseException, path: Path) -> str:
    """Return the number of the last line of a file that an error came through, as ", line 3"."""
    calls = traceback.extract_tb(error.__traceback__)
    lines = [call.lineno for call in calls if call.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""


def options(kind: type[OfKind], config: Config | None = None) -> OfKind:
    """Return the options of one of the grader's own kinds, as nbgrader_config.py sets them.

    Parameters
    ----------
    kind : type
        A traitlets ``Configurable``.
    config : Config, optional
        Default: `configuration`.

    Raises
    ------
    ConfigurationFailed
        If the configuration sets an option that this kind does not have.
    traitlets.TraitError
        If an option has a value that it cannot have.
    """
    config = configuration() if config is None else config
    known = list(kind.class_traits(config=True))
    for name in config.get(kind.__name__, {}):
        if name not in known:
            close = closest(name, known)
            raise ConfigurationFailed(
                f"{CONFIGURATION.name} sets c.{kind.__name__}.{name}, which is no option"
                + (f". Did you mean {close}?" if close else f"; they are {', '.join(known)}.")
            )
    return kind(config=config)


def closest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like this one, or "".

    Examples
    --------
    >>> closest("maskin", ["masking", "quiz"]), closest("maskin", ["quiz"])
    ('masking', '')
    """
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), "")


def submitted_folder() -> Path:
    """Return the folder of submissions that nbgrader_config.py names."""
    course = configuration().get("CourseDirectory", {})
    return Path(course.get("root", ROOT), course.get("submitted_directory", "submitted"))


def private_folders() -> list[Path]:
    """Return the configured folders that hold instructors' and learners' work.

    They are the course, its folders if they lie elsewhere, and the exchange.
    """
    config = configuration()
    course = config.get("CourseDirectory", {})
    root = Path(course.get("root", ROOT))
    inside = [root / course.get(f"{name}_directory", name) for name in _FOLDERS]
    return [root, *inside, Path(config.get("Exchange", {}).get("root", EXCHANGE))]


def nbgrader_for(settings: Mapping[str, object], flags: Config | None = None) -> NbGraderAPI:
    """Return nbgrader's programming interface with the course's configuration.

    Parameters
    ----------
    settings : mapping
        Traits of ``CourseDirectory`` to override, such as ``submitted_directory``.
    flags : Config, optional
        Configuration that overrides the course's.
    """
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    read_version_here()
    config = configuration()
    config.CourseDirectory.update({name: str(value) for name, value in settings.items()})
    if flags:
        config.merge(flags)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def do_step(step: Callable[..., Mapping[str, object]], *arguments: object) -> None:
    """Call a method of nbgrader's programming interface.

    Raises
    ------
    NbGraderFailed
        If the method returns that it did not succeed.
    """
    from sqlalchemy.exc import SAWarning

    with warnings.catch_warnings():
        # nbgrader's models make SQLAlchemy 2.1 warn about the order in which rows are added. The
        # rows are right, and the warning would only confuse the instructor.
        warnings.filterwarnings("ignore", category=SAWarning)
        outcome = step(*arguments)
    if not outcome["success"]:
        raise NbGraderFailed(str(outcome.get("log") or outcome.get("error")).strip())
