"""Adam, the optimiser that trains the model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attn_lib.model.layers import Array


class Adam:
    r"""Gradient steps, scaled for each number by the size of its recent gradients.

    Let :math:`m` be the running mean of a number's gradients :math:`g`, and :math:`s` that of their
    squares. Both start at 0, which biases them, so each is divided by a correction. A step is

    .. math::

        -\eta\, \hat m / (\sqrt{\hat s} + \epsilon), \qquad
        \hat m = \frac{m}{1 - \beta_1^t}, \quad \hat s = \frac{s}{1 - \beta_2^t}.

    So the first step of every number is about as large as the rate.

    Parameters
    ----------
    mean_decay : float
        β₁: the fraction of the mean that is kept at each step, from 0 to less than 1.
    square_decay : float
        β₂, the same for the squares. The paper's 0.999 remembers a thousand steps, nearly as
        many as the model here takes; 0.99 remembers a hundred.
    epsilon : float
        Positive; keeps the divisor from being 0.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    References
    ----------
    Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", algorithm 1.

    Examples
    --------
    >>> adam = Adam()
    >>> adam.step({"w": np.array([4.0, -0.001])}, rate=0.5)["w"].round(3)
    array([-0.5,  0.5])
    """

    def __init__(
        self, mean_decay: float = 0.9, square_decay: float = 0.99, epsilon: float = 1e-8
    ) -> None:
        if not (0 <= mean_decay < 1 and 0 <= square_decay < 1 and epsilon > 0):
            raise ValueError(
                "Adam: expected decays from 0 to less than 1 and a positive epsilon, got "
                f"{mean_decay}, {square_decay} and {epsilon}."
            )
        self._decays = mean_decay, square_decay
        self._epsilon = epsilon
        self._means: dict[str, Array] = {}
        self._squares: dict[str, Array] = {}
        self._taken = 0

    def step(self, gradients: Mapping[str, Array], rate: float) -> dict[str, Array]:
        """Return what to add to each parameter, given its gradient.

        Parameters
        ----------
        gradients : mapping of str to ndarray
            The same names and shapes at each call.
        rate : float
            η, the learning rate.

        Returns
        -------
        dict of str to ndarray
        """
        mean_decay, square_decay = self._decays
        self._taken += 1
        updates = {}
        for name, gradient in gradients.items():
            if name not in self._means:
                self._means[name] = np.zeros_like(gradient)
                self._squares[name] = np.zeros_like(gradient)
            mean, square = self._means[name], self._squares[name]
            mean += (1 - mean_decay) * (gradient - mean)
            square += (1 - square_decay) * (gradient**2 - square)
            whole_mean = mean / (1 - mean_decay**self._taken)
            whole_square = square / (1 - square_decay**self._taken)
            updates[name] = -rate * whole_mean / (np.sqrt(whole_square) + self._epsilon)
        return updates
