"""The layers of a block, each with its backward pass.

A backward pass takes the gradient of the loss at the layer's output, and the layer's arguments.
It returns the gradient at each of these arguments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

#: Added to the variance, so that a vector of equal entries is not divided by 0.
EPSILON = 1e-5


def normalised(x: Array) -> Array:
    """Return each vector with mean 0 and variance 1.

    Parameters
    ----------
    x : ndarray, shape (..., d)

    Returns
    -------
    ndarray, shape (..., d)

    Examples
    --------
    >>> normalised(np.array([1.0, 3.0, 5.0])).round(4)
    array([-1.2247,  0.    ,  1.2247])
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)


def layer_norm(x: Array, gain: Array, bias: Array) -> Array:
    r"""Return :math:`g \circ (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b` of each vector.

    Mean and variance are taken over the entries of each vector, so words do not affect each
    other.

    Parameters
    ----------
    x : ndarray, shape (..., d)
    gain, bias : ndarray, shape (d,)

    Returns
    -------
    ndarray, shape (..., d)

    References
    ----------
    Ba, Kiros and Hinton 2016, "Layer Normalization", equation 4. Xiong et al. 2020, "On Layer
    Normalization in the Transformer Architecture", for its place before each layer.

    Examples
    --------
    >>> layer_norm(np.array([1.0, 3.0, 5.0]), np.array([1, 2, 1]), np.array([0, 7, 0])).round(4)
    array([-1.2247,  7.    ,  1.2247])
    """
    return normalised(x) * gain + bias


def layer_norm_backward(grad: Array, x: Array, gain: Array) -> tuple[Array, Array, Array]:
    r"""Return the gradients at `x`, `gain` and `bias` of `layer_norm`.

    With :math:`n` the normalised vector and :math:`dn = g \circ dy`,

    .. math::

        dx = \frac{dn - \mathrm{mean}(dn) - n\,\mathrm{mean}(dn \circ n)}
                  {\sqrt{\sigma^2 + \epsilon}}.

    A shift or a rescaling of the vector does not change the output, so these components are
    removed from the gradient.

    Parameters
    ----------
    grad : ndarray, shape (..., d)
    x : ndarray, shape (..., d)
    gain : ndarray, shape (d,)

    Returns
    -------
    tuple of ndarray
        Shapes (..., d), (d,) and (d,).

    Examples
    --------
    >>> x = np.array([1.0, 3.0, 8.0])
    >>> d_x, d_gain, d_bias = layer_norm_backward(np.array([1.0, 0.0, 0.0]), x, np.ones(3))
    >>> d_x.round(4)
    array([ 0.1089, -0.1524,  0.0435])
    """
    n = normalised(x)
    d_n = grad * gain
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + EPSILON)
    along = (d_n * n).mean(axis=-1, keepdims=True)
    d_x = (d_n - d_n.mean(axis=-1, keepdims=True) - n * along) / deviation
    words = tuple(range(grad.ndim - 1))
    return d_x, (grad * n).sum(axis=words), grad.sum(axis=words)


def matrix_gradient(x: Array, grad: Array) -> Array:
    """Return the gradient at the matrix of ``x @ matrix``, summed over all words.

    Parameters
    ----------
    x : ndarray, shape (..., d_in)
    grad : ndarray, shape (..., d_out)
        Gradient at the product.

    Returns
    -------
    ndarray, shape (d_in, d_out)

    Examples
    --------
    >>> matrix_gradient(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [10.0]]))
    array([[31.],
           [42.]])
    """
    return x.reshape(-1, x.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])


def feed_forward(x: Array, w_in: Array, b_in: Array, w_out: Array, b_out: Array) -> Array:
    r"""Return :math:`\max(0, x W_1 + b_1)\, W_2 + b_2` for each word separately.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    w_in : ndarray, shape (d_model, d_ff)
    b_in : ndarray, shape (d_ff,)
    w_out : ndarray, shape (d_ff, d_model)
    b_out : ndarray, shape (d_model,)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.3, equation 2.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> feed_forward(np.array([[-3.0], [4.0]]), one, one[0], 2 * one, one[0])
    array([[ 1.],
           [11.]])
    """
    return np.maximum(x @ w_in + b_in, 0) @ w_out + b_out


def feed_forward_backward(
    grad: Array, x: Array, w_in: Array, b_in: Array, w_out: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the gradients at all five inputs of `feed_forward`, in its order.

    Parameters
    ----------
    grad : ndarray, shape (..., d_model)
    x, w_in, b_in, w_out
        As in `feed_forward`.

    Returns
    -------
    tuple of ndarray
        The shapes of `x`, `w_in`, `b_in`, `w_out` and `b_out`.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> gradients = feed_forward_backward(one, np.array([[4.0]]), one, one[0], 2 * one)
    >>> [float(gradient.item()) for gradient in gradients]
    [2.0, 8.0, 2.0, 5.0, 1.0]
    """
    before = x @ w_in + b_in  # (..., d_ff)
    d_before = grad @ w_out.T * (before > 0)  # (..., d_ff)
    words = tuple(range(x.ndim - 1))
    return (
        d_before @ w_in.T,
        matrix_gradient(x, d_before),
        d_before.sum(axis=words),
        matrix_gradient(np.maximum(before, 0), grad),
        grad.sum(axis=words),
    )


def embed(table: Array, ids: NDArray[np.integer]) -> Array:
    """Return the row of the table that belongs to each id.

    Parameters
    ----------
    table : ndarray, shape (vocabulary, d_model)
    ids : ndarray of int, shape (...)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.4. The paper multiplies by
    √d_model, which makes up for a table of small entries; here the table starts large enough.

    Examples
    --------
    >>> embed(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1, 1, 0]))
    array([[2., 3.],
           [2., 3.],
           [0., 1.]])
    """
    return table[ids]


def embed_backward(grad: Array, ids: NDArray[np.integer], rows: int) -> Array:
    """Return the gradient at the table of `embed`, summed over all uses of each row.

    Parameters
    ----------
    grad : ndarray, shape (..., d_model)
    ids : ndarray of int, shape (...)
    rows : int
        Number of rows of the table.

    Returns
    -------
    ndarray, shape (rows, d_model)

    Examples
    --------
    >>> embed_backward(np.array([[1.0, 2.0], [10.0, 20.0]]), np.array([1, 1]), rows=3)
    array([[ 0.,  0.],
           [11., 22.],
           [ 0.,  0.]])
    """
    uses = ids.reshape(-1) == np.arange(rows)[:, None]  # (rows, words)
    return uses.astype(grad.dtype) @ grad.reshape(-1, grad.shape[-1])
