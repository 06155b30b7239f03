"""Where a notebook of the course's repository opens in a browser.

The configuration value ``repository_address`` is the repository's address on GitHub, such as
https://github.com/OWNER/NAME; without one there are no such links. ``repository_branch`` is the
branch whose notebooks they open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from sphinx.errors import ConfigError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def colab_address(repository: str, branch: str, path: str) -> str:
    """Return the address that opens a notebook in Google Colab.

    Examples
    --------
    >>> colab_address("https://github.com/ada/course", "main", "exercises/quiz/quiz.ipynb")
    'https://colab.research.google.com/github/ada/course/blob/main/exercises/quiz/quiz.ipynb'
    """
    name = _name(repository)
    return f"https://colab.research.google.com/github/{name}/blob/{quote(branch)}/{quote(path)}"


def binder_address(repository: str, branch: str, path: str) -> str:
    """Return the address that opens a notebook in JupyterLab on Binder.

    Examples
    --------
    >>> binder_address("https://github.com/ada/course", "main", "exercises/quiz/quiz.ipynb")
    'https://mybinder.org/v2/gh/ada/course/main?urlpath=lab/tree/exercises/quiz/quiz.ipynb'
    """
    return (
        f"https://mybinder.org/v2/gh/{_name(repository)}/{quote(branch, safe='')}"
        f"?urlpath=lab/tree/{quote(path)}"
    )


def _name(repository: str) -> str:
    found = GITHUB.fullmatch(repository)
    if found is None:
        raise ConfigError(
            "repository_address in _config.yml: expected an address such as "
            f"https://github.com/OWNER/NAME, or an empty one for no links, got {repository!r}."
        )
    return found[1]


def _check(app: Sphinx, config: Config) -> None:
    if config.repository_address:
        _name(config.repository_address)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("repository_address", "", "env", [str])
    app.add_config_value("repository_branch", "main", "env", [str])
    app.connect("config-inited", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
