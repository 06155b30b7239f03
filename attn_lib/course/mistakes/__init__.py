"""The catalogue of wrong ways to compute attention.

Each entry is a wrong implementation that runs and looks plausible. The book shows what it
does, `attn_lib.course.checks` compares a learner's wrong answer with it to name the likely cause,
and the tests prove that no exercise gives it its points.

An entry imitates a *target*: one of the right functions in `attn_lib.course.targets`, which takes
the same arguments. A mistake in one step also shows in what is computed from that step:
`appearances` gives every form that a mistake takes at a target. The entries stand in modules
named after the chapters; importing them here, in the order of the book, fills the catalogue.
"""

from attn_lib.course.mistakes import (  # noqa: I001, F401
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
)
from attn_lib.course.mistakes.composition import appearances, spellings
from attn_lib.course.mistakes.core import Mistake, catalogue

__all__ = ["Mistake", "appearances", "catalogue", "spellings"]
