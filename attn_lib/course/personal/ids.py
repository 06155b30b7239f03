"""The learner id, which a learner types into a notebook."""

from __future__ import annotations

#: Longest accepted id. A longer text is not an id, and would be slow to process.
MAX_ID_LENGTH = 200


def checked_id(learner_id: str) -> str:
    """Return the id in its normal form, from which the numbers are drawn.

    Parameters
    ----------
    learner_id : str
        The learner's id. Case and surrounding space do not matter.

    Raises
    ------
    TypeError
        If it is not a string.
    ValueError
        If it has neither a letter nor a digit, because it is empty or still the placeholder;
        if it is longer than `MAX_ID_LENGTH`, or contains half of a surrogate pair.

    Examples
    --------
    >>> checked_id(" Ada ")
    'ada'
    """
    if not isinstance(learner_id, str):
        raise TypeError(f"learner_id: expected a string, got {learner_id!r}; put it in quotes.")
    if len(learner_id) > MAX_ID_LENGTH:
        raise ValueError(
            f"learner_id: expected your id, got {len(learner_id)} characters; fill it in."
        )
    learner_id = learner_id.strip().casefold()
    if any("\ud800" <= character <= "\udfff" for character in learner_id):
        raise ValueError(
            f"learner_id: expected your id, got {learner_id!r} with half a character; type it anew."
        )
    if not any(character.isalnum() for character in learner_id):
        raise ValueError(
            f"learner_id: expected your id, got {learner_id!r} without a letter or digit; "
            "fill it in."
        )
    return learner_id
