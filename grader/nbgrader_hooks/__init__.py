"""Repairing, judging and collecting as steps of nbgrader's own commands.

nbgrader_config.py names these classes, and some of `reporting`: in `feedback_page`,
`nbgrader_pages` and `sanitizer`.

Other rooms use:

- `settings`: the options ``c.Grading`` and ``c.PersonalNumbers``.
"""
