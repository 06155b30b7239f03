"""Lists matplotlib's fonts without reading all of them.

matplotlib makes the list when it is imported for the first time, which in a sandbox is every
time. Of a PostScript font it keeps what the file's first lines say, yet it reads the measures of
all letters and pairs of letters too.
"""

from __future__ import annotations

from unittest import mock


def list_fonts() -> None:
    """Import matplotlib's list of fonts; later whoever opens a PostScript font reads it whole.

    Where matplotlib has no functions of these names, it takes its time.
    """
    with mock.patch.multiple(
        "matplotlib._afm",
        create=True,
        _parse_char_metrics=lambda file: ({}, {}),
        _parse_optional=lambda file: ({}, {}),
    ):
        import matplotlib.font_manager  # noqa: F401
