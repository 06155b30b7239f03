"""Stand-ins for values in another process, and the type names that messages show."""

from __future__ import annotations


class Remote:
    """Base class of stand-ins for values in another process.

    Through them, the judge looks at a learner's work.
    """

    __slots__ = ()

    type_name: str  #: the type name of the value in the other process


def type_name(value: object) -> str:
    """Return the name of a value's type, as messages show it.

    Parameters
    ----------
    value : object
        For a `Remote`, the type is that of the value it stands for.

    Examples
    --------
    >>> class Elsewhere(Remote):
    ...     type_name = "generator"
    >>> type_name(Elsewhere()), type_name(2.5)
    ('generator', 'float')
    """
    return value.type_name if isinstance(value, Remote) else type(value).__name__
