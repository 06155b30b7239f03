"""attn_lib without answers, for a release with a salt: values stand in place of what computes them.

Left out are the targets, the mistakes, the rule that draws learners' numbers with its misreadings,
and what uses them: the museum, effects and figures of the book. The mathematics stays, as do the
checks.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from attn_lib.course.personal.core import salted
from attn_lib.course.personal.given_numbers import DRAWS, given_to
from attn_lib.course.personal.handed_out import NUMBERS, key_of
from attn_lib.course.targets.stored import ANSWERS
from grader.course import ROOT, assignments
from grader.releasing.visible_values import visible_values

#: What `Checks` draws numbers for as long as a notebook has no valid id.
NOBODY = "nobody"

#: What building the wheel reads beside attn_lib.
_BESIDE = ("pyproject.toml", "README.md", "LICENSE")

#: Folders and modules that are left out, relative to attn_lib.
_LEFT_OUT = ("figures", "course/effects", "course/museum.py")

#: Modules that stay in the packages whose others are left out.
_KEPT = {
    "course/targets": {"arrays.py", "extremes.py", "inputs.py", "scatter.py", "stored.py"},
    "course/mistakes": {"core.py"},
    "course/personal": {"handed_out.py", "ids.py"},
    "course/personal/misreadings": {"core.py"},
}

_TARGETS = '''"""What the visible tests compare with: results for their inputs, and no functions."""

from attn_lib.course.targets.stored import stored_targets, target_named

TARGETS = stored_targets()
__getattr__ = target_named
'''
_MISTAKES = '''"""What mistakes give for the inputs of the visible tests, and no functions."""

from attn_lib.course.mistakes.core import Mistake
from attn_lib.course.stored_mistakes import catalogue, spellings

__all__ = ["Mistake", "catalogue", "spellings"]
'''
_MISREADINGS = '''"""What is left of the wrong readings of numbers: their comparison."""

from attn_lib.course.personal.misreadings.core import Asked, accepted, none_accepted

__all__ = ["Asked", "accepted", "none_accepted"]
'''
_PERSONAL = '''"""Numbers of your own, as they were handed out."""

from attn_lib.course.personal.handed_out import drawn_by
from attn_lib.course.personal.ids import checked_id

__getattr__ = drawn_by("dot_products")
'''
_DRAWN = '''"""Numbers of your own, as they were handed out."""

from attn_lib.course.personal.handed_out import drawn_by

__getattr__ = drawn_by("{module}")
'''


def write_tree(into: Path, salt: str, learners: Iterable[str]) -> None:
    """Write the sources of attn_lib without answers into a folder, ready to be built.

    Parameters
    ----------
    into : Path
        An empty folder.
    salt : str
        The secret that the numbers depend on.
    learners : iterable of str
        The ids on the class list.

    Raises
    ------
    grader.releasing.visible_values.ModelAnswersFail
        If the visible tests' inputs cannot be found out.
    """
    for name in _BESIDE:
        shutil.copyfile(ROOT / name, into / name)
    library = into / "attn_lib"
    shutil.copytree(ROOT / "attn_lib", library, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _LEFT_OUT:
        path = library / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for package, kept in _KEPT.items():
        for path in (library / package).glob("*.py"):
            if path.name not in kept:
                path.unlink()
    for name, text in _texts(salt, learners).items():
        (library / "course" / name).write_text(text, encoding="utf-8")


def _texts(salt: str, learners: Iterable[str]) -> dict[str, str]:
    with salted(salt):
        numbers = {key_of(learner): given_to(learner) for learner in (NOBODY, *learners)}
    modules = {f"personal/{module}.py": _DRAWN.format(module=module) for module in DRAWS}
    return {
        "targets/__init__.py": _TARGETS,
        f"targets/{ANSWERS}": json.dumps(visible_values(assignments())),
        "mistakes/__init__.py": _MISTAKES,
        "personal/__init__.py": _PERSONAL,
        f"personal/{NUMBERS}": json.dumps(numbers),
        "personal/misreadings/__init__.py": _MISREADINGS,
        **modules,
    }
