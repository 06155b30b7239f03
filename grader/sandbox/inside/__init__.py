"""The grader's code inside the sandbox: a warm process that forks a runner per submission.

- `start`: starts the warm process.
- `warm_process`: imports once, forks on request; never reads learner code.
- `namespaces`: isolates a fork.
- `system_calls`: forbids system calls that learner code does not need.
- `runner`: answers the judge's requests in the fork.
- `shell`: executes cells and collects their outputs.
- `deadline`: stops learner code that takes too long, from within its process.
- `limits`: how much a submission may use.
- `wire`: how values cross to the judge and back.

Learner code can read these files, so they contain nothing secret.
"""
