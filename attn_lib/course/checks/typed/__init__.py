"""Judging answers that are typed in: what they follow from, and how the numbers were misread."""

from attn_lib.course.checks.typed.misread import is_rounded_too_far, the_reading
from attn_lib.course.checks.typed.own_steps import After, OwnSteps

__all__ = ["After", "OwnSteps", "is_rounded_too_far", "the_reading"]
