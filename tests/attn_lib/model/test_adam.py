"""Adam's steps equal those of the paper's algorithm, computed with plain numbers."""

import math

import numpy as np
import pytest

from attn_lib.model import Adam


def test_steps_are_those_of_algorithm_1():
    gradients = [0.5, -2.0, 0.1, 0.0]
    adam = Adam(mean_decay=0.8, square_decay=0.95, epsilon=1e-3)
    mean = square = 0.0
    for t, g in enumerate(gradients, start=1):
        mean = 0.8 * mean + 0.2 * g
        square = 0.95 * square + 0.05 * g**2
        whole_mean, whole_square = mean / (1 - 0.8**t), square / (1 - 0.95**t)
        expected = -0.3 * whole_mean / (math.sqrt(whole_square) + 1e-3)
        update = adam.step({"w": np.array([g, 1.0])}, rate=0.3)["w"]
        assert update[0] == pytest.approx(expected)
        assert update[1] == pytest.approx(-0.3 / 1.001)


def test_parameters_of_different_names_are_independent():
    alone, together = Adam(), Adam()
    for g in (1.0, -3.0):
        expected = alone.step({"w": np.array([g])}, 0.1)["w"]
        updates = together.step({"w": np.array([g]), "b": np.array([7 * g, 2.0])}, 0.1)
        assert updates["w"].tolist() == expected.tolist()


def test_it_minimises_a_badly_conditioned_function():
    point = np.array([3.0, -2.0])
    adam = Adam()
    for t in range(400):
        gradient = point * [1000.0, 0.001]
        point = point + adam.step({"p": gradient}, rate=0.1 * (1 - t / 400))["p"]
    assert np.abs(point).max() < 0.01


@pytest.mark.parametrize("options", [{"mean_decay": 1.0}, {"square_decay": -0.1}, {"epsilon": 0.0}])
def test_decays_out_of_range_are_rejected(options):
    with pytest.raises(ValueError, match="decays from 0 to less than 1 and a positive epsilon"):
        Adam(**options)
