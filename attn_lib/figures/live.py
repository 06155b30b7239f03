"""Figures that compute: in the page by a script, in Jupyter by ipywidgets.

`live` is used like `explore`, with a drawing function and a slider for each of its arguments. In
a live notebook it is the same. On the book's pages the drawing of the start is shown with its
text, and the script ``book/assets/live/NAME.js`` replaces it by a figure that computes with
the reader's own numbers. Print, and a browser without JavaScript, show the drawing.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from functools import cached_property, partial
from typing import Any

import numpy as np

from attn_lib.figures.widgets import Draw, Explorer, Frame, Slider, check_sliders

_NAME = re.compile(r"[a-z]+(-[a-z]+)*")

_ids = itertools.count(1)


class LiveFigure(Explorer):
    """A drawing, its sliders, and the script that replaces it on a page; see `live`."""

    def __init__(
        self, name: str, draw: Draw, given: dict[str, Any], sliders: dict[str, Slider]
    ) -> None:
        super().__init__(partial(draw, **given), sliders)
        self.name, self.given = name, given

    @property
    def start(self) -> dict[str, Any]:
        """Return the arguments of the drawing at the start."""
        return self.given | self.start_state

    def static_html(self) -> str:
        """Return the drawing of the start, with what the script needs to go on from there."""
        still = self._still
        choices = {name: slider.values for name, slider in self.sliders.items()}
        given = self.start | {"choices": choices}
        # An unescaped "<" could end the script element; JSON decodes the escape to the same.
        start = json.dumps(given, ensure_ascii=False, default=_plain).replace("<", "\\u003c")
        return (
            f'<figure class="attn-live" id="live-figure-{next(_ids)}" data-live="{self.name}">'
            f'<div class="attn-live-still">{still.img("attn-live-frame", has_caption=True)}'
            f"<figcaption>{html.escape(still.text)}</figcaption></div>"
            f'<script type="application/json" class="attn-live-start">{start}</script>'
            "</figure>"
        )

    def static_text(self) -> str:
        """Return the text of the start."""
        return self._still.text

    @cached_property
    def _still(self) -> Frame:
        return self.start_frame()


def live(
    name: str, draw: Draw, given: dict[str, Any] | None = None, /, **sliders: Slider
) -> LiveFigure:
    """Return a figure that computes with the reader's own numbers.

    Parameters
    ----------
    name : str
        The figure's script is ``book/assets/live/NAME.js``.
    draw : callable
        As `explore` takes it. It draws the still picture of the page, and every state in Jupyter.
    given : dict, optional
        Arguments of `draw` that have no slider: numbers, strings, arrays, lists, dictionaries.
    **sliders : Slider
        The values of each other argument of `draw`, for Jupyter. The still picture shows their
        start. The script gets what is given, each slider's start, and all values as `choices`.

    Returns
    -------
    LiveFigure
        Display it as the last line of a cell.

    Raises
    ------
    TypeError
        If a slider is not a `Slider`, `draw` does not return (figure, text), or an argument is
        none of the above.
    ValueError
        If `name` is not made of words in small letters and hyphens, or there is no slider.

    Examples
    --------
    >>> from attn_lib.figures.style import course_style, new_figure
    >>> def draw(angle, length):
    ...     with course_style():
    ...         return new_figure(height=1.0), f"{length} long, at {angle} degrees."
    >>> angle = Slider([0, 90, 180], "Angle", unit="°", start=90)
    >>> live("soft-lookup", draw, {"length": 2.0}, angle=angle).start
    {'length': 2.0, 'angle': 90}
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            "live: expected a name such as soft-lookup, of small letters and hyphens, "
            f"got {name!r}."
        )
    check_sliders("live", sliders)
    return LiveFigure(name, draw, given or {}, sliders)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(
        "live: expected numbers, strings, arrays, lists and dictionaries to start from, "
        f"got {type(value).__name__}; bind other arguments to the drawing with functools.partial."
    )
