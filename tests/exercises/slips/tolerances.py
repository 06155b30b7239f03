"""Answers that are off by a little more than rounding explains."""

from __future__ import annotations

from tests.exercises.proof.proof import Slip


def wrapped(cell: str, name: str, expression: str, cost: dict[str, float], told: str) -> Slip:
    """Return a slip in which a function gives `expression` of its right result `r`."""
    answer = f"""
exact_{name} = {name}

def {name}(*args):
    r = exact_{name}(*args)
    return {expression}
"""
    return Slip(cell, answer, adds=True, cost=cost, told=told)


COMPLEXITY = {
    "a count one too large": wrapped(
        "counting", "attention_flops", "r + 1", {"counting-tests": 2}, "attention_flops"
    ),
    "a count one too small": wrapped(
        "counting", "projection_flops", "r - 1", {"counting-tests": 1}, "projection_flops"
    ),
    "a count off by a ten-thousandth": wrapped(
        "counting",
        "projection_flops",
        "r * 1.00005",
        {"counting-tests": 1, "drawing-tests": 1},
        "projection_flops",
    ),
    "a count in four digits": wrapped(
        "counting",
        "attention_flops",
        'float("%.4g" % r) if np.ndim(r) == 0 else r',
        {"counting-tests": 2},
        "attention_flops",
    ),
    "outputs in two decimals": wrapped(
        "merging", "merge_outputs", "np.round(r, 2)", {"merging-tests": 2}, "merge_outputs"
    ),
    "outputs of a stream in three decimals": wrapped(
        "streaming",
        "streaming_attention",
        "np.round(r, 3)",
        {"streaming-tests": 3},
        "streaming_attention",
    ),
}
TOGETHER = {
    "a layer in three decimals": wrapped(
        "layer",
        "multi_head_attention",
        "np.round(r, 3)",
        {"layer-tests": 3},
        "multi_head_attention",
    ),
    "a query gradient in three decimals": wrapped(
        "gradients", "query_gradient", "np.round(r, 3)", {"gradients-tests": 2}, "query_gradient"
    ),
}
SATURATION = {
    "weights in three decimals": wrapped(
        "tempered",
        "tempered_softmax",
        "np.round(r, 3)",
        {"tempered-tests": 3, "sharp-tests": 1},
        "tempered_softmax",
    ),
    "logarithms in three decimals": wrapped(
        "logarithm", "log_softmax", "np.round(r, 3)", {"logarithm-tests": 2}, "log_softmax"
    ),
    "a Jacobian in three decimals": wrapped(
        "jacobian", "softmax_jacobian", "np.round(r, 3)", {"jacobian-tests": 2}, "softmax_jacobian"
    ),
    "a gradient in two decimals": wrapped(
        "backward", "softmax_backward", "np.round(r, 2)", {"backward-tests": 2}, "softmax_backward"
    ),
    "a mean in three decimals": wrapped(
        "sharp", "mean_largest_weight", "round(r, 3)", {"sharp-tests": 1}, "mean_largest_weight"
    ),
}
MASKING = {
    "masked weights in three decimals": wrapped(
        "softmax",
        "masked_softmax",
        "np.round(r, 3)",
        {"softmax-tests": 4, "bug-tests": 2},
        "masked_softmax",
    ),
}
DOT_PRODUCTS = {
    "scores in two decimals": wrapped(
        "score-matrix",
        "score_matrix",
        "np.round(r, 2)",
        {"score-matrix-tests": 2, "attention-tests": 4},
        "score_matrix",
    ),
    "shares in three decimals": wrapped(
        "softmax",
        "softmax",
        "np.round(r, 3)",
        {"softmax-tests": 3, "attention-tests": 4},
        "softmax",
    ),
    "mixtures in two decimals": wrapped(
        "attention", "attention", "np.round(r, 2)", {"attention-tests": 4}, "attention"
    ),
}
VARIANCE = {
    "a variance in two decimals": wrapped(
        "measured",
        "measured_variance",
        "round(r, 2)",
        {"measured-tests": 2, "experiment-tests": 2},
        "measured_variance",
    ),
    "a variance in three decimals": wrapped(
        "measured", "measured_variance", "round(r, 3)", {"measured-tests": 1}, "measured_variance"
    ),
    "a scale in three decimals": wrapped(
        "scale", "head_scale", "round(r, 3)", {"scale-tests": 2}, "head_scale"
    ),
}
QUIZ = {
    "a mixture in two decimals": wrapped(
        "formula", "attention_formula", "np.round(r, 2)", {"formula-tests": 4}, "attention_formula"
    ),
}
TEXT = {
    "a norm in three decimals": wrapped(
        "norm", "layer_norm", "np.round(r, 3)", {"norm-tests": 2, "block-tests": 2}, "layer_norm"
    ),
    "a stream in three decimals": wrapped(
        "block", "block", "np.round(r, 3)", {"block-tests": 2}, "block"
    ),
    "turned vectors in three decimals": wrapped(
        "rotary", "rotate", "np.round(r, 3)", {"rotary-tests": 2}, "rotate"
    ),
}
SLIPS = {
    "dot-products": DOT_PRODUCTS,
    "quiz": QUIZ,
    "softmax-saturation": SATURATION,
    "masking": MASKING,
    "complexity": COMPLEXITY,
    "variance-growth": VARIANCE,
    "putting-it-together": TOGETHER,
    "from-text-to-next-word": TEXT,
}
