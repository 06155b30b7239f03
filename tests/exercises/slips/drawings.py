"""Drawings with right numbers that nobody can read, and with wrong ones."""

from __future__ import annotations

from tests.exercises.proof.proof import Slip


def axes(
    after: str,
    told: str,
    cost: float = 1,
    x: str = "tokens",
    y: str = "operations",
) -> Slip:
    """Return a drawing of operations with these labels, and a line of code that follows."""
    answer = f"""
def draw_flops(lengths, d_model):
    fig, ax = plt.subplots()
    ax.loglog(lengths, 4 * lengths**2 * d_model, label="scores and mix")
    ax.loglog(lengths, 8 * lengths * d_model**2, label="projections")
    ax.set(xlabel="{x}", ylabel="{y}")
    {after}
    return ax
"""
    return Slip("drawing", answer, adds=True, cost={"drawing-tests": cost}, told=told)


def lines(products: str, projections: str, told: str, cost: float = 1) -> Slip:
    """Return a drawing of operations with these two lines."""
    answer = f"""
def draw_flops(lengths, d_model):
    fig, ax = plt.subplots()
    ax.loglog(lengths, {products}, label="scores and mix")
    ax.loglog(lengths, {projections}, label="projections")
    ax.set(xlabel="tokens", ylabel="operations")
    return ax
"""
    return Slip("drawing", answer, adds=True, cost={"drawing-tests": cost}, told=told)


def variances(
    after: str,
    told: str,
    cost: float = 1,
    labels: str = 'xlabel="width", ylabel="variance"',
    raw: str = "widths",
    by_root: str = "widths**0",
    by_width: str = "1 / widths",
) -> Slip:
    """Return a drawing of variances with a line of code that follows."""
    answer = f"""
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.loglog(widths, {raw}, label="raw")
    ax.loglog(widths, {by_root}, label="by sqrt(d_k)")
    ax.loglog(widths, {by_width}, label="by d_k")
    ax.set({labels})
    {after}
    return ax
"""
    return Slip("draw", answer, adds=True, cost={"draw-tests": cost}, told=told)


def head(body: str, told: str, cost: float = 2) -> Slip:
    """Return a drawing of the weights `W` of one head."""
    answer = f"""
def draw_head(x, w_q, w_k, n_heads, head):
    q, k = (split_heads(x @ w, n_heads)[head] for w in (w_q, w_k))
    W = softmax(q @ k.T / np.sqrt(q.shape[-1]))
    fig, ax = plt.subplots()
    ax.set(xlabel="key", ylabel="query")
    {body}
    return ax
"""
    return Slip("head", answer, adds=True, cost={"head-tests": cost}, told=told)


_PRODUCTS, _PROJECTIONS = "4 * lengths**2 * d_model", "8 * lengths * d_model**2"

COMPLEXITY = {
    "labels of the axes swapped": axes(
        "", "labels of its two axes are swapped", x="operations", y="tokens"
    ),
    "x axis named by its letter": axes("", "expected 'tokens' in the label of the x axis", x="n"),
    "y axis named by its letter": axes(
        "", "expected 'operations' in the label of the y axis", y="y"
    ),
    "limits beside the lines": axes("ax.set_xlim(1e6, 1e9)", "its x axis goes from"),
    "limits that cut the lines": axes("ax.set_ylim(top=1e8)", "its y axis goes from"),
    "limits far around the lines": axes("ax.set_xlim(1e-30, 1e30)", "choose limits that show it"),
    "limits of other lengths": axes("ax.set_xlim(2**7, 2**9)", "its x axis goes from"),
    "axes turned off": axes('ax.axis("off")', "both axes are turned off"),
    "y axis turned off": axes("ax.yaxis.set_visible(False)", "its y axis is turned off"),
    "a line twice": axes(
        'ax.loglog(lengths, lengths, label="projections")',
        "expected one line labelled 'projections', found 2",
    ),
    "a line for each length": axes(
        'for n in lengths: ax.plot([n], [4 * n**2 * d_model], "o", label="scores and mix")',
        "expected one line labelled 'scores and mix'",
    ),
    "bars for a line": axes(
        'ax.lines[0].remove(); ax.bar(lengths, 4 * lengths**2 * d_model, label="scores and mix")',
        "what is labelled 'scores and mix' is no line",
    ),
    "the same axes for all drawings": Slip(
        "drawing",
        """
the_axes = plt.figure().gca()
def draw_flops(lengths, d_model):
    the_axes.loglog(lengths, 4 * lengths**2 * d_model, label="scores and mix")
    the_axes.loglog(lengths, 8 * lengths * d_model**2, label="projections")
    the_axes.set(xlabel="tokens", ylabel="operations")
    return the_axes
""",
        adds=True,
        cost={"drawing-tests": 2},
        told="begin each drawing with axes of its own",
    ),
    "a line that cannot be seen": axes(
        "ax.lines[0].set_visible(False)", "labelled 'scores and mix' cannot be"
    ),
    "a line without ink": axes(
        'ax.lines[1].set_linestyle("none")', "labelled 'projections' cannot be seen"
    ),
    "a transparent line": axes("ax.lines[1].set_alpha(0)", "labelled 'projections' cannot be seen"),
    "a line in the colour of the paper": axes(
        'ax.lines[1].set_color("white")', "labelled 'projections' cannot be seen"
    ),
    "no ticks": axes(
        "ax.set(xticks=[], yticks=[]); ax.minorticks_off()", "its axes show no numbers"
    ),
    "no numbers at the ticks": axes(
        "ax.tick_params(labelleft=False)", "its y axis shows no numbers"
    ),
    "a label that is hidden": axes("ax.xaxis.label.set_visible(False)", "its x axis has no label"),
    "counted with one more addition": lines(
        f"{_PRODUCTS} + lengths * d_model", _PROJECTIONS, "line 'scores and mix', y"
    ),
    "biases counted too": lines(
        _PRODUCTS, f"{_PROJECTIONS} + 4 * lengths * d_model", "line 'projections', y"
    ),
    "without the first addition": lines(
        _PRODUCTS, f"{_PROJECTIONS} - 4 * lengths * d_model", "line 'projections', y"
    ),
    "in millions": lines(
        f"{_PRODUCTS} / 1e6", f"{_PROJECTIONS} / 1e6", "line 'projections', y", cost=2
    ),
    "rounded to two digits": lines(
        f'[float("%.1e" % n) for n in {_PRODUCTS}]', _PROJECTIONS, "line 'scores and mix', y"
    ),
}

VARIANCE = {
    "labels of the axes swapped": variances(
        "", "labels of its two axes are swapped", labels='xlabel="variance", ylabel="width"'
    ),
    "labels of other quantities": variances(
        "", "expected 'width' in the label of the x axis", labels='xlabel="n", ylabel="variance"'
    ),
    "limits that cut the lines": variances("ax.set_ylim(0.1, 10)", "its y axis goes from"),
    "limits far around the lines": variances(
        "ax.set_ylim(1e-60, 1e60)", "choose limits that show it"
    ),
    "axes turned off": variances("ax.set_axis_off()", "both axes are turned off"),
    "x axis turned off": variances("ax.get_xaxis().set_visible(False)", "its x axis is turned off"),
    "a line twice": variances(
        'ax.plot(widths, widths**0, label="by sqrt(d_k)")',
        "expected one line labelled 'by sqrt(d_k)', found 2",
    ),
    "a line without ink": variances(
        "ax.lines[0].set_linewidth(0)", "labelled 'raw' cannot be seen"
    ),
    "a line in the colour of the paper": variances(
        'ax.lines[2].set_color("w")', "labelled 'by d_k' cannot be seen"
    ),
    "no numbers at the ticks": variances(
        "ax.set_xticklabels([]); ax.set_yticklabels([])", "its axes show no numbers"
    ),
    "a label that is hidden": variances(
        "ax.yaxis.label.set_visible(False)", "its y axis has no label"
    ),
    "points for a line": variances(
        'ax.lines[0].remove(); ax.scatter(widths, widths, label="raw")',
        "what is labelled 'raw' is no line",
    ),
    "an area for a line": variances(
        'ax.lines[2].remove(); ax.fill_between(widths, 1 / widths, label="by d_k")',
        "what is labelled 'by d_k' is no line",
    ),
    "a level line of two ends": variances(
        'ax.lines[1].remove(); ax.axhline(1, label="by sqrt(d_k)")', "ax.axhline draws two ends"
    ),
    "logarithms on linear axes": variances(
        'ax.set(xscale="linear", yscale="linear")\n'
        "    for line in ax.lines: line.set_data(*np.log10(line.get_data()))\n"
        "    ax.relim(); ax.autoscale()",
        "These are logarithms.",
        cost=4,
    ),
    "a floor below the line": variances("", "line 'by d_k', y", by_width="1 / widths + 1e-6"),
    "labels of two lines exchanged": variances(
        "", "Are the labels exchanged?", cost=2, by_root="1 / widths", by_width="widths**0"
    ),
    "rounded to three decimals": variances(
        "", "line 'by d_k', y", by_width="(1 / widths).round(3)"
    ),
    "n - 1 in the denominator": variances("", "line 'by d_k', y", by_width="1 / (widths + 0.05)"),
}

TOGETHER = {
    "two images": head("ax.imshow(W); ax.imshow(W)", "expected one image, found 2"),
    "an image that cannot be seen": head(
        "ax.imshow(W).set_visible(False)", "its image cannot be seen"
    ),
    "only one corner shown": head(
        "ax.imshow(W); ax.set_xlim(-0.5, 0.5)", "its x axis goes from", cost=1
    ),
    "only the first query shown": head(
        "ax.imshow(W); ax.set_ylim(0.5, -0.5)", "its y axis goes from", cost=1
    ),
    "a small image": head(
        "ax.imshow(W); ax.set(xlim=(-100, 100), ylim=(100, -100))",
        "choose limits that show it",
        cost=1,
    ),
    "axes of the image turned off": head(
        'ax.imshow(W); ax.axis("off")', "both axes are turned off", cost=1
    ),
    "labels of the image swapped": head(
        'ax.imshow(W); ax.set(xlabel="query", ylabel="key")',
        "labels of its two axes are swapped",
        cost=1,
    ),
    "colours for numbers beyond 1": head(
        "ax.imshow(W, vmin=2, vmax=3)", "its image cannot be seen"
    ),
    "a transparent image": head("ax.imshow(W, alpha=0)", "its image cannot be seen"),
    "figure and axes returned": head(
        "ax.imshow(W)\n    return fig, ax", "got a tuple of 2: return one Axes alone"
    ),
    "weights in percent": head("ax.imshow(100 * W)", "draw_head, image on shapes"),
    "weights rounded to two decimals": head("ax.imshow(W.round(2))", "draw_head, image on shapes"),
    "weights stretched to 1": head("ax.imshow(W / W.max())", "draw_head, image"),
}

SLIPS = {
    "complexity": COMPLEXITY,
    "variance-growth": VARIANCE,
    "putting-it-together": TOGETHER,
}
