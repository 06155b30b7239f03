"""Wrong ways of the chapter `softmax-saturation`: derivatives."""

from __future__ import annotations

import numpy as np

from attn_lib.course.mistakes.core import mistake
from attn_lib.softmax import softmax


@mistake(
    "jacobian-diagonal-only",
    "softmax_jacobian",
    "It leaves out −wwᵀ: raising one score also lowers the other weights.",
    "softmax-saturation#the-jacobian",
)
def _jacobian_diagonal_only(weights):
    return weights[..., :, None] * np.eye(weights.shape[-1])


@mistake(
    "jacobian-without-diagonal",
    "softmax_jacobian",
    "It leaves out diag(w): raising a score raises its own weight.",
    "softmax-saturation#the-jacobian",
)
def _jacobian_without_diagonal(weights):
    return -weights[..., :, None] * weights[..., None, :]


@mistake(
    "jacobian-of-a-sigmoid",
    "softmax_jacobian",
    "It has w(1 − w) on the diagonal and 0 elsewhere; a score also changes the other weights.",
    "softmax-saturation#the-jacobian",
)
def _jacobian_of_a_sigmoid(weights):
    return (weights * (1 - weights))[..., :, None] * np.eye(weights.shape[-1])


@mistake(
    "jacobian-with-the-wrong-sign",
    "softmax_jacobian",
    "It has the sign turned round: raising a score raises its own weight and lowers the others.",
    "softmax-saturation#the-jacobian",
)
def _jacobian_with_the_wrong_sign(weights):
    diagonal = weights[..., :, None] * np.eye(weights.shape[-1])
    return weights[..., :, None] * weights[..., None, :] - diagonal


@mistake(
    "jacobian-without-the-factor",
    "softmax_jacobian",
    "It subtracts w_j where w_i·w_j belongs, so its rows do not sum to 0.",
    "softmax-saturation#the-jacobian",
)
def _jacobian_without_the_factor(weights):
    diagonal = weights[..., :, None] * np.eye(weights.shape[-1])
    return diagonal - weights[..., None, :]


@mistake(
    "jacobian-norm-squared",
    "softmax_jacobian_norm",
    "It sums the squares and leaves out the root.",
    "softmax-saturation#the-size-of-the-jacobian",
)
def _jacobian_norm_squared(weights):
    jacobian = weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    return np.sum(jacobian**2, axis=(-1, -2))


@mistake(
    "largest-singular-value",
    "softmax_jacobian_norm",
    "It is the spectral norm; the Frobenius norm is the root of the sum of all squared entries.",
    "softmax-saturation#the-size-of-the-jacobian",
)
def _largest_singular_value(weights):
    jacobian = weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    return np.linalg.norm(jacobian, ord=2, axis=(-2, -1))


@mistake(
    "jacobian-norm-of-equal-weights",
    "softmax_jacobian_norm",
    "It holds for equal weights only; for a single weight of 1, say, the norm is 0.",
    "softmax-saturation#the-size-of-the-jacobian",
)
def _jacobian_norm_of_equal_weights(weights):
    n = weights.shape[-1]
    return np.full(weights.shape[:-1], np.sqrt(n - 1) / n)


@mistake(
    "row-sum-missing",
    "softmax_backward",
    "It leaves out the row sum: the weights share 1, so each score also acts on the other weights.",
    "softmax-saturation#passing-a-gradient-back",
)
def _row_sum_missing(weights, grad_weights):
    return weights * grad_weights


@mistake(
    "row-sum-not-weighted",
    "softmax_backward",
    "It sums the gradients themselves; the row sum is that of weight times gradient.",
    "softmax-saturation#passing-a-gradient-back",
)
def _row_sum_not_weighted(weights, grad_weights):
    return weights * (grad_weights - np.sum(grad_weights, axis=-1, keepdims=True))


@mistake(
    "column-sum-for-row-sum",
    "softmax_backward",
    "It sums over the queries; the weights of one query share 1, so sum over the keys.",
    "softmax-saturation#passing-a-gradient-back",
)
def _column_sum_for_row_sum(weights, grad_weights):
    return weights * (grad_weights - np.sum(weights * grad_weights, axis=-2, keepdims=True))


@mistake(
    "mean-for-row-sum",
    "softmax_backward",
    "It subtracts the plain mean of the gradients; the mean has to be weighted by the weights.",
    "softmax-saturation#passing-a-gradient-back",
)
def _mean_for_row_sum(weights, grad_weights):
    return weights * (grad_weights - np.mean(grad_weights, axis=-1, keepdims=True))


@mistake(
    "weights-not-multiplied",
    "softmax_backward",
    "It leaves out the factor w in front: a weight near 0 hardly answers to its score.",
    "softmax-saturation#passing-a-gradient-back",
)
def _weights_not_multiplied(weights, grad_weights):
    return grad_weights - np.sum(weights * grad_weights, axis=-1, keepdims=True)


@mistake(
    "backward-of-a-sigmoid",
    "softmax_backward",
    "It multiplies by w(1 − w), as if each weight depended on its own score alone.",
    "softmax-saturation#passing-a-gradient-back",
)
def _backward_of_a_sigmoid(weights, grad_weights):
    return weights * (1 - weights) * grad_weights


@mistake(
    "gradient-uphill",
    "cross_entropy_gradient",
    "It has the sign turned round: the loss falls when the score of the right class rises.",
    "softmax-saturation#cross-entropy-on-the-scores",
)
def _gradient_uphill(scores, label):
    return np.eye(len(scores))[label] - softmax(scores)


@mistake(
    "label-not-subtracted",
    "cross_entropy_gradient",
    "It gives the weights; subtract 1 at the right class.",
    "softmax-saturation#cross-entropy-on-the-scores",
)
def _label_not_subtracted(scores, label):
    return softmax(scores)


@mistake(
    "gradient-at-the-weights",
    "cross_entropy_gradient",
    "It stops at the weights, −1/w at the right class; go back through softmax too.",
    "softmax-saturation#cross-entropy-on-the-scores",
)
def _gradient_at_the_weights(scores, label):
    return -np.eye(len(scores))[label] / softmax(scores)


@mistake(
    "squared-error-for-cross-entropy",
    "cross_entropy_gradient",
    "It is the gradient of the squared error, which dies when softmax saturates.",
    "softmax-saturation#cross-entropy-on-the-scores",
)
def _squared_error_for_cross_entropy(scores, label):
    weights = softmax(scores)
    error = weights - np.eye(len(scores))[label]
    return weights * (error - np.sum(weights * error))
