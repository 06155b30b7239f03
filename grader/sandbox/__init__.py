"""Where learners' code runs: a warm process that forks, shut in, watched and timed.

Nothing is imported here, since the folder `inside` can be seen from inside the sandbox and the
rest of this room cannot.

Other rooms use:

- `kept`: the sandboxes that a process keeps warm.
- `warm_process`: one sandbox, and the sessions that it gives.
- `session`: one submission's process.
- `doctor`: whether this machine can do all that.
- `inside`: all that runs behind the wall, its limits and how values cross.
"""
