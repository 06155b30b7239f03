"""What a learner in Jupyter gets beside the plain text of the checks.

A live kernel shows findings with colour and with links to the book, says when a cell was changed
after it was last run, and puts common errors into words. A terminal, the judge, ``nbgrader
validate`` and tools that execute notebooks get plain text, because `front_end.shell` finds nobody
there. `validation` and `server` are for the process of JupyterLab itself.

Jupyter's packages are imported where they are used: without Jupyter there are none.
"""

from attn_lib.course.jupyter.words import put_errors_into_words

__all__ = ["put_errors_into_words"]
