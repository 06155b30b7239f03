"""Scaled dot-product attention in NumPy, and the tools the course teaches it with.

The mathematics is at the top level: ``attn_lib.scaled_dot_product_attention`` and its
parts. Everything else has to be imported by name, so that NumPy is the only requirement:

- ``attn_lib.experiments`` and ``attn_lib.estimates``: what random scores do, with errors.
- ``attn_lib.complexity``: what attention costs, counted and measured.
- ``attn_lib.model``: a small transformer, trained with this attention.
- ``attn_lib.course``: what exercises ask for, checks, mistakes, personal numbers, the museum.
- ``attn_lib.figures``: the course's pictures (matplotlib), with sliders (ipywidgets when live).
"""

from attn_lib.additive import additive_attention
from attn_lib.attention import AttentionTrace, scaled_dot_product_attention
from attn_lib.backward import AttentionGradients, attention_backward
from attn_lib.masks import (
    additive_mask,
    allowed_from_blocked,
    causal_mask,
    combine_masks,
    padding_mask,
    sliding_window_mask,
)
from attn_lib.multihead import merge_heads, multi_head_attention, split_heads
from attn_lib.softmax import (
    log_softmax,
    log_sum_exp,
    softmax,
    softmax_backward,
    softmax_jacobian,
)

__all__ = [
    "AttentionGradients",
    "AttentionTrace",
    "additive_attention",
    "additive_mask",
    "allowed_from_blocked",
    "attention_backward",
    "causal_mask",
    "combine_masks",
    "log_softmax",
    "log_sum_exp",
    "merge_heads",
    "multi_head_attention",
    "padding_mask",
    "scaled_dot_product_attention",
    "sliding_window_mask",
    "softmax",
    "softmax_backward",
    "softmax_jacobian",
    "split_heads",
]
