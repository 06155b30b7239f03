"""Classes that nbgrader_config.py names, so that nbgrader's own commands use this grader.

Other rooms use:

- `settings`: the options under ``c.Grading``.
"""
