"""Compare estimates on a page with independent samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.book.claims.reading import Shown

#: Allowed difference in standard errors: a hundred random comparisons pass unless one is wrong.
ERRORS = 4


def mean(sample) -> Shown:
    """Return the mean of a sample and its standard error."""
    return float(sample.mean()), float(sample.std() / math.sqrt(sample.size))


def agree(stated: Shown, own: Shown) -> bool:
    """Tell whether a stated estimate agrees with one from independent draws."""
    (value, error), (own_value, own_error) = stated, own
    # Rounded to one digit, an error may be printed too small by half of the printed value.
    return abs(value - own_value) < 5 * (1.5 * error + own_error)


def half_a_digit(value: float) -> float:
    """Return half a unit of the last digit shown."""
    return 0.5 * 10.0 ** -len(f"{value}".partition(".")[2])


def assert_measured(shown: Shown, sample, statistic=np.mean) -> None:
    """Assert that a shown estimate agrees with an independent sample."""
    value, error = shown
    n = len(sample)
    if statistic is np.mean:
        own = sample.std() / math.sqrt(n)
    else:
        own = np.ptp(np.quantile(sample, 0.5 + np.array([-0.5, 0.5]) / math.sqrt(n))) / 2
    bound = ERRORS * math.hypot(error, own) + half_a_digit(value)
    assert value == pytest.approx(statistic(sample), rel=0, abs=bound), (shown, own)


def assert_near(shown: Shown, said: float, rounding: float | None = None) -> None:
    """Assert that a shown estimate agrees with another measured, rounded value."""
    value, error = shown
    bound = ERRORS * math.sqrt(2) * error + (half_a_digit(said) if rounding is None else rounding)
    assert value == pytest.approx(said, rel=0, abs=bound)
