"""One module for each assignment, with its proof.

The modules are long because they are data: answers as learners write them, right in several
styles and wrong in many ways, beside what each costs and what is told.
"""
