"""What stands on the title page of an edition: from _config.yml, and the version of attn_lib."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import yaml

#: What readers who know the course as pages, or see "drag" in its text, should know.
STILL = (
    "Figures that move in a browser stand still here, as they start. The answers to the "
    "questions are at the end."
)


@dataclass(frozen=True)
class Texts:
    """Title, authors, version and licence of the course."""

    title: str
    author: str
    version: str
    copyright: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines below the title."""
        return self.author, f"Version {self.version}", f"© {self.copyright}", STILL


def read_texts(root: Path) -> Texts:
    """Read the texts from the course's folder."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Texts(config["title"], config["author"], project["version"], config["copyright"])
