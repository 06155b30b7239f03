"""Where learners' code runs: forks of a warm process, isolated, watched and timed.

Inside the sandbox only this file and the folder `inside` are visible, so nothing is imported here.

Other rooms use:

- `warm_sandboxes`: the sandboxes that a process keeps.
- `sandbox`: one sandbox, and the sessions that it opens.
- `launching`: starts the warm process.
- `session`: one submission's process.
- `doctor`: checks whether the sandbox works on this machine.
- `inside`: the grader's code that runs behind the wall, the limits, and how values cross.
"""
