"""Autograde a class with workers on this machine or on a cluster, and resume a stopped run.

Other rooms use:

- `pipeline`: one run over the submissions to an assignment.
- `early_start`: what a command starts before its own imports.
- `jobs`: what a worker does with one submission.
- `local_workers`: worker processes on this machine.
- `cluster_workers`: workers of a Dask cluster.
- `class_list`: who is in the class.
- `journal`: what was graded from what.
- `digests`: what a verdict depends on.
"""
