"""Print a few lines on what `make course` has made and what to do with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def report(root: Path, class_figures: dict[str, Any] | None) -> list[str]:
    """Return the lines; `class_figures` is what _class/summary.json holds, None without it."""
    feedback = (root / "_class" / "feedback").as_uri()
    of_class = ["Sample:     not graded; `.venv/bin/python -m grader doctor` says what is missing"]
    if class_figures is not None:
        grades = Path(class_figures["grades"]).name
        of_class = [
            f"Sample:     {class_sentence(class_figures)}; all in _class/{grades}",
            f"Feedback:   {feedback}/",
        ]
    return [
        f"Book:       {(root / '_build' / 'html' / 'index.html').as_uri()}",
        "Exercises:  `make lab` opens them in JupyterLab",
        *of_class,
        "Next:       read Orientation and Dot products, then do dot-products with `make lab`",
    ]


def class_sentence(figures: dict[str, Any]) -> str:
    """Return a summary of the sample class's results, without a full stop."""
    parts = [
        f"{figures['graded']} submissions graded",
        f"{figures['full_marks']} lost no point",
        f"mean {figures['mean']:g} of {figures['points']:g} points",
    ]
    if figures["to_read"]:
        plural = "" if figures["to_read"] == 1 else "s"
        parts.append(f"{figures['to_read']} written answer{plural} to read")
    if figures["failed"]:
        parts.append(f"{figures['failed']} could not be graded")
    return ", ".join(parts)


def main() -> int:
    summary = ROOT / "_class" / "summary.json"
    print()
    figures = json.loads(summary.read_text(encoding="utf-8")) if summary.exists() else None
    print(*report(ROOT, figures), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
