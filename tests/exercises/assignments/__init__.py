"""One module for each assignment, with its proof.

The modules are long because they are data: answers as learners write them, right ones in several
styles and wrong ones with their costs and a piece of their reports.
"""
