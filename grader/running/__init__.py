"""A class through workers: on this machine or on a cluster, stopped and resumed.

Other rooms use:

- `pipeline`: one run over the submissions to an assignment.
- `jobs`: what a worker does with one submission.
- `local_workers`: processes of this machine.
- `cluster_workers`: workers of a Dask cluster.
- `journal`: what was graded, and from what.
- `digests`: what a grade depends on.
"""
