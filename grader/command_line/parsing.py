"""A parser of commands that says what may have been meant by a misspelt word."""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import platform
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

#: The packages that ``--version`` names: the course itself, and what decides on scores.
PACKAGES = ("attn_lib", "nbgrader", "numpy")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors name the option that may have been meant."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401 (argparse's own)
        self.option_names: set[str] = set()
        super().__init__(*arguments, **settings)
        self.set_defaults(parser=self)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:  # noqa: ANN401
        """Add an argument, and keep the names of options for `parse_args`."""
        action = super().add_argument(*names, **settings)
        self.option_names.update(action.option_strings)
        return action

    def parse_args(  # type: ignore[override]  # argparse has overloads for its namespace
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> argparse.Namespace:
        """Return the options; of words that are left over, say what may have been meant."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            options.parser.reject(unknown)
        return options

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Say of a value that is none of the choices which may have been meant."""
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(
                action,
                f"expected one of {', '.join(known)}, got {value!r}{meant(str(value), known)}",
            )

    def reject(self, unknown: Sequence[str]) -> NoReturn:
        """End with status 2, and name the words that this command does not know."""
        guesses = [meant(word.partition("=")[0], self.option_names) for word in unknown]
        self.error("unrecognized arguments: " + " ".join(unknown) + "".join(guesses))


class Version(argparse.Action):
    """Prints the versions of the course and of what decides on scores."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print them and end with status 0."""
        versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
        print(", ".join([*versions, f"Python {platform.python_version()}"]))
        sys.exit(0)


def meant(word: str, known: Iterable[str]) -> str:
    """Return a question with the known word that is most like this one, or "".

    Examples
    --------
    >>> meant("--forse", ["--force", "--student"]), meant("--x", ["--force"])
    ('. Did you mean --force?', '')
    """
    close = difflib.get_close_matches(word, list(known), n=1)
    return f". Did you mean {close[0]}?" if close else ""
