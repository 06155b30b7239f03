import base64
import html
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from attn_lib.figures.style import FACE, QUERY, WIDTH, bare, course_style, new_figure
from attn_lib.figures.widgets import MAX_FRAMES, Slider, explore, picture


def grey(shade, tint=0.0):
    """Draw a figure of one colour, so that a frame can be identified by its pixels."""
    with course_style():
        figure = new_figure(height=0.5)
        figure.set_facecolor((shade, shade, tint))
        figure.patch.set_alpha(1.0)
    return figure, f"Shade {shade} & tint {tint}."


@pytest.fixture
def explorer():
    return explore(
        grey,
        shade=Slider([0.0, 0.5, 1.0], "Shade", start=0.5),
        tint=Slider([0.0, 1.0], "Tint <b>", unit=" %"),
    )


def pixel(data_uri):
    image = Image.open(io.BytesIO(base64.b64decode(data_uri.split(",")[1]))).convert("RGB")
    return image.size, image.getpixel((image.width // 2, image.height // 2))


def frames_of(page):
    script = re.search(r'class="attn-explore-frames">(.*?)</script>', page, re.S).group(1)
    return json.loads(script)


def test_a_static_page_holds_every_state_in_row_major_order(explorer, monkeypatch):
    monkeypatch.setenv("ATTN_LIB_RENDER", "static")
    page = explorer._repr_mimebundle_()["text/html"]
    frames = frames_of(page)
    states = [(shade, tint) for shade in (0.0, 0.5, 1.0) for tint in (0.0, 1.0)]
    assert [f["text"] for f in frames] == [f"Shade {s} & tint {t}." for s, t in states]
    # The image of the start is embedded in the page once.
    start = re.search(r'<img class="attn-explore-frame"[^>]* src="(.*?)"', page).group(1)
    assert [state for f, state in zip(frames, states, strict=True) if "src" not in f] == [
        (0.5, 0.0)
    ]
    for frame, (shade, tint) in zip(frames, states, strict=True):
        size, colour = pixel(frame.get("src", start))
        assert size == (round(WIDTH * 192), 96)
        np.testing.assert_allclose(colour, np.round(np.array([shade, shade, tint]) * 255), atol=1)


def test_a_static_page_shows_the_start_of_the_sliders(explorer):
    page = explorer.static_html()
    alt = html.unescape(re.search(r'<img class="attn-explore-frame" alt="(.*?)"', page).group(1))
    assert alt == "Shade 0.5 & tint 0.0."
    first = re.search(r"<input.*?>", page).group()
    assert 'min="0" max="2" step="1" value="1" aria-valuetext="0.5"' in first
    assert "stays at Shade 0.5, Tint &lt;b&gt; 0 %" in page


def test_text_is_escaped_in_the_page():
    def draw(x):
        return grey(0.5)[0], f"</script><b>{x}"

    page = explore(draw, x=Slider([1, 2], "x")).static_html()
    assert page.count("</script>") == 1
    assert "<b>" not in page
    assert frames_of(page)[1]["text"] == "</script><b>2"


def test_two_figures_on_a_page_have_different_ids(explorer):
    ids = re.findall(r'id="(.*?)"', explorer.static_html() + explorer.static_html())
    assert len(ids) == len(set(ids)) == 6


def test_live_sliders_redraw(explorer, monkeypatch):
    monkeypatch.delenv("ATTN_LIB_RENDER", raising=False)
    box = explorer.live()
    shade, _, image, text = box.children
    before = image.value
    shade.index = 2
    assert text.value == "Shade 1.0 &amp; tint 0.0."
    assert image.value != before
    assert Image.open(io.BytesIO(image.value)).convert("RGB").getpixel((9, 9)) == (255, 255, 0)
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()


def test_a_picture_has_alternative_text_and_a_caption():
    shown = picture(grey(0.5)[0], 'A "grey" figure.', caption="Grey < white.")._repr_html_()
    assert 'alt="A &quot;grey&quot; figure."' in shown
    assert "<figcaption>Grey &lt; white.</figcaption>" in shown
    assert f'width="{round(WIDTH * 96)}" height="48"' in shown


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: explore(grey), ValueError, "at least one slider"),
        (lambda: explore(grey, shade=[0.0, 1.0]), TypeError, "shade to be a Slider"),
        (
            lambda: explore(grey, shade=Slider(range(MAX_FRAMES + 1), "Shade")),
            ValueError,
            f"at most {MAX_FRAMES} states, got {MAX_FRAMES + 1}",
        ),
        (lambda: Slider([1], "Shade"), ValueError, "at least two values, got 1"),
        (lambda: Slider([1, 2], "Shade", start=3), ValueError, "got 3"),
        (
            lambda: explore(lambda x: grey(0.5)[0], x=Slider([1, 2], "x")).static_html(),
            TypeError,
            r"return \(figure, text\)",
        ),
        (lambda: picture("figure", "text"), TypeError, "matplotlib Figure, got str"),
        (lambda: picture(grey(0.5)[0], " "), ValueError, "got an empty one"),
        (lambda: new_figure(height=0), ValueError, "positive inches"),
    ],
)
def test_misuse_is_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_symbols_in_labels_are_drawn_as_formulas():
    with course_style():
        figure = new_figure(height=1.5)
        axes = figure.add_subplot()
        axes.set_title("score ÷ √d_k")
        axes.set_yticks([0, 1], ["W_Q", "attn_lib"])
    picture(figure, "Scores divided by √d_k.")._repr_html_()
    assert axes.get_title() == r"score ÷ $\sqrt{d_k}$"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$W_Q$", "attn_lib"]


def test_a_picture_on_a_page_has_few_colours_and_exact_ones_where_they_are_plain():
    with course_style():
        figure = new_figure(height=1.0)
        axes = bare(figure.add_subplot())
        axes.axhspan(0.5, 1.0, color=QUERY)
        for i in range(500):
            axes.axvspan(i / 500, (i + 1) / 500, ymax=0.2, color=(i / 500, 0.5, 1 - i / 500))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
    html = picture(figure, "Many colours.")._repr_html_()
    file = io.BytesIO(base64.b64decode(re.search(r"base64,([^\"]*)", html)[1]))
    pixels = np.asarray(Image.open(file).convert("RGB"))
    assert 100 < len(np.unique(pixels.reshape(-1, 3), axis=0)) <= 128
    middle = pixels.shape[1] // 2
    assert "#{:02X}{:02X}{:02X}".format(*pixels[20, middle]) == QUERY
    assert "#{:02X}{:02X}{:02X}".format(*pixels[120, middle]) == FACE
    # The wanted colour is 0.5 in all channels.
    np.testing.assert_allclose(pixels[-16, middle], 127, atol=6)
