"""What learners get: their notebooks and the archive with all of the course.

Used by other subpackages:

- `release`: learners' notebooks from the instructor's ones.
- `bundle`: the archive.
- `answer_files`: submissions written as Python files, as the sample class has them.
"""
