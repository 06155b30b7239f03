"""What learners get: their notebooks and the archive with all of the course.

Other rooms use:

- `release`: learners' notebooks from the instructor's ones.
- `bundle`: the archive.
- `answer_files`: submissions written as Python files, as the sample class has them.
"""
