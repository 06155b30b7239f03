"""How wrong the predictions are: cross-entropy, with a weight for each word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attn_lib.model.layers import Array
from attn_lib.softmax import log_softmax


def cross_entropy(
    logits: Array, targets: NDArray[np.integer], word_weights: Array
) -> tuple[float, Array]:
    r"""Return the loss and its gradient at the logits.

    :math:`\sum_i u_i\, (-\log p_i) / \sum_i u_i`, where :math:`p_i` is the probability, by
    softmax of the logits, of the word that comes and :math:`u_i` its weight. The gradient at the
    logits is the probabilities, less 1 at that word, times :math:`u_i / \sum_i u_i`.

    Parameters
    ----------
    logits : ndarray, shape (..., n, n_words)
    targets : ndarray of int, shape (..., n)
        Ids of the words that come.
    word_weights : ndarray, shape (..., n)
        0 or more, and not all 0. Padding weighs 0.

    Returns
    -------
    loss : float
        In nats for each word: log(n_words) if all words are thought equally likely.
    gradient : ndarray, shape (..., n, n_words)

    Raises
    ------
    ValueError
        If the shapes do not fit together, or no word weighs anything.

    Examples
    --------
    >>> loss, gradient = cross_entropy(np.zeros((2, 4)), np.array([3, 0]), np.array([1.0, 3.0]))
    >>> round(loss, 4)
    1.3863
    >>> gradient
    array([[ 0.0625,  0.0625,  0.0625, -0.1875],
           [-0.5625,  0.1875,  0.1875,  0.1875]])
    """
    if not logits.shape[:-1] == targets.shape == word_weights.shape:
        raise ValueError(
            "cross_entropy: expected logits (..., n, n_words) and one target and one weight for "
            f"each word, got {logits.shape}, {targets.shape} and {word_weights.shape}."
        )
    total = word_weights.sum()
    if not total > 0:
        raise ValueError("cross_entropy: expected a word of positive weight, got none.")
    shares = (word_weights / total).astype(logits.dtype)  # (..., n)
    log_probabilities = log_softmax(logits)  # (..., n, n_words)
    of_targets = np.take_along_axis(log_probabilities, targets[..., None], axis=-1)[..., 0]
    is_target = targets[..., None] == np.arange(logits.shape[-1])
    gradient = (np.exp(log_probabilities) - is_target) * shares[..., None]
    return float(-(of_targets * shares).sum()), gradient
