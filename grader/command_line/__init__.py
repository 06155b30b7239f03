"""``python -m grader``.

- `commands`: what can be asked for.
- `actions`: what is then done and said, and the exit status.
- `grading`: autograde, feedback and grades.csv in one go.
- `sample_class`: all of it on a class that comes with the course.
"""
