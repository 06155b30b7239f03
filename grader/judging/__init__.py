"""What a submission is worth: the instructor's tests, on answers that run in the sandbox.

Other rooms use:

- `judge`: the verdict on one submission.
- `findings`: what the tests found, part by part.
- `verdict`: all that travels back from where it was graded.
- `assignment_source`: the instructor's notebook as grading needs it.
"""
