"""Figures of the chapter `putting-it-together`: gradients, and how to check them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from attn_lib.backward import attention_backward
from attn_lib.figures import style
from attn_lib.figures.drawing import box, flow, power_text
from attn_lib.figures.style import bare, course_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: For each step of the backward pass: its result, the formula, and the arrays it reads.
_STEPS = (
    ("dV", "Wᵀ dO", ("W", "dO")),
    ("dW", "dO Vᵀ", ("dO", "V")),
    ("dS", "W ∘ (dW − row sums of W ∘ dW)", ("W", "dW")),
    ("dQ", "dS K / √d_k", ("dS", "K")),
    ("dK", "dSᵀ Q / √d_k", ("dS", "Q")),
)
#: Positions of the arrays of the forward pass. Gradients have the same ones in the other half.
_PLACES = {
    "Q": (1.25, 6.7),
    "K": (3.65, 6.7),
    "S": (2.45, 4.9),
    "W": (1.25, 3.1),
    "V": (3.65, 3.1),
    "O": (2.45, 1.3),
}
_FEEDS = (("Q", "S"), ("K", "S"), ("S", "W"), ("W", "O"), ("V", "O"))
_HALF = 5.1


def gradient_flow(
    step: int, n_q: int = 3, n_k: int = 5, d_k: int = 7, d_v: int = 2
) -> tuple[Figure, str]:
    """Draw a step of the backward pass: the arrays it reads and the one it computes.

    Parameters
    ----------
    step : int
        From 1 (the gradient at the values) to 5 (the gradient at the keys).
    n_q, n_k, d_k, d_v : int
        Number of queries and of keys, width of a query or key, and of a value.

    Returns
    -------
    (Figure, str)

    Raises
    ------
    ValueError
        If there is no such step.

    Examples
    --------
    >>> _, text = gradient_flow(step=1)
    >>> text
    'Step 1 of 5: dV = Wᵀ dO, from W (3, 5) and dO (3, 2). dV has the shape of V, (5, 2).'
    """
    if step not in range(1, len(_STEPS) + 1):
        raise ValueError(f"gradient_flow: expected a step from 1 to {len(_STEPS)}, got {step!r}.")
    q, k, v, grad = (np.zeros(s) for s in ((n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)))
    grads = attention_backward(grad, q, k, v)
    gradients = dict(zip("QKVWSO", (*grads, grad), strict=True))
    shapes = {name: gradients[name[-1]].shape for n in _PLACES for name in (n, f"d{n}")}
    made, product, used = _STEPS[step - 1]

    def colour(name: str) -> str:
        return style.KEY if name == made else style.QUERY if name in used else style.MUTED

    with course_style():
        figure = new_figure(height=3.7)
        axes = bare(figure.add_subplot())
        axes.set_xlim(0, 10)
        axes.set_ylim(0.6, 8.5)
        for name, (x, y) in _PLACES.items():
            for shift, drawn in ((0, name), (_HALF, f"d{name}")):
                corner = (x + shift - 1.05, y - 0.55)
                box(axes, corner, (2.1, 1.15), drawn, f"{shapes[drawn]}", colour(drawn))
        for source, target in _FEEDS:
            (x, y), (to_x, to_y) = _PLACES[source], _PLACES[target]
            flow(axes, (x, y - 0.6), (to_x, to_y + 0.65))
            flow(axes, (to_x + _HALF, to_y + 0.65), (x + _HALF, y - 0.6))
        axes.text(2.45, 7.8, "forward", ha="center", fontsize=10.5)
        axes.text(2.45 + _HALF, 7.8, "backward", ha="center", fontsize=10.5)
        axes.set_title(f"{step}: {made} = {product}", loc="left")
    sources = " and ".join(f"{name} {shapes[name]}" for name in used)
    return figure, (
        f"Step {step} of {len(_STEPS)}: {made} = {product}, from {sources}. {made} has the shape "
        f"of {made[1:]}, {shapes[made]}."
    )


def difference_errors(
    exponent: int, exponents: Sequence[int], errors: Mapping[str, ArrayLike]
) -> tuple[Figure, str]:
    r"""Draw the error of finite differences against their step.

    Parameters
    ----------
    exponent : int
        Marks the step ``10**exponent``, one of `exponents`.
    exponents : sequence of int
        The steps, as powers of ten.
    errors : mapping of str to array_like
        For each way of taking differences the relative error at each step, positive.

    Returns
    -------
    (Figure, str)
        The text gives errors to the nearest power of ten: their digits are rounding noise.
        An error of 1 or more is not given, since no digit of the difference is right.

    Examples
    --------
    >>> _, text = difference_errors(-2, [-2, -1], {"central": [3e-5, 2e-3], "forward": [0.2, 2]})
    >>> text
    'Step 10⁻². Relative error: central about 10⁻⁵; forward about 10⁻¹.'
    """
    place = list(exponents).index(exponent)
    curves = {name: np.asarray(curve, dtype=float) for name, curve in errors.items()}
    looks = ((style.QUERY, "-"), (style.KEY, "--"), (style.OUTPUT, "-."), (style.MUTED, ":"))
    with course_style():
        figure = new_figure(height=3.4)
        axes = figure.add_subplot()
        for (name, curve), (colour, dashes) in zip(curves.items(), looks, strict=False):
            # Exponents on linear axes: logarithmic axes take three times as long to draw.
            powers = np.log10(curve)
            axes.plot(exponents, powers, color=colour, ls=dashes, lw=2, label=name)
            axes.plot(exponent, powers[place], "o", color=colour, ms=8)
        axes.axvline(exponent, color=style.MUTED, lw=0.8)
        axes.set_xticks(exponents[::2], [power_text(e) for e in exponents[::2]])
        heights = range(-12, 5, 4)
        axes.set_yticks(heights, [power_text(e) for e in heights])
        axes.set_xlabel("step")
        axes.set_ylabel("relative error")
        axes.set_title(f"step {power_text(exponent)}", loc="left")
        figure.legend(loc="outside lower center", ncols=2, fontsize=10)
    sizes = "; ".join(f"{name} {_about(curve[place])}" for name, curve in curves.items())
    return figure, f"Step {power_text(exponent)}. Relative error: {sizes}."


def _about(error: float) -> str:
    exponent = round(np.log10(error))
    return "1 or more" if exponent >= 0 else f"about {power_text(exponent)}"
