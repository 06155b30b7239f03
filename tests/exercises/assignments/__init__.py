"""One module for each assignment, with its proof."""
