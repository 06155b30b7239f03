"""Exclude the answers from collection: they are pieces of notebooks, some wrong on purpose."""

collect_ignore_glob = ["answers/*.py"]
