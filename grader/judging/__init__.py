"""Judges a submission: the tests in the grader's process, the answers in the sandbox.

Other rooms use:

- `judge`: the verdict on one submission.
- `course_tests`: the test cells of this course.
- `plain`: plain test cells of other assignments, and where they are executed.
- `findings`: what the tests found, part by part.
- `verdict`: all that judging a submission returns.
- `open_feedback`: what learners are told while they may still hand in again.
- `assignment_source`: the instructor's notebook, prepared for judging.
- `repairing`: the repair of a submission, within limits.
- `bounds`: limits on memory and processor time of a block of code in this process.
"""
