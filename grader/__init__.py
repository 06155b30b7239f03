"""The instructor's side of the exercises: release them, grade a class, report on it.

- `course`: nbgrader set up for this course.
- `release`: learners' notebooks from the instructor's ones.
- `submissions`: the sample class's answers put into the released notebook.
- `classroom`: autograde and feedback for a folder of submissions.
- `gradebook`: what nbgrader's database knows of them.
- `export`: the gradebook as a CSV file.
- `summary`: the gradebook as a table and as the few figures that `make course` prints.
"""
