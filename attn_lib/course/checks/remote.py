"""Values that live in another process, and what messages call the type of any value."""

from __future__ import annotations

from typing import Any


class Remote:
    """Base of what stands for a value of another process.

    The judge looks at a learner's work through these.
    """

    __slots__ = ()

    type_name: str  #: what messages call the type of that value


def type_name(value: Any) -> str:
    """Return what a message calls the type of a value.

    Parameters
    ----------
    value
        Anything. Of a `Remote` the type is that of the value it stands for.

    Examples
    --------
    >>> class Elsewhere(Remote):
    ...     type_name = "generator"
    >>> type_name(Elsewhere()), type_name(2.5)
    ('generator', 'float')
    """
    return value.type_name if isinstance(value, Remote) else type(value).__name__
