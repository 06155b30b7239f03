"""Carry out a command for several assignments, and print what it found as text or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from grader import course
from grader.command_line import actions, output

Action = Callable[[argparse.Namespace], int]


def each(
    action: Action, at_end: Callable[[argparse.Namespace], dict[str, Any]] | None = None
) -> Action:
    """Return an action that carries out another one for each assignment that was named.

    Its exit status is the highest one. An assignment that nobody has handed in, or that is not
    graded, does not keep the command from the others; with ``--all`` it is left out.

    Parameters
    ----------
    action : callable
        Takes the options of the command for one ``assignment``. Where ``options.data`` is a list,
        it adds what it found to that and prints nothing. ``options.shared`` is a dictionary for
        what it need not compute again for the next assignment.
    at_end : callable, optional
        Called once if anything was done, after all assignments. It returns what it adds to the JSON
        document, and prints nothing if that is asked for.
    """

    def for_each(options: argparse.Namespace) -> int:
        names = _named(options)
        options.data = [] if options.json else None
        options.shared = {}
        statuses: list[int] = []
        for name in names:
            if len(names) > 1 and not options.json:
                output.say(f"{chr(10) * bool(statuses)}{name}\n{'=' * len(name)}")
            try:
                statuses.append(action(argparse.Namespace(**vars(options) | {"assignment": name})))
            except (actions.NothingSubmitted, actions.NothingGraded) as problem:
                output.say(problem, error=True)
                statuses.append(actions.NOT_DONE)
        more = at_end(options) if at_end and min(statuses) != actions.NOT_DONE else {}
        if options.json and options.data:
            output.print_json(max(statuses), assignments=options.data, **more)
        return max(statuses)

    return for_each


def _named(options: argparse.Namespace) -> Sequence[str]:
    """Return the assignments that the options name, each once."""
    if bool(options.assignments) == options.all:
        options.parser.error("expected names of assignments, or else --all")
    names = list(dict.fromkeys(options.assignments))
    if options.all:
        has_work = actions.with_submissions if "submitted" in options else actions.with_results
        found = has_work(options)
        names = [name for name in course.assignments() if name in found]
    if len(names) > 1 and getattr(options, "output", None):
        options.parser.error("--output names one file, so it goes with one assignment")
    return names
