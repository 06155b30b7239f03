"""Wrong readings of a task's numbers, and what each gives in place of the right answer.

A learner may take columns for rows, count from 1, forget a square root. Personal numbers are drawn
so that no such reading gives an answer that the task accepts. Each assignment has a module with a
function for each draw; `core` has what they share.
"""

from attn_lib.course.personal.misreadings import (
    complexity,
    dot_products,
    from_text_to_next_word,
    masking,
    putting_it_together,
    quiz,
    softmax_saturation,
    variance_growth,
)
from attn_lib.course.personal.misreadings.core import Asked, accepted, any_accepted, none_accepted

__all__ = [
    "Asked",
    "accepted",
    "any_accepted",
    "complexity",
    "dot_products",
    "from_text_to_next_word",
    "masking",
    "none_accepted",
    "putting_it_together",
    "quiz",
    "softmax_saturation",
    "variance_growth",
]
