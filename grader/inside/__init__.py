"""What runs inside the sandbox: a warm process that forks one runner for each submission.

- `zygote`: imports once, forks on request; never sees a line of a learner's.
- `namespaces`: shuts a fork in.
- `system_calls`: what the kernel is not asked for.
- `runner`: answers the judge's requests in the fork.
- `shell`: runs cells and collects what they show.
- `deadline`: stops what takes too long, from within.

With `grader.wire` and `grader.limits` this is all of the grader that the sandbox holds. A
learner can read it: there is nothing in it to keep from anybody.
"""
