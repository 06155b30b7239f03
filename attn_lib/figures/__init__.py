"""The figures of the course. Each function draws one figure and describes it in a text.

Every function returns ``(figure, text)``. So it can be passed to `attn_lib.figures.widgets.explore`
with sliders for its arguments, and what it returns to `attn_lib.figures.widgets.picture`. The
figures of each chapter are in separate modules; this package exports all of them.
"""

from attn_lib.figures.chapters.complexity import (
    flops_by_part,
    layer_costs,
    pairs,
    seconds_against_length,
    weights_memory,
)
from attn_lib.figures.chapters.dot_products import (
    four_steps_of,
    projections,
    shape_flow,
    sharpness,
    two_vectors,
    weights_row,
)
from attn_lib.figures.chapters.from_text_to_next_word import (
    name_matches,
    position_scores,
    residual_stream,
    traced_array,
    word_weights,
)
from attn_lib.figures.chapters.heads import head_split, heads_at_fixed_width, multi_head_shapes
from attn_lib.figures.chapters.masked_weights import masked_weights
from attn_lib.figures.chapters.masking import (
    future_change,
    mask_combination,
    mask_to_weights,
    masking_mistake,
    padding_sides,
    window_masks,
)
from attn_lib.figures.chapters.orientation import four_steps, look_back, soft_lookup
from attn_lib.figures.chapters.putting_it_together import difference_errors, gradient_flow
from attn_lib.figures.chapters.softmax_saturation import (
    jacobian_histogram,
    largest_weight_histogram,
    overflow_histogram,
    query_gradient_histogram,
    score_bars,
    scores_to_gradient,
    softmax_gap,
    training_curves,
)
from attn_lib.figures.chapters.streaming import causal_blocks, streaming_softmax
from attn_lib.figures.chapters.trained_model import cached_step, changed_model, head_row
from attn_lib.figures.chapters.trials import mask_losses, recall_in_training
from attn_lib.figures.chapters.variance_growth import (
    failed_assumptions,
    measured_variances,
    score_histogram,
    sign_totals,
    variance_against_width,
    weights_by_divisor,
    width_to_spread,
)

__all__ = [
    "cached_step",
    "causal_blocks",
    "changed_model",
    "difference_errors",
    "failed_assumptions",
    "flops_by_part",
    "four_steps",
    "four_steps_of",
    "future_change",
    "gradient_flow",
    "head_row",
    "head_split",
    "heads_at_fixed_width",
    "jacobian_histogram",
    "largest_weight_histogram",
    "layer_costs",
    "look_back",
    "mask_combination",
    "mask_losses",
    "mask_to_weights",
    "masked_weights",
    "masking_mistake",
    "measured_variances",
    "multi_head_shapes",
    "name_matches",
    "overflow_histogram",
    "padding_sides",
    "pairs",
    "position_scores",
    "projections",
    "query_gradient_histogram",
    "recall_in_training",
    "residual_stream",
    "score_bars",
    "score_histogram",
    "scores_to_gradient",
    "seconds_against_length",
    "shape_flow",
    "sharpness",
    "sign_totals",
    "soft_lookup",
    "softmax_gap",
    "streaming_softmax",
    "traced_array",
    "training_curves",
    "two_vectors",
    "variance_against_width",
    "weights_by_divisor",
    "weights_memory",
    "weights_row",
    "width_to_spread",
    "window_masks",
    "word_weights",
]
