"""The answers are pieces of notebooks, several of them wrong on purpose, and no modules."""

collect_ignore_glob = ["answers/*.py"]
