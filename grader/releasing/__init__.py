"""Make what learners get: their notebooks, and the archive with the whole course.

Other rooms use:

- `release`: make learners' notebooks from the instructor's notebooks.
- `start_page`: make the notebook with links to the exercises, in the order of the course.
- `bundle`: make the archive.
- `answer_files`: make submissions from Python files, as for the sample class.
"""
