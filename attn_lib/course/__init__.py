"""What the course adds to the mathematics: exercises, their checks and the museum.

- ``targets``: what exercises ask for.
- ``mistakes``: the catalogue of wrong ways to compute it.
- ``checks``: what the exercises' test cells call.
- ``personal``: numbers of a learner's own.
- ``effects``: what mistakes do to the trained model, measured.
- ``museum``: how the book shows a mistake.
"""
