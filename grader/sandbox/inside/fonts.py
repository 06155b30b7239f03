"""Makes matplotlib's list of fonts faster, by skipping font metrics that the list does not need.

matplotlib makes the list at its first import and caches it in a file. A sandbox starts without
that file, so it makes the list each time. The list needs only the header of a PostScript font,
but matplotlib also parses the metrics of all its characters and kerning pairs.
"""

from __future__ import annotations

from unittest import mock


def list_fonts() -> None:
    """Make the list without font metrics. Fonts that are opened later are read completely.

    In a version of matplotlib without these private functions, this is slow but still correct.
    """
    with mock.patch.multiple(
        "matplotlib._afm",
        create=True,
        _parse_char_metrics=lambda file: ({}, {}),
        _parse_optional=lambda file: ({}, {}),
    ):
        import matplotlib.font_manager  # noqa: F401
