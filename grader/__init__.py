"""The instructor's side of the exercises: release them, grade a class, report on it.

Before a class:

- `course`: nbgrader set up for this course.
- `release`: learners' notebooks from the instructor's ones.
- `bundle`: the archive that learners get.

One submission:

- `submission`: found, read and repaired.
- `judge`: its answers run in the `sandbox`, the instructor's tests outside of it.
- `warm`: the sandboxes that a process keeps.
- `verdict`: what came of it.
- `preprocessor`: the same as steps of nbgrader's own ``autograde``.

A class:

- `pipeline`: every submission through `workers` of this machine or of a `cluster`, which do
  `jobs`; what they find goes to `gradebook_writer` and `journal`.
- `results`: what the `gradebook` and the journal know of each student.
- `feedback`: a page for each of them, made by `feedback_page` and kept passive by `sanitizer`.
- `export`, `summary`, `report` (with `items` and `charts`): what the instructor reads.
- `grading`: autograde, feedback and grades.csv in one go.
- `sample_class`: all of it on a class that comes with the course.
- `commands`: ``python -m grader``.
"""
