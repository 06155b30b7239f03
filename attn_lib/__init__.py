"""Scaled dot-product attention in NumPy, and the tools the course teaches it with.

The mathematics is here at the top: ``attn_lib.scaled_dot_product_attention`` and its
parts. The rest is imported by name when wanted, so that NumPy stays the only need:

- ``attn_lib.mistakes``: the catalogue of wrong ways to compute attention.
- ``attn_lib.checks``: what the exercises' test cells call.
- ``attn_lib.figures`` and ``attn_lib.style``: the course's pictures (matplotlib).
- ``attn_lib.widgets``: figures with sliders (matplotlib; ipywidgets when live).
"""

from attn_lib.attention import AttentionTrace, scaled_dot_product_attention
from attn_lib.masks import causal_mask, combine_masks, padding_mask
from attn_lib.softmax import softmax

__all__ = [
    "AttentionTrace",
    "causal_mask",
    "combine_masks",
    "padding_mask",
    "scaled_dot_product_attention",
    "softmax",
]
