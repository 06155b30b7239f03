"""Where learners' code runs: forks of a warm process, isolated, watched and timed.

This module imports nothing: it is visible inside the sandbox, and of the rest of this room only
the folder `inside` is.

Other rooms use:

- `kept`: the sandboxes that a process keeps warm.
- `warm_process`: one sandbox, and the sessions that it opens.
- `session`: one submission's process.
- `doctor`: checks whether the sandbox works on this machine.
- `inside`: all code that runs behind the wall, its limits, and how values cross.
"""
