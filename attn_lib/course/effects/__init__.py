"""What mistakes do to a model that works.

- `insertion`: a mistake put into the trained model.
- `retraining`: a model trained with a mistake in place.
- `measured`: both, measured once and kept in a file; `measure` is the command that does it again.
- `wording`: the same in sentences.
"""

from attn_lib.course.effects.insertion import (
    PLACES,
    Effect,
    held_out_sentences,
    insertion_effect,
)
from attn_lib.course.effects.measured import Measured, measured
from attn_lib.course.effects.retraining import (
    TRAINABLE,
    Retraining,
    measure_training,
    parts_to_train,
    train_with,
)
from attn_lib.course.effects.wording import (
    WHY_INVISIBLE,
    insertion_in_words,
    outcome,
    percent,
    repair,
    retraining_in_words,
)

__all__ = [
    "PLACES",
    "TRAINABLE",
    "WHY_INVISIBLE",
    "Effect",
    "Measured",
    "Retraining",
    "held_out_sentences",
    "insertion_effect",
    "insertion_in_words",
    "measure_training",
    "measured",
    "outcome",
    "parts_to_train",
    "percent",
    "repair",
    "retraining_in_words",
    "train_with",
]
