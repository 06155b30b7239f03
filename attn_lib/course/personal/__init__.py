"""Numbers of a learner's own: the same for the same id on every machine, different between ids.

The exercises draw them again when they are graded, from the id the learner filled in. A module
for each assignment draws the numbers its tasks need, with what stands in `core`.
"""

from attn_lib.course.personal.core import checked_id, first_suitable, mistakes_show, personal_rng
from attn_lib.course.personal.dot_products import sizes, two_keys, weights_to_read

__all__ = [
    "checked_id",
    "first_suitable",
    "mistakes_show",
    "personal_rng",
    "sizes",
    "two_keys",
    "weights_to_read",
]
