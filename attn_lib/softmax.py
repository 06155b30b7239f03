"""Softmax, which turns a row of scores into weights, with its logarithm and derivative."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib._arrays import as_float_array, read_arrays, working_dtype


def softmax(scores: ArrayLike, axis: int = -1) -> NDArray[np.floating]:
    """Return ``exp(scores) / sum(exp(scores))`` along `axis`, computed without overflow.

    The largest score is subtracted before exponentiating. This keeps ``exp`` in range and does
    not change the result, because softmax depends only on differences of scores.

    Parameters
    ----------
    scores : array_like, any shape with at least one axis
        Real numbers. ``-inf`` means "may not be chosen" and gets weight 0.
    axis : int
        The axis along which the weights sum to 1. For attention scores of shape
        (..., n_q, n_k) this is the last one: over the keys.

    Returns
    -------
    ndarray of the same shape
        Weights in [0, 1]. float16 and float32 are kept; integers give float64. Where
        every score along `axis` is ``-inf`` the weights are all 0, never NaN.

    Raises
    ------
    TypeError
        If `scores` are not real numbers.
    ValueError
        If `scores` has no axis, or not the one asked for.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, equation 1.

    Examples
    --------
    >>> softmax([1.0, 5.0]).round(3)
    array([0.018, 0.982])
    >>> softmax([1001.0, 1005.0]).round(3)
    array([0.018, 0.982])
    >>> softmax([-np.inf, -np.inf])
    array([0., 0.])
    """
    wide, dtype = _read(scores, "scores", "softmax", axis)
    _, shifted = _shift(wide, axis)
    exponentials = np.exp(shifted)
    weights = exponentials / _row_sum(exponentials, axis)
    return weights.astype(dtype, copy=False)


def log_sum_exp(scores: ArrayLike, axis: int = -1) -> NDArray[np.floating] | np.floating:
    """Return ``log(sum(exp(scores)))`` along `axis`, computed without overflow.

    It is what softmax subtracts from a score to get the logarithm of its weight, and a
    smooth maximum: never below the largest score, and above it by ``log(n)`` at most.

    Parameters
    ----------
    scores : array_like, any shape with at least one axis
        Real numbers. ``-inf`` means "may not be chosen" and adds nothing.
    axis : int
        The axis to sum over.

    Returns
    -------
    ndarray of that shape without `axis`, or a scalar
        The float type is kept, as in `softmax`. ``-inf`` where every score is ``-inf``.

    Raises
    ------
    TypeError
        If `scores` are not real numbers.
    ValueError
        If `scores` has no axis, or not the one asked for.

    References
    ----------
    Blanchard, Higham and Higham 2021, "Accurately computing the log-sum-exp and softmax
    functions", IMA Journal of Numerical Analysis 41(4), section 1.

    Examples
    --------
    >>> log_sum_exp([[1.0, 5.0], [1001.0, 1005.0]]).round(3)
    array([   5.018, 1005.018])
    """
    wide, dtype = _read(scores, "scores", "log_sum_exp", axis)
    row_max, shifted = _shift(wide, axis)
    total = row_max + np.log(_row_sum(np.exp(shifted), axis))
    return total.squeeze(axis).astype(dtype, copy=False)[()]


def log_softmax(scores: ArrayLike, axis: int = -1) -> NDArray[np.floating]:
    """Return the logarithm of `softmax`, without taking the logarithm of a weight.

    A weight too small for its float type is 0, and its logarithm would be ``-inf``. The score
    minus `log_sum_exp` does not have this problem, so cross-entropy is computed from it.

    Parameters
    ----------
    scores : array_like, any shape with at least one axis
        Real numbers. ``-inf`` means "may not be chosen" and stays ``-inf``.
    axis : int
        The axis along which the weights sum to 1.

    Returns
    -------
    ndarray of the same shape
        Numbers of 0 or less. The float type is kept, as in `softmax`. ``-inf`` throughout
        where every score along `axis` is ``-inf``.

    Raises
    ------
    TypeError
        If `scores` are not real numbers.
    ValueError
        If `scores` has no axis, or not the one asked for.

    Examples
    --------
    >>> log_softmax([1.0, 5.0]).round(3)
    array([-4.018, -0.018])
    >>> log_softmax([0.0, 2000.0])
    array([-2000.,     0.])
    """
    wide, dtype = _read(scores, "scores", "log_softmax", axis)
    _, shifted = _shift(wide, axis)
    log_weights = shifted - np.log(_row_sum(np.exp(shifted), axis))
    return log_weights.astype(dtype, copy=False)


def softmax_jacobian(weights: ArrayLike) -> NDArray[np.floating]:
    r"""Return the derivative of each weight with respect to each score.

    :math:`\partial w_i / \partial s_j = w_i (\delta_{ij} - w_j)`, as a matrix
    :math:`J = \mathrm{diag}(w) - w w^T`. It is symmetric, and its rows sum to 0: raising
    all scores alike changes no weight.

    Parameters
    ----------
    weights : array_like, shape (..., n)
        What `softmax` returned: the derivative is a function of the weights alone.

    Returns
    -------
    ndarray, shape (..., n, n)
        ``[..., i, j]`` is the derivative of weight i with respect to score j. The float
        type is kept, as in `softmax`. All 0 for weights that are all 0.

    Raises
    ------
    TypeError
        If `weights` are not real numbers.
    ValueError
        If `weights` has no axis, or cannot be weights: one is negative or they sum to more
        than 1.

    Examples
    --------
    >>> softmax_jacobian([0.5, 0.25, 0.25])
    array([[ 0.25  , -0.125 , -0.125 ],
           [-0.125 ,  0.1875, -0.0625],
           [-0.125 , -0.0625,  0.1875]])
    """
    w, dtype = _read_weights(weights, "softmax_jacobian")
    delta = np.eye(w.shape[-1], dtype=w.dtype)
    jacobian = w[..., :, None] * (delta - w[..., None, :])  # (..., n, 1) * (..., n, n)
    return jacobian.astype(dtype, copy=False)


def softmax_backward(weights: ArrayLike, grad_weights: ArrayLike) -> NDArray[np.floating]:
    r"""Return the gradient at the scores, given the weights and the gradient at the weights.

    :math:`\partial L / \partial s_j = w_j (g_j - \sum_i w_i g_i)`: `softmax_jacobian` times
    :math:`g`, without building the matrix. Only the difference between a gradient and the
    weighted mean of its row is passed on.

    Parameters
    ----------
    weights : array_like, shape (..., n)
        What `softmax` returned.
    grad_weights : array_like, shape (..., n)
        Derivative of the loss with respect to each weight. Leading axes broadcast.

    Returns
    -------
    ndarray, shape (..., n)
        In the wider of the input types; float16 is computed in float32. Each row sums to 0.
        All 0 for weights that are all 0.

    Raises
    ------
    TypeError
        If an input is not made of real numbers.
    ValueError
        If the shapes do not fit together.

    References
    ----------
    Dao et al. 2022, "FlashAttention", appendix B.2.

    Examples
    --------
    >>> softmax_backward(np.array([0.5, 0.25, 0.25]), np.array([1.0, 0.0, 0.0]))
    array([ 0.25 , -0.125, -0.125])
    """
    (w, g), dtype = read_arrays((weights, "weights"), (grad_weights, "grad_weights"))
    if not (w.ndim and g.ndim and w.shape[-1] == g.shape[-1]):
        raise ValueError(
            f"softmax_backward: expected weights and gradients of shape (..., n), got {w.shape} "
            f"and {g.shape}; pass one derivative for each weight."
        )
    try:
        products = w * g
    except ValueError as error:
        raise ValueError(
            "softmax_backward: expected leading axes that broadcast, got weights "
            f"{w.shape} and gradients {g.shape}; pass one derivative for each weight."
        ) from error
    grad_scores = w * (g - products.sum(axis=-1, keepdims=True))  # (..., n) - (..., 1)
    return grad_scores.astype(dtype, copy=False)


def softmax_jacobian_norm(weights: ArrayLike) -> NDArray[np.floating] | np.floating:
    r"""Return the Frobenius norm of `softmax_jacobian` from n numbers instead of n².

    The diagonal of J holds :math:`w_i (1 - w_i)`, the rest :math:`-w_i w_j`. So

    .. math::

        \|J\|_F^2 = \sum_i w_i^2 (1 - w_i)^2 + \sum_{i \neq j} w_i^2 w_j^2
                  = \sum_i w_i^2 - 2 \sum_i w_i^3 + \Big(\sum_i w_i^2\Big)^2,

    because the fourth powers cancel. It is :math:`\sqrt{n - 1} / n` for equal weights and
    0 for a single weight of 1: a saturated softmax passes no gradient on.

    Parameters
    ----------
    weights : array_like, shape (..., n)
        What `softmax` returned.

    Returns
    -------
    ndarray, shape (...), or a scalar
        The float type is kept, as in `softmax`. 0 for weights that are all 0.

    Raises
    ------
    TypeError
        If `weights` are not real numbers.
    ValueError
        If `weights` has no axis, or cannot be weights: one is negative or they sum to more
        than 1.

    Examples
    --------
    >>> softmax_jacobian_norm([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]]).round(4)
    array([0.433, 0.   ])
    """
    w, dtype = _read_weights(weights, "softmax_jacobian_norm")
    # The last form subtracts nearly equal numbers when one weight is close to 1; the first does
    # not. Each of its pairs is summed once, a weight with those before it, then doubled.
    squares = w * w
    before = squares.cumsum(axis=-1)[..., :-1]  # entry i: sum of squares 0 … i
    diagonal = (squares * (1 - w) ** 2).sum(axis=-1)
    pairs = (squares[..., 1:] * before).sum(axis=-1)
    return np.sqrt(diagonal + 2 * pairs).astype(dtype, copy=False)


def entropy(weights: ArrayLike) -> NDArray[np.floating] | np.floating:
    r"""Return the entropy of a row of weights in bits, :math:`-\sum_i w_i \log_2 w_i`.

    It is 0 if one weight is 1, and :math:`\log_2 n` if all n are equal. Two to its power counts
    the keys that share the weight.

    Parameters
    ----------
    weights : array_like, shape (..., n)
        What `softmax` returned. A weight of 0 adds nothing.

    Returns
    -------
    ndarray, shape (...), or a scalar
        The float type is kept, as in `softmax`. 0 for weights that are all 0.

    Raises
    ------
    TypeError
        If `weights` are not real numbers.
    ValueError
        If `weights` has no axis, or cannot be weights: one is negative or they sum to more
        than 1.

    References
    ----------
    Shannon 1948, "A Mathematical Theory of Communication", section 6.

    Examples
    --------
    >>> entropy([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]])
    array([2., 0.])
    """
    w, dtype = _read_weights(weights, "entropy")
    # Where a weight is 0 its logarithm is taken of 1, and multiplied by 0.
    bits = -(w * np.log2(np.where(w > 0, w, 1))).sum(axis=-1)
    return np.abs(bits).astype(dtype, copy=False)  # never -0.0


def _shift(
    scores: NDArray[np.floating], axis: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return each row's largest score, and the scores minus it; a row of -inf stays -inf."""
    row_max = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    return row_max, scores - np.where(np.isneginf(row_max), 0, row_max)


def _row_sum(exponentials: NDArray[np.floating], axis: int) -> NDArray[np.floating]:
    """Return each row's sum, or 1 if it is 0, so that dividing and taking the log are safe."""
    row_sum = exponentials.sum(axis=axis, keepdims=True)
    return np.where(row_sum == 0, 1, row_sum)


def _read(
    values: ArrayLike, name: str, function: str, axis: int
) -> tuple[NDArray[np.floating], np.dtype]:
    """Return the values in the type to compute in, and the type of the result."""
    array = as_float_array(values, name)
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"{function}: expected {name} with an axis {axis}, got shape {array.shape}; "
            "pass an array of at least one axis and an axis it has."
        )
    return array.astype(working_dtype(array.dtype), copy=False), array.dtype


def _read_weights(weights: ArrayLike, function: str) -> tuple[NDArray[np.floating], np.dtype]:
    w, dtype = _read(weights, "weights", function, axis=-1)
    largest_sum = w.sum(axis=-1).max(initial=0)
    # Weights rounded to float16 may sum to a little more than 1.
    if w.min(initial=0) < 0 or largest_sum > 1.01:
        raise ValueError(
            f"{function}: expected weights, which are 0 or more and sum to 1, got a smallest "
            f"of {w.min():.4g} and a largest sum of {largest_sum:.4g}; pass softmax(scores)."
        )
    return w, dtype
