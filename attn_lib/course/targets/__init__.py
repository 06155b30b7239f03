"""The right functions that exercises ask for, by name.

Each is a *target*: `attn_lib.course.checks` compares a learner's answer with it, and every entry of
`attn_lib.course.mistakes` imitates one of them. Some targets are functions of attn_lib itself;
the others are in the modules of this package, one for each chapter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.complexity import cache_bytes, weights_bytes
from attn_lib.course.targets.complexity import (
    additive_parameters,
    additive_scores,
    attention_flops,
    crossover_length,
    decoding_flops,
    mebibytes,
    merge_outputs,
    merge_sums,
    projection_flops,
    score_flops,
    streaming_attention,
)
from attn_lib.course.targets.dot_products import (
    output_shape,
    scaled_scores,
    score_matrix,
    weight_at,
    weights_shape,
)
from attn_lib.course.targets.from_text_to_next_word import (
    block,
    embed,
    induction_head,
    lead_without_head,
    output_after_shuffling,
    weight_after_shuffling,
    without_head,
    write,
)
from attn_lib.course.targets.masking import (
    cached_attention,
    cached_causal_mask,
    causal_attention,
    combined_mask,
    mask_from_key_padding,
    masked_attention,
    masked_scores,
    masked_softmax,
    padded_attention,
    visible_keys,
    window_mask,
)
from attn_lib.course.targets.putting_it_together import (
    central_difference,
    head_weights,
    key_gradient,
    multi_head_attention,
    query_gradient,
    value_gradient,
    weights_gradient,
)
from attn_lib.course.targets.softmax_saturation import (
    cross_entropy_gradient,
    mean_largest_weight,
    overflow_limit,
    tempered_softmax,
    two_key_weight,
)
from attn_lib.course.targets.variance_growth import (
    head_scale,
    measured_variance,
    scale_for,
    scaled_variance,
    score_mean,
    score_range,
    score_sd,
    score_variance,
)
from attn_lib.estimates import score_matrix_noise, variance_noise
from attn_lib.masks import additive_mask, causal_mask, padding_mask
from attn_lib.model.layers import layer_norm
from attn_lib.model.positions import rotate
from attn_lib.multihead import merge_heads, split_heads
from attn_lib.softmax import (
    log_softmax,
    log_sum_exp,
    softmax,
    softmax_backward,
    softmax_jacobian,
    softmax_jacobian_norm,
)

#: The targets by the name that the exercises use; most functions have the same name.
TARGETS: dict[str, Callable[..., Any]] = {
    "attention": scaled_dot_product_attention,
    "attention_formula": scaled_dot_product_attention,
    **{
        function.__name__: function
        for function in (
            # dot-products
            score_matrix,
            scaled_scores,
            softmax,
            weight_at,
            weights_shape,
            output_shape,
            # variance-growth
            score_variance,
            score_sd,
            score_mean,
            score_range,
            scaled_variance,
            scale_for,
            head_scale,
            variance_noise,
            score_matrix_noise,
            measured_variance,
            # softmax-saturation
            two_key_weight,
            tempered_softmax,
            log_sum_exp,
            log_softmax,
            overflow_limit,
            mean_largest_weight,
            softmax_jacobian,
            softmax_jacobian_norm,
            softmax_backward,
            cross_entropy_gradient,
            # masking
            causal_mask,
            cached_causal_mask,
            padding_mask,
            combined_mask,
            window_mask,
            mask_from_key_padding,
            visible_keys,
            additive_mask,
            masked_scores,
            masked_softmax,
            masked_attention,
            causal_attention,
            cached_attention,
            padded_attention,
            # complexity
            score_flops,
            attention_flops,
            projection_flops,
            crossover_length,
            decoding_flops,
            weights_bytes,
            cache_bytes,
            mebibytes,
            additive_scores,
            additive_parameters,
            merge_sums,
            merge_outputs,
            streaming_attention,
            # putting-it-together
            split_heads,
            merge_heads,
            multi_head_attention,
            head_weights,
            value_gradient,
            weights_gradient,
            query_gradient,
            key_gradient,
            central_difference,
            # from-text-to-next-word
            embed,
            layer_norm,
            block,
            rotate,
            output_after_shuffling,
            weight_after_shuffling,
            induction_head,
            without_head,
            lead_without_head,
            write,
        )
    },
}
