"""Exercise notebooks as files: read, executed and graded without Jupyter."""
