"""Give each page the scripts and styles of its live figures, and no other page any of them.

`attn_lib.figures.live` marks a figure with its name. Its script stands in book/assets/live/ beside
those that all live figures share. The weights of the trained model are written when the book is
built, from the same file that `attn_lib.model.trained_model` reads.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from docutils import nodes
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from attn_lib.model.transformer import Transformer

logger = logging.getLogger(__name__)

FIGURE = re.compile(r'<figure class="attn-live"[^>]* data-live="([^"]*)"')
PREDICTION = '<form class="attn-predict"'
SCRIPTS = Path(__file__).resolve().parents[1] / "assets" / "live"
#: The scripts that every live figure needs.
SHARED = ("mathematics", "kit")
WEIGHTS = "trained-model"
STYLES = "live.css"
#: The kinds of words that figures of the model tell apart, by their names in `language`.
KINDS = (
    *("NAMES", "DRINKS", "SINGULAR_NOUNS", "PLURAL_NOUNS"),
    *("SINGULAR_VERBS", "PLURAL_VERBS", "PREPOSITIONS"),
)


def scripts_of(body: str) -> list[str]:
    """Return the names of the scripts that a page needs, in the order to load them.

    Examples
    --------
    >>> scripts_of('<figure class="attn-live" id="a" data-live="soft-lookup">')
    ['mathematics', 'kit', 'soft-lookup']
    >>> scripts_of('<form class="attn-predict">')
    ['kit', 'predict']
    >>> scripts_of("<p>No figure.</p>")
    []
    """
    figures = list(dict.fromkeys(FIGURE.findall(body)))
    shared = [*SHARED] if figures else []
    predictions = ["kit", "predict"] if PREDICTION in body else []
    return list(dict.fromkeys([*shared, *predictions, *figures]))


def weights_script(model: Transformer) -> str:
    """Return the script that defines the trained model's weights, as model.js reads them."""
    from attn_lib.model import WORDS, language

    shapes = [[name, *array.shape, 0][:3] for name, array in model.parameters.items()]
    numbers = np.concatenate([array.ravel() for array in model.parameters.values()])
    contents: dict[str, Any] = {
        "config": model.config._asdict(),
        "words": WORDS,
        "kinds": {kind.lower(): getattr(language, kind) for kind in KINDS},
        "shapes": shapes,
        "base64": base64.b64encode(numbers.astype("<f4").tobytes()).decode(),
    }
    return f'"use strict";\n\nconst trainedModel = model.read({json.dumps(contents)});\n'


def _add_scripts(
    app: Sphinx,
    page: str,
    template: str,
    context: Mapping[str, Any],
    doctree: nodes.document | None,
) -> None:
    names = scripts_of(str(context.get("body", "")))
    if names:
        app.add_css_file(STYLES)
    for name in names:
        if not (SCRIPTS / f"{name}.js").is_file():
            logger.warning(
                "no script for the live figure %r: expected book/assets/live/%s.js",
                name,
                name,
                location=page,
                type="live_figures",
            )
            continue
        app.add_js_file(f"live/{name}.js", loading_method="defer")


def _write_weights(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    from attn_lib.model import trained_model

    path = Path(app.outdir) / "_static" / "live" / f"{WEIGHTS}.js"
    path.write_text(weights_script(trained_model()), encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("html-page-context", _add_scripts)
    app.connect("build-finished", _write_weights)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
