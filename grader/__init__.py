"""The instructor's side of the exercises: release them, grade a class, report on it.

Each of these rooms uses only those above it in the list.

- `submission`: find, read and repair a submission.
- `sandbox`: where learners' code runs.
- `judging`: apply the instructor's tests to a learner's answers.
- `nbgrader_hooks`: repair and judge as steps of nbgrader's own commands.
- `gradebook`: read and write nbgrader's gradebook.
- `running`: autograde a class with several workers.
- `reporting`: feedback, exports and the report.
- `releasing`: learners' notebooks and their archive.
- `command_line`: ``python -m grader``.

Every room may use `course`, which sets up nbgrader for this course, `files`, which writes files
atomically, `times`, which formats times, and `errors`, the base class of the errors
whose messages people read. `lazy_packages` makes a command start faster.
"""
