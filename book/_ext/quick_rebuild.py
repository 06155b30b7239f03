"""Make a rebuild after a small change faster, with the same result.

A build makes millions of small objects that live until its end, so frequent garbage collection
finds nothing to free. The theme's compiled templates are kept from build to build.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import FileSystemBytecodeCache

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

# New objects before the next garbage collection; Python's default is 700.
SELDOM = 200_000


def _keep_compiled_templates(app: Sphinx) -> None:
    if app.builder.format != "html":
        return
    folder = Path(app.outdir).parent / ".jinja_cache"
    folder.mkdir(parents=True, exist_ok=True)
    app.builder.templates.environment.bytecode_cache = FileSystemBytecodeCache(str(folder))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    gc.freeze()
    gc.set_threshold(SELDOM)
    app.connect("builder-inited", _keep_compiled_templates)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
