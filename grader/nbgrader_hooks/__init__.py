"""Repairing, judging and collecting as steps of nbgrader's own commands.

`grader.nbgrader_settings` names these classes, and some of `reporting`: in `feedback_page`,
`nbgrader_pages` and `sanitizer`.

Other rooms use:

- `assignment_files`: the instructor's notebooks and the files beside them.
- `downloads`: how a platform named what each learner handed in.
- `settings`: the options ``c.Grading`` and ``c.PersonalNumbers``.
"""
