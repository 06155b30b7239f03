"""Plain test cells, such as ``assert squares(2) == [1, 4]``, of any nbgrader assignment."""
