"""The picture that messengers show beside a link to the course."""

from __future__ import annotations

import io

DOTS_PER_INCH = 100
FORMULA = r"$\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V$"


def draw(width: int, height: int) -> bytes:
    """Return a PNG of the first page's figure below the course's name and formula.

    Parameters
    ----------
    width, height : int
        In pixels.
    """
    from attn_lib.figures import soft_lookup, style

    figure, _ = soft_lookup(45, key_angles=[0, 90, 200], values=[10.0, 20.0, 40.0], length=2.0)
    figure.set_size_inches(width / DOTS_PER_INCH, height / DOTS_PER_INCH)
    figure.set_layout_engine("constrained", rect=(0.04, 0.02, 0.92, 0.56))
    figure.text(0.05, 0.84, "Scaled dot-product attention", fontsize=40, color=style.INK)
    figure.text(0.05, 0.68, FORMULA, fontsize=30, color=style.QUERY)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH)
    return file.getvalue()
