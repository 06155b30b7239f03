"""``python -m grader``.

- `commands`: the commands and their options.
- `problems`: sentences on errors that come from elsewhere.
- `parsing`: says what may have been meant by a misspelt word.
- `actions`: what each command does and prints, and its exit status.
- `several`: carries out a command for several assignments.
- `grading`: autograde, write feedback and a file of grades in one go.
- `sample_class`: grade and report on the class that comes with the course.
"""
