"""Who is in the class, so that a slip in a folder's name does not make a student."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.gradebook.reading import Known
from grader.running import journal


@dataclass(frozen=True)
class ClassList:
    """The students of a class.

    Without a class list, grading makes a student of each folder. So a list is given if the
    gradebook knows more of a student than grading does, or a student that grading did not make.
    """

    students: frozenset[str]  #: all students in the gradebook
    is_given: bool  #: whether an instructor entered them, rather than grading

    def takes(self, student: str) -> bool:
        """Say whether a folder of this name is to be graded."""
        return not self.is_given or student in self.students

    def has_left(self, student: str, has_failed: bool) -> bool:
        """Say whether a student of a journal was removed from the gradebook since.

        Without a class list, a student whose work could never be graded is not in the gradebook.
        """
        return student not in self.students and (self.is_given or not has_failed)


def class_list(known: Known, folder: Path) -> ClassList:
    """Return the class list.

    Parameters
    ----------
    known : Known
        What the gradebook knows of students.
    folder : Path
        The folder with the journals, which say whom grading has made a student.
    """
    return ClassList(
        known.students,
        known.has_facts or bool(known.bare and known.bare - journal.students_in(folder)),
    )
