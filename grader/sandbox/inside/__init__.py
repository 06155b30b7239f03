"""All that runs inside the sandbox: a warm process that forks a runner for each submission.

- `zygote`: imports once, forks on request; never sees a line of a learner's.
- `namespaces`: shuts a fork in.
- `system_calls`: what the kernel is not asked for.
- `runner`: answers the judge's requests in the fork.
- `shell`: runs cells and collects what they show.
- `deadline`: stops what takes too long, from within.
- `limits`: how much a submission may use.
- `wire`: how values cross to the judge and back.

A learner can read all of it: there is nothing in it to keep from anybody.
"""
