"""``python -m grader``.

- `commands`: the commands and their options.
- `actions`: what each command does and prints, and its exit status.
- `grading`: autograde, write feedback and grades.csv in one go.
- `sample_class`: grade and report on the class that comes with the course.
"""
