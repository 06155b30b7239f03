"""Wrong readings of the numbers of the assignment `variance-growth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attn_lib.course.personal.misreadings.core import Asked

if TYPE_CHECKING:
    from attn_lib.course.personal.variance_growth import Entries, HeadSizes, Measurement


def of_entries(numbers: Entries) -> dict[str, Asked]:
    """Return the predictions for a learner's entries, and what other readings give.

    Parameters
    ----------
    numbers : Entries
    """
    d, var_q, var_k, mean_q, mean_k = numbers
    both = var_q * var_k
    with_means = both + var_q * mean_k**2 + var_k * mean_q**2
    other_variances = {
        "of one product": both,
        "variances added": d * (var_q + var_k),
        "variances averaged": d * (var_q + var_k) / 2,
        "variances subtracted": d * abs(var_q - var_k),
        "width squared": d**2 * both,
        "divided by the width": both / d,
        "root of the width": d**0.5 * both,
        "one product less": (d - 1) * both,
        "variance of the query only": d * var_q,
        "variance of the key only": d * var_k,
        "variances forgotten": d,
        "width for each": d * var_q * d * var_k,
        "variances squared": d * both**2,
        "sds multiplied": d * both**0.5,
        "with the means": d * with_means,
        "means for variances": d * abs(mean_q * mean_k),
    }
    sd, product = (d * both) ** 0.5, mean_q * mean_k
    return {
        "variance": Asked(d * both, other_variances | {"sd": sd}, decimals=2),
        "sd": Asked(
            sd,
            {name: other**0.5 for name, other in other_variances.items()}
            | {
                "the variance": d * both,
                "half of the variance": d * both / 2,
                "sds added": d**0.5 * (var_q**0.5 + var_k**0.5),
                "grows with the width": d * both**0.5,
                "root of the width only": d**0.5 * both,
            },
            decimals=2,
        ),
        "bound": Asked(
            2 * d**0.5,
            {
                "one sd": d**0.5,
                "three sds": 3 * d**0.5,
                "four sds, from end to end": 4 * d**0.5,
                "the variance": d,
                "two variances": 2 * d,
                "your own variances, not 1": 2 * sd,
                "two inside the root": (2 * d) ** 0.5,
                "one product less": 2 * (d - 1) ** 0.5,
                "one product more": 2 * (d + 1) ** 0.5,
                "cubic root": 2 * d ** (1 / 3),
                "95 percent of the width": 0.95 * d,
            },
            decimals=2,
        ),
        "mean": Asked(
            d * product,
            {
                "of one product": product,
                "means added": d * (mean_q + mean_k),
                "means averaged": d * (mean_q + mean_k) / 2,
                "root of the width": d**0.5 * product,
                "always 0": 0.0,
                "mean of the query only": d * mean_q,
                "mean of the key only": d * mean_k,
                "sign forgotten": d * abs(product),
                "one product less": (d - 1) * product,
                "width squared": d**2 * product,
                "width for each": d * mean_q + d * mean_k,
                "with the variances": d * product * both,
                "variances for means": d * both,
                "divided by the width": product / d,
            },
            decimals=2,
        ),
    }


def of_head_sizes(sizes: HeadSizes) -> dict[str, Asked]:
    """Return the variance that the faulty factor leaves, and what other readings give.

    Parameters
    ----------
    sizes : HeadSizes
    """
    d_model, n_heads, n_k = sizes
    d_k = d_model // n_heads
    return {
        "left": Asked(
            d_k / d_model,
            {
                "the sd": (d_k / d_model) ** 0.5,
                "factor used once": d_k / d_model**0.5,
                "factor squared only": 1 / d_model,
                "the factor": d_model**-0.5,
                "width squared": (d_k / d_model) ** 2,
                "by the width of a head": 1 / d_k,
                "the mended factor": 1.0,
                "the number of heads": d_model / d_k,
                "by the number of keys": 1 / n_k,
                "keys for the width": n_k / d_model,
                "what is missing": 1 - d_k / d_model,
                "heads for the width": n_heads / d_model,
            },
            decimals=3,
        )
    }


def of_measurement(numbers: Measurement) -> dict[str, Asked]:
    """Return the noise of two measurements, and what other readings give.

    Parameters
    ----------
    numbers : Measurement
    """
    d, n, measured, n_q, n_k = numbers
    per_pair, entries = 2 + 6 / d, n_q * n_k
    noise, away = (per_pair / n) ** 0.5, abs(measured / d - 1)
    shared = 2 * (n_q + n_k - 2) / d
    matrix_noise = ((per_pair + shared) / entries) ** 0.5
    other_noises = {
        "normal numbers": (2 / n) ** 0.5,
        "of a mean": n**-0.5,
        "the square": per_pair / n,
        "root of the numerator only": per_pair**0.5 / n,
        "two and six exchanged": ((6 + 2 / d) / n) ** 0.5,
        "six times the width": ((2 + 6 * d) / n) ** 0.5,
        "six forgotten": ((2 + 1 / d) / n) ** 0.5,
        "pairs for the width": ((2 + 6 / n) / d) ** 0.5,
        "pairs and width multiplied": (per_pair / (n * d)) ** 0.5,
        "of the score matrix": matrix_noise,
        "entries of the matrix for pairs": (per_pair / entries) ** 0.5,
        "in units of a score": d * noise,
        "in percent": 100 * noise,
    }
    return {
        "noise": Asked(noise, other_noises, decimals=4),
        "errors_away": Asked(
            away / noise,
            {name: away / other for name, other in other_noises.items()}
            | {
                "beside the measured variance": abs(1 - d / measured) / noise,
                "in units of a score, noise relative": d * away / noise,
                "deviation alone, in percent": 100 * away,
                "half of it, for two sides": away / noise / 2,
                "with its square": away**2 / noise,
                "root of the measured variance": abs((measured / d) ** 0.5 - 1) / noise,
            },
            decimals=1,
        ),
        "matrix_noise": Asked(
            matrix_noise,
            {
                "independent entries": (per_pair / entries) ** 0.5,
                "normal independent entries": (2 / entries) ** 0.5,
                "queries for the sample": (per_pair / n_q) ** 0.5,
                "keys for the sample": (per_pair / n_k) ** 0.5,
                "queries and keys added for the sample": ((per_pair + shared) / (n_q + n_k)) ** 0.5,
                "own pairs for the sample": ((per_pair + shared) / n) ** 0.5,
                "of independent pairs": noise,
                "shared ones only": (shared / entries) ** 0.5,
                "without the six": ((2 + shared) / entries) ** 0.5,
                "two not subtracted": ((per_pair + 2 * (n_q + n_k) / d) / entries) ** 0.5,
                "one subtracted": ((per_pair + 2 * (n_q + n_k - 1) / d) / entries) ** 0.5,
                "shared counted once": ((per_pair + shared / 2) / entries) ** 0.5,
                "shared not divided": ((per_pair + d * shared) / entries) ** 0.5,
                "queries alone shared": ((per_pair + 2 * (n_q - 1) / d) / entries) ** 0.5,
                "keys alone shared": ((per_pair + 2 * (n_k - 1) / d) / entries) ** 0.5,
                "the square": (per_pair + shared) / entries,
                "noises added": noise + (shared / entries) ** 0.5,
            },
            decimals=4,
        ),
    }
