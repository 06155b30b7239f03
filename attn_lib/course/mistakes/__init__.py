"""The catalogue of wrong ways to compute attention.

Each entry is a wrong implementation that runs and looks plausible. The book shows what it
does, `attn_lib.course.checks` compares a learner's wrong answer with it to name the likely cause,
and the tests prove that no exercise gives it its points.

An entry imitates a *target*: one of the right functions in `attn_lib.course.targets`, which takes
the same arguments. A mistake in one step also shows in what is computed from that step:
`appearances` gives every form that a mistake takes at a target. The entries stand in modules
named after the chapters. Importing a module enters its mistakes; their order is written here.
"""

from attn_lib.course.mistakes import (
    complexity,
    dot_products,
    masking,
    masks,
    measured_variance,
    putting_it_together,
    softmax_gradients,
    softmax_saturation,
    streaming,
    variance_growth,
)
from attn_lib.course.mistakes.composition import appearances, spellings
from attn_lib.course.mistakes.core import Mistake, catalogue, put_in_order

__all__ = ["Mistake", "appearances", "catalogue", "spellings"]

# The order of the book. Where two mistakes explain an answer, the first one is named.
put_in_order(
    [
        dot_products,
        variance_growth,
        measured_variance,
        softmax_saturation,
        softmax_gradients,
        masks,
        masking,
        complexity,
        streaming,
        putting_it_together,
    ]
)
