"""Execute every page again when attn_lib or the locked packages change.

The cache of executed pages compares only the code on the pages, so each state of the library
gets a separate cache. The cache's path is part of Sphinx's environment, so Sphinx also reads
every page again when it changes.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata


def library_hash(root: Path) -> str:
    """Return a hash of all code that the pages import, and of the data that it reads.

    Parameters
    ----------
    root : Path
        The folder that holds attn_lib and requirements.txt.

    Returns
    -------
    str
        Sixteen hexadecimal digits.
    """
    library = (path for path in root.glob("attn_lib/**/*") if path.is_file())
    files = [path for path in library if path.suffix != ".pyc"]
    digest = hashlib.sha256()
    for file in [*sorted(files), root / "requirements.txt"]:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _choose_cache(app: Sphinx, config: Config) -> None:
    cache = Path(app.outdir).parent / ".jupyter_cache" / library_hash(Path(app.srcdir))
    config.nb_execution_cache_path = str(cache)
    # attn_lib.figures.widgets reads this in the kernels, which inherit it.
    os.environ["ATTN_LIB_RENDER"] = "static"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.connect("config-inited", _choose_cache)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
