"""The catalogue of wrong ways to compute what exercises ask for.

Each entry is a wrong implementation that runs and looks plausible. The book shows what it
does, `attn_lib.course.checks` compares a learner's wrong answer with it to name the likely cause,
and the tests prove that it earns no points in any exercise.

An entry imitates a *target*: one of the right functions in `attn_lib.course.targets`, which takes
the same arguments. A mistake in one step also changes everything that is computed from that step:
`appearances` gives all wrong functions that mistakes lead to at a target. Each chapter has one or
more modules of entries; `core` and `composition` hold none. Importing a module registers its
mistakes; this one sets their order.
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
    trained_heads,
    transformer_steps,
    variance_growth,
    word_order,
)
from attn_lib.course.mistakes.composition import appearances, spellings
from attn_lib.course.mistakes.core import Mistake, catalogue, put_in_order

__all__ = ["Mistake", "appearances", "catalogue", "spellings"]

# The order of the book. If two mistakes explain an answer, checks name the first one.
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
        transformer_steps,
        word_order,
        trained_heads,
    ]
)
