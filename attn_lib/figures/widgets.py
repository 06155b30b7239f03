"""Interactive figures, for live Jupyter and for static pages.

`explore` takes a function that draws one figure for one state. In a live notebook it shows
ipywidgets and draws on demand. On the book's pages, where no kernel runs, it draws every
state once and shows them as frames behind native HTML sliders; ``book/assets/explore.js``
moves between them. Each state also has its text, for those who do not see the picture.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from attn_lib.figures.style import set_symbols

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.figure import Figure

#: More frames than this would exceed the page budget of 1.2 MB.
MAX_FRAMES = 120

_CSS_PIXELS_PER_INCH = 96
_DEVICE_PIXELS_PER_CSS_PIXEL = 2
#: Colours of a picture on a page.
_COLOURS = 128

_ids = itertools.count(1)

Draw = Callable[..., "tuple[Figure, str]"]


@dataclass(frozen=True)
class Slider:
    """The values that one argument of a drawing takes, and how the slider shows them.

    Parameters
    ----------
    values : sequence
        At least two values, in the order of the slider.
    label : str
        The label of the slider.
    unit : str
        Shown after the value.
    start : object, optional
        The initial value. Default: the first.
    names : sequence of str, optional
        What to show for each value. Default: the values themselves.

    Raises
    ------
    ValueError
        If there are fewer than two values, `start` is not one of them, or the number of names
        differs from that of the values.
    """

    values: Sequence[Any]
    label: str
    unit: str = ""
    start: Any = None
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if len(self.values) < 2:
            raise ValueError(
                f"Slider {self.label!r}: expected at least two values, got {len(self.values)}."
            )
        if self.start is not None and self.start not in self.values:
            raise ValueError(
                f"Slider {self.label!r}: expected start to be one of the values, "
                f"got {self.start!r}."
            )
        if self.names and len(self.names) != len(self.values):
            raise ValueError(
                f"Slider {self.label!r}: expected {len(self.values)} names, one for each value, "
                f"got {len(self.names)}."
            )

    @property
    def start_index(self) -> int:
        """Index of the initial value."""
        return 0 if self.start is None else self.values.index(self.start)

    @property
    def texts(self) -> list[str]:
        """The values as the slider shows them."""
        return [f"{name}{self.unit}" for name in self.names or map(_text, self.values)]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    number = f"{value:.3g}" if isinstance(value, float) else str(value)
    return number.replace("-", "−")


class Picture:
    """A figure with a text that describes it."""

    def __init__(self, figure: Figure, text: str, caption: str = "") -> None:
        self.figure, self.text, self.caption = _checked(figure, text), text, caption

    def _repr_html_(self) -> str:
        caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
        img = _draw(self.figure, self.text, "webp").img("attn-picture-frame")
        return f'<figure class="attn-picture">{img}{caption}</figure>'


def picture(figure: Figure, text: str, caption: str = "") -> Picture:
    """Show `figure` with `text` as its alternative text.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    text : str
        What the picture shows, including its numbers, in one or two sentences.
    caption : str
        Shown under the picture.

    Returns
    -------
    Picture
        Display it as the last line of a cell.

    Raises
    ------
    TypeError
        If `figure` is not a matplotlib figure.
    ValueError
        If `text` is empty.

    Examples
    --------
    >>> from attn_lib.figures.style import course_style, new_figure
    >>> with course_style():
    ...     shown = picture(new_figure(height=1.0), "An empty figure.")
    >>> 'alt="An empty figure."' in shown._repr_html_()
    True
    """
    return Picture(figure, text, caption)


class Explorer:
    """A drawing and its sliders, as `explore` returns them, displayed live or as static HTML."""

    def __init__(self, draw: Draw, sliders: dict[str, Slider]) -> None:
        self.draw, self.sliders = draw, sliders

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        if _is_live():
            return self.live()._repr_mimebundle_(include=include, exclude=exclude)
        return {"text/html": self.static_html(), "text/plain": self.static_text()}

    def live(self) -> VBox:
        """Return the ipywidgets for this drawing; needs ipywidgets and a running kernel."""
        import ipywidgets

        controls = {
            name: ipywidgets.SelectionSlider(
                options=[(text, i) for i, text in enumerate(slider.texts)],
                index=slider.start_index,
                description=slider.label,
                continuous_update=True,
                style={"description_width": "initial"},
                layout={"width": "min(32rem, 100%)"},
            )
            for name, slider in self.sliders.items()
        }
        start = self.start_frame("png")
        image = ipywidgets.Image(value=start.image, format="png")
        image.layout.width = f"{start.width}px"
        image.layout.max_width = "100%"
        caption = ipywidgets.HTML(html.escape(start.text))

        def redraw(_: object) -> None:
            state = {n: self.sliders[n].values[c.value] for n, c in controls.items()}
            frame = self._frame(state, "png")
            image.value = frame.image
            caption.value = html.escape(frame.text)

        for control in controls.values():
            control.observe(redraw, names="value")
        return ipywidgets.VBox([*controls.values(), image, caption])

    def static_html(self) -> str:
        """Return a self-contained HTML figure that contains every state as an image."""
        return self._page(self._frames)

    def static_text(self) -> str:
        """Return the text of the start."""
        return self._frames[self._start_frame].text

    def start_frame(self, file_format: str = "webp") -> Frame:
        """Return the drawing of the start."""
        return self._frame(self.start_state, file_format)

    @property
    def start_state(self) -> dict[str, Any]:
        """The initial value of each slider."""
        return {name: s.values[s.start_index] for name, s in self.sliders.items()}

    @cached_property
    def _frames(self) -> list[Frame]:
        states = itertools.product(*(slider.values for slider in self.sliders.values()))
        return [
            self._frame(dict(zip(self.sliders, state, strict=True)), "webp") for state in states
        ]

    @property
    def _start_frame(self) -> int:
        position = 0
        for slider in self.sliders.values():
            position = position * len(slider.values) + slider.start_index
        return position

    def _page(self, frames: list[Frame]) -> str:
        figure_id = f"explore-{next(_ids)}"
        start = frames[self._start_frame]
        controls = "".join(
            _control(f"{figure_id}-{name}", slider) for name, slider in self.sliders.items()
        )
        start_state = ", ".join(
            f"{s.label} {s.texts[s.start_index]}" for s in self.sliders.values()
        )
        # The initial image is in the HTML already, so its frame needs only the text.
        data = [
            {"text": frame.text} | ({} if frame is start else {"src": frame.uri})
            for frame in frames
        ]
        # An unescaped "<" could end the script element; JSON decodes the escape to the same.
        script = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        return (
            f'<figure class="attn-explore" id="{figure_id}">'
            f'<div class="attn-explore-controls" hidden>{controls}</div>'
            f"{start.img('attn-explore-frame', has_caption=True)}"
            f'<figcaption class="attn-explore-text" aria-live="polite">'
            f"{html.escape(start.text)}</figcaption>"
            f"<noscript><p>Without JavaScript this figure stays at {html.escape(start_state)}.</p>"
            "</noscript>"
            f'<script type="application/json" class="attn-explore-frames">{script}</script>'
            "</figure>"
        )

    def _frame(self, state: dict[str, Any], file_format: str) -> Frame:
        drawn = self.draw(**state)
        if not (isinstance(drawn, tuple) and len(drawn) == 2):
            raise TypeError(
                "explore: expected draw to return (figure, text), "
                f"got {type(drawn).__name__}; return the figure and a sentence on what it shows."
            )
        return _draw(*drawn, file_format)


def explore(draw: Draw, **sliders: Slider) -> Explorer:
    """Return a figure with a slider for each keyword.

    Parameters
    ----------
    draw : callable
        Called with one value for each slider, by keyword. Returns a matplotlib figure and
        a sentence that describes this state, including its numbers.
    **sliders : Slider
        The values each argument takes.

    Returns
    -------
    Explorer
        Display it as the last line of a cell.

    Raises
    ------
    TypeError
        If a slider is not a `Slider`, or `draw` does not return (figure, text).
    ValueError
        If there is no slider, or if the sliders have more than `MAX_FRAMES` combinations.

    Examples
    --------
    >>> from attn_lib.figures.style import course_style, new_figure
    >>> def draw(angle):
    ...     with course_style():
    ...         return new_figure(height=1.0), f"An angle of {angle} degrees."
    >>> shown = explore(draw, angle=Slider([0, 90, 180], "Angle", unit="°", start=90))
    >>> shown.static_html().count("An angle of 180 degrees.")
    1
    """
    check_sliders("explore", sliders)
    frames = 1
    for slider in sliders.values():
        frames *= len(slider.values)
    if frames > MAX_FRAMES:
        raise ValueError(
            f"explore: expected at most {MAX_FRAMES} states, got {frames}; give fewer values."
        )
    return Explorer(draw, sliders)


def check_sliders(function: str, sliders: dict[str, Slider]) -> None:
    """Raise an error in the name of `function` if there is no slider, or something else."""
    if not sliders:
        raise ValueError(
            f"{function}: expected at least one slider; for a still figure use picture."
        )
    for name, slider in sliders.items():
        if not isinstance(slider, Slider):
            raise TypeError(f"{function}: expected {name} to be a Slider, got {slider!r}.")


def _is_live() -> bool:
    if os.environ.get("ATTN_LIB_RENDER") == "static":
        return False
    try:
        import ipywidgets  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _checked(figure: object, text: str) -> Figure:
    from matplotlib.figure import Figure

    if not isinstance(figure, Figure):
        raise TypeError(f"expected a matplotlib Figure, got {type(figure).__name__}.")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("expected a text that says what the figure shows, got an empty one.")
    return figure


def _control(control_id: str, slider: Slider) -> str:
    texts, start = slider.texts, slider.start_index
    return (
        f'<div class="attn-explore-control"><label for="{control_id}">'
        f"{html.escape(slider.label)}</label>"
        f'<input type="range" id="{control_id}" min="0" max="{len(texts) - 1}" step="1" '
        f'value="{start}" aria-valuetext="{html.escape(texts[start])}" '
        f"data-values='{html.escape(json.dumps(texts, ensure_ascii=False))}'>"
        f'<output for="{control_id}" aria-live="off">{html.escape(texts[start])}</output></div>'
    )


@dataclass(frozen=True)
class Frame:
    """A drawn figure: the image file, its displayed size in CSS pixels, and its text."""

    image: bytes
    width: int
    height: int
    text: str

    @property
    def uri(self) -> str:
        """The image as an address that contains it."""
        return f"data:image/webp;base64,{base64.b64encode(self.image).decode()}"

    def img(self, css_class: str, *, has_caption: bool = False) -> str:
        """Return the HTML element, with the text as its alternative.

        Parameters
        ----------
        css_class : str
            The element's class.
        has_caption : bool
            Whether the text stands below the picture too. Then screen readers read it there alone.
        """
        hidden = ' aria-hidden="true"' if has_caption else ""
        return (
            f'<img class="{css_class}" alt="{html.escape(self.text)}" src="{self.uri}" '
            f'width="{self.width}" height="{self.height}"{hidden}>'
        )


def _draw(figure: Figure, text: str, file_format: str) -> Frame:
    """Draw a figure at the resolution of high-density screens."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    _checked(figure, text)
    set_symbols(figure)
    width, height = figure.get_size_inches() * _CSS_PIXELS_PER_INCH
    canvas, dpi = figure.canvas, figure.dpi
    # `savefig` would compute the layout twice, which takes as long as drawing.
    drawn = FigureCanvasAgg(figure)
    figure.dpi = _CSS_PIXELS_PER_INCH * _DEVICE_PIXELS_PER_CSS_PIXEL
    drawn.draw()
    pixels = Image.fromarray(np.asarray(drawn.buffer_rgba())).convert("RGB")
    figure.dpi = dpi
    figure.set_canvas(canvas)

    buffer = io.BytesIO()
    options: dict[str, Any] = {}
    if file_format == "webp":
        # Hundreds of colours that only the edges of letters have are a quarter of a file.
        reduced = pixels.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        pixels = reduced.convert("RGB")
        options = {"lossless": True, "quality": 60, "method": 2}
    pixels.save(buffer, file_format, **options)
    return Frame(buffer.getvalue(), round(width), round(height), text)
