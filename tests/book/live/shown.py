"""Reading numbers as the figures show them."""

from __future__ import annotations


def number(text: str) -> float:
    """Return a number that is shown with a minus sign as long as a plus; NaN too."""
    return float(text.replace("−", "-"))
