"""The right functions of the chapter `putting-it-together`: heads and gradients."""

from __future__ import annotations

import numpy as np

from attn_lib import multihead
from attn_lib.backward import attention_backward
from attn_lib.course.targets.arrays import Array
from attn_lib.course.targets.dot_products import scaled_scores
from attn_lib.softmax import softmax


def multi_head_attention(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, n_heads: int
) -> Array:
    """Return the multi-head self-attention of `x`; see `attn_lib.multihead`.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    w_q, w_k, w_v, w_o : ndarray
        Shapes (d_model, n_heads·d_k) twice, (d_model, n_heads·d_v), (n_heads·d_v, d_out).
    n_heads : int

    Returns
    -------
    ndarray, shape (..., n, d_out)

    Examples
    --------
    >>> multi_head_attention(np.eye(3, 4), *np.ones((4, 4, 4)), n_heads=2).shape
    (3, 4)
    """
    return multihead.multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads=n_heads)


def head_weights(x: Array, w_q: Array, w_k: Array, n_heads: int, head: int) -> Array:
    """Return the weights of one head of self-attention, counted from 0.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    w_q, w_k : ndarray, shape (d_model, n_heads·d_k)
    n_heads : int
    head : int

    Returns
    -------
    ndarray, shape (n, n)

    Examples
    --------
    >>> head_weights(np.eye(3), np.eye(3, 6), np.eye(3, 6), 2, 1).round(2)
    array([[0.33, 0.33, 0.33],
           [0.33, 0.33, 0.33],
           [0.33, 0.33, 0.33]])
    """
    q, k = (multihead.split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    return softmax(scaled_scores(q, k))


def value_gradient(weights: Array, grad_output: Array) -> Array:
    """Return the gradient at the values, given the weights and the gradient at the output.

    Parameters
    ----------
    weights : ndarray, shape (..., n_q, n_k)
    grad_output : ndarray, shape (..., n_q, d_v)

    Returns
    -------
    ndarray, shape (..., n_k, d_v)

    Examples
    --------
    >>> value_gradient(np.array([[0.75, 0.25]]), np.array([[1.0, 4.0]]))
    array([[0.75, 3.  ],
           [0.25, 1.  ]])
    """
    return np.swapaxes(weights, -1, -2) @ grad_output


def weights_gradient(grad_output: Array, v: Array) -> Array:
    """Return the gradient at the weights, given the gradient at the output and the values.

    Parameters
    ----------
    grad_output : ndarray, shape (..., n_q, d_v)
    v : ndarray, shape (..., n_k, d_v)

    Returns
    -------
    ndarray, shape (..., n_q, n_k)

    Examples
    --------
    >>> weights_gradient(np.array([[1.0, 4.0]]), np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]))
    array([[ 1.,  6., 12.]])
    """
    return grad_output @ np.swapaxes(v, -1, -2)


def query_gradient(grad_output: Array, q: Array, k: Array, v: Array) -> Array:
    """Return the gradient at the queries, given the gradient at the output of attention.

    Parameters
    ----------
    grad_output : ndarray, shape (..., n_q, d_v)
    q, k, v : ndarray, shapes (..., n_q, d_k), (..., n_k, d_k) and (..., n_k, d_v)

    Examples
    --------
    >>> query_gradient(np.ones((1, 1)), np.zeros((1, 4)), np.eye(2, 4), np.array([[1.0], [0.0]]))
    array([[ 0.125, -0.125,  0.   ,  0.   ]])
    """
    return attention_backward(grad_output, q, k, v).q


def key_gradient(grad_output: Array, q: Array, k: Array, v: Array) -> Array:
    """Return the gradient at the keys, given the gradient at the output of attention.

    Parameters
    ----------
    grad_output, q, k, v
        As in `query_gradient`.

    Examples
    --------
    >>> key_gradient(np.ones((1, 1)), np.ones((1, 4)), np.zeros((2, 4)), np.array([[1.0], [0.0]]))
    array([[ 0.125,  0.125,  0.125,  0.125],
           [-0.125, -0.125, -0.125, -0.125]])
    """
    return attention_backward(grad_output, q, k, v).k


def central_difference(above: Array, here: Array, below: Array, step: float) -> Array:
    """Return the slope of a function, estimated from a step up and a step down.

    Parameters
    ----------
    above, here, below : ndarray of one shape
        Values of the function at ``x + step``, at ``x`` and at ``x - step``.
    step : float
        Positive and small.

    Examples
    --------
    >>> x, step = np.array([1.0, 2.0]), 0.1
    >>> central_difference((x + step) ** 3, x**3, (x - step) ** 3, step).round(4)
    array([ 3.01, 12.01])
    """
    return (above - below) / (2 * step)
