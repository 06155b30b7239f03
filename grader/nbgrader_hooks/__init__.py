"""Plugins that nbgrader_config.py names, so that nbgrader's own commands use this grader.

Used by other subpackages:

- `settings`: the options under ``c.Grading``.
"""
