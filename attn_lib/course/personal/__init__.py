"""Personal numbers: the same for the same learner id on every machine, different between ids.

When an exercise is graded, its tests draw the numbers again from the id that the learner filled
in. Each assignment has a module that draws the numbers for its tasks; `core` has what they share.
"""

from attn_lib.course.personal.core import first_suitable, mistakes_show, personal_rng
from attn_lib.course.personal.dot_products import sizes, two_keys, weights_to_read
from attn_lib.course.personal.ids import checked_id

__all__ = [
    "checked_id",
    "first_suitable",
    "mistakes_show",
    "personal_rng",
    "sizes",
    "two_keys",
    "weights_to_read",
]
