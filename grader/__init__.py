"""The instructor's side of the exercises: release them, grade a class, report on it.

One room for each reason to change, the lower ones first. A room uses those above it in this list.

- `submission`: found, read and repaired.
- `sandbox`: where learners' code runs.
- `judging`: the instructor's tests on a learner's answers.
- `nbgrader_hooks`: the same as steps of nbgrader's own commands.
- `gradebook`: nbgrader's gradebook, read and written.
- `running`: a class through workers.
- `reporting`: feedback, exports and the report.
- `releasing`: learners' notebooks and their archive.
- `command_line`: ``python -m grader``.

Every room may use `course`, which is nbgrader set up for this course, `files`, which writes files
whole, and `errors`, the base of the errors that are meant for people.
"""
