"""Trainings of the model that take too long for a page, and what came of them.

- `scales`: with the scores divided by the root of d_k or not, at several widths and from several
  initial spreads of the scores.
- `masks`: with the causal mask and without it.
- `records`: the results of both, which are committed.

The command ``python -m attn_lib.model.trials`` runs all of them again.
"""

from attn_lib.model.trials.masks import UNMASKED, MaskTrial, unmasked_model
from attn_lib.model.trials.records import Records, read_records
from attn_lib.model.trials.scales import ScaleTrial, SoftmaxRows, scaled_start, softmax_rows

__all__ = [
    "UNMASKED",
    "MaskTrial",
    "Records",
    "ScaleTrial",
    "SoftmaxRows",
    "read_records",
    "scaled_start",
    "softmax_rows",
    "unmasked_model",
]
