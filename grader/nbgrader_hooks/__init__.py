"""Repairing, judging and collecting as steps of nbgrader's own commands.

nbgrader_config.py names these classes, and two of `reporting`: `feedback_page` and `sanitizer`.

Other rooms use:

- `settings`: the options under ``c.Grading``.
"""
