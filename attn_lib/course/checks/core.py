"""The checks of one test cell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_lib.course.checks.comparison import (
    MAX_SHOWN_TEXT,
    as_numbers,
    difference,
    form_problem,
    nonzero_problem,
    result_of,
    tolerance_for,
)
from attn_lib.course.checks.diagnosis import Question
from attn_lib.course.checks.drawings import (
    Curve,
    Drawing,
    Image,
    Line,
    empty_problem,
    find_curve,
    images_problem,
    label_problem,
    not_axes,
    scale_problem,
    visible_problem,
    x_hint,
)
from attn_lib.course.checks.findings import (
    ChecksFailed,
    Finding,
    Part,
    blocks,
    shortened,
)
from attn_lib.course.checks.hints import form_hint
from attn_lib.course.checks.ledger import About, Ledger
from attn_lib.course.checks.observation import shapes_of
from attn_lib.course.checks.surroundings import Surroundings
from attn_lib.course.checks.terminal import say
from attn_lib.course.checks.typed import After
from attn_lib.course.jupyter import front_end
from attn_lib.course.jupyter.looked_at import tell_validator
from attn_lib.course.jupyter.not_run import changed_since_run
from attn_lib.course.jupyter.showing import show
from attn_lib.course.personal import misreadings
from attn_lib.course.personal.handed_out import check_known
from attn_lib.course.personal.ids import checked_id
from attn_lib.course.targets import TARGETS

#: How many standard errors an estimate may be off: right work fails once in two million.
STANDARD_ERRORS = 5

#: The environment variable from which the hidden inputs of a submission are seeded.
SEED = "ATTN_LIB_CHECKS_SEED"


class Checks:
    """The checks of one test cell.

    Parameters
    ----------
    names : mapping
        The learner's work by name: ``globals()`` in a test cell.

    Examples
    --------
    >>> check = Checks({"score_matrix": lambda q, k: q @ k.T, "range_of": 8, "meaning": "b"})
    >>> check.part("raw scores", points=2)
    >>> check.call("score_matrix", np.eye(2), np.ones((3, 2)), target="score_matrix")
    >>> check.part("their range", points=1)
    >>> check.value("range_of", target="score_range", args=(64,))
    >>> check.choice("meaning", "ABC", right="A", because={"B": "B is one standard deviation."})
    >>> check.finish()
    Traceback (most recent call last):
        ...
    attn_lib.course.checks.findings.ChecksFailed: raw scores: ok, worth 2 points
    their range: not yet
      - range_of: expected 16, got 8.
        Likely cause: It takes one standard deviation, within which only about 68 %
        lie; for 95 % take two. (range-of-one-sd; see the book,
        variance-growth#how-far-scores-range)
      - meaning: "B" is not right. B is one standard deviation.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._ledger = Ledger(names, Surroundings(names, sys._getframe(1)))
        self._obstacle: Finding | None = None
        self._malformed: set[str] = set()  # names whose `form` failed in the current part

    @property
    def parts(self) -> list[Part]:
        """The parts opened so far, with their findings."""
        self._ledger.name_causes()
        return self._ledger.parts

    def learner_id(self) -> str:
        """Return the learner's id from the name ``learner_id``.

        If it is missing or not a valid id, every part of the cell fails with a message that
        says so. The cell can go on, with the id "nobody".
        """
        if "learner_id" not in self._ledger.names:
            problem = (
                "not there yet. Put your id into its cell near the top, in quotes, "
                "and run the cell."
            )
        else:
            try:
                learner_id = checked_id(self._ledger.names["learner_id"])
                check_known(learner_id)
                return learner_id
            except (TypeError, ValueError) as error:
                problem = str(error).removeprefix("learner_id: ")
        self._obstacle = Finding("learner_id", problem)
        return "nobody"

    def rng(self, number: int) -> np.random.Generator:
        """Return a random generator for a cell's inputs.

        Parameters
        ----------
        number : int
            A different one in each cell, so that no two cells get the same inputs. The judge
            adds the seed of the submission.
        """
        seed = os.environ.get(SEED)
        return np.random.default_rng(number if seed is None else [number, int(seed)])

    def part(self, title: str, points: float) -> None:
        """Open a part; the checks that follow belong to it.

        Parameters
        ----------
        title : str
            The name of the part in what the learner is shown.
        points : float
            The points it earns when all its checks pass.
        """
        self._malformed.clear()
        found = [self._obstacle] if self._obstacle else []
        self._ledger.parts.append(Part(title, points, found))

    def call(
        self,
        name: str,
        *args: object,
        target: str | None = None,
        expected: ArrayLike | None = None,
        within: float | None = None,
        zeros: bool = False,
    ) -> None:
        """Check what the learner's function returns for `args`.

        What the function prints on stderr, warnings included, is dropped: a warning is not a
        failure.

        Parameters
        ----------
        name : str
            The function's name.
        *args
            Its arguments. The function gets copies; if it changes them, the check fails.
        target : str, optional
            The key in `attn_lib.course.targets.TARGETS` of the function that gives the right
            result. If a catalogued mistake of this target explains a wrong answer, the
            message names it.
        expected : array_like, optional
            The right result. Default: what the target returns for `args`.
        within : float, optional
            The largest accepted difference of entries near 0, where the sizes of the arguments
            and not those of the result say how exact it can be.
        zeros : bool
            Whether what is 0 in the result of the target has to be exactly 0.
        """
        self._ledger.ask("call", name, args, target=target)
        got = self._ledger.call(name, args)
        if got is None:
            return
        about = About(given=shapes_of(args), arose=got.arose)
        self._ledger.compare(
            name, got.returned, target, args, expected, about=about, absolute=within
        )
        if zeros and self._ledger.parts[-1].findings[-1].passed:
            right = result_of(TARGETS[str(target)], args, None)
            self._ledger.note(name, nonzero_problem(got.returned, right), given=about.given)

    def value(
        self,
        name: str,
        *,
        target: str | None = None,
        args: Sequence[Any] = (),
        row: int | None = None,
        expected: ArrayLike | None = None,
        decimals: int | None = None,
        within: float | None = None,
        after: After | None = None,
    ) -> None:
        """Check a value the learner computed or typed in.

        Parameters
        ----------
        name : str
            The variable's name.
        target, args : optional
            The function and the arguments that give the right value; see `call`.
        row : int, optional
            The right value is this row of the result. Default: the whole result.
        expected : array_like, optional
            The right value. Default: what the target returns for `args`.
        decimals : int, optional
            How many decimals were asked for. A difference of 1 in the last one is accepted.
        within : float, optional
            The largest accepted difference, for example for a prediction.
        after : mapping, optional
            For names of answers that were checked before in this cell, a function that takes the
            learner's own answer and returns the value that follows from it. If that answer is wrong
            but comes from the learner's own numbers, what follows from it is accepted too. With
            None for a function, a value is accepted if the same one of the readings that were given
            to `readings` leads to both answers.
        """
        self._ledger.ask("value", name, target=target, row=row)
        got, found = self._ledger.find(name)
        if not found:
            return
        tolerance = None
        if decimals is not None:
            tolerance = (0.0, 1.001 * 10.0**-decimals)
        elif within is not None:
            tolerance = (0.0, within)
        self._ledger.compare(
            name,
            got,
            target,
            args,
            expected,
            row=row,
            tolerance=tolerance,
            about=About(is_value=True, after=after or {}),
        )

    def readings(self, of: str, numbers: object) -> None:
        """Tell the checks of typed answers which wrong readings of a learner's numbers are known.

        Parameters
        ----------
        of : str
            A function of `attn_lib.course.personal.misreadings` with its module, such as
            "dot_products.of_two_keys".
        numbers
            What was drawn for the learner.
        """
        module, function = of.split(".")
        self._ledger.steps.readings = getattr(getattr(misreadings, module), function)(numbers)

    def estimate(
        self,
        name: str,
        *args: object,
        seeds: tuple[int, int],
        target: str,
        target_args: Sequence[Any],
        standard_error: float,
    ) -> None:
        """Check a function that estimates a number by experiment, with its error bound.

        The function takes `args` and a seed. For each of two seeds it has to return a number
        within `STANDARD_ERRORS` of the right one. The same seed has to give the same number,
        and different seeds different numbers: a result that does not depend on the seed does
        not come from an experiment.

        Parameters
        ----------
        name : str
            The function's name.
        *args
            Its arguments before the seed.
        seeds : (int, int)
        target, target_args
            The function that gives the right number, and its arguments.
        standard_error : float
            Standard deviation of the estimate.
        """
        self._ledger.ask(
            "estimate",
            name,
            args,
            target=target,
            target_args=target_args,
            standard_error=standard_error,
        )
        estimates = []
        for seed in (*seeds, seeds[0]):
            observation = self._ledger.call(name, (*args, seed))
            if observation is None:
                return
            estimates.append(observation.returned)
        given = shapes_of((*args, seeds[0]))
        for estimate in estimates:
            form = form_problem(estimate, np.zeros(()))
            if form:
                return self._ledger.note(name, form, given=given)
        first, second, again = estimates
        if not np.array_equal(first, again):
            problem = (
                f"it gave {float(first):.6g} and then {float(again):.6g} for the same seed. "
                "Draw from np.random.default_rng(seed) only."
            )
            return self._ledger.note(name, problem, given=given)
        if np.array_equal(first, second):
            problem = (
                f"it gave {float(first):.6g} for two different seeds. Draw random numbers from "
                "np.random.default_rng(seed), measure them, and do not round."
            )
            return self._ledger.note(name, problem, given=given)
        # Half of the bound is relative, because the noise of a wrong experiment grows with its
        # result: this way its mistake is still recognised. Around the right number the two
        # halves add up to the whole bound.
        bound = STANDARD_ERRORS * standard_error / 2
        right = abs(float(TARGETS[target](*target_args)))
        tolerance = (bound / right, bound) if right else (0.0, 2 * bound)
        for seed, estimate in zip(seeds, estimates, strict=False):
            self._ledger.compare(
                name,
                estimate,
                target,
                target_args,
                tolerance=tolerance,
                about=About(given=shapes_of((*args, seed))),
            )

    def returns(
        self,
        name: str,
        *args: object,
        shape: tuple[int, ...],
        problem: Callable[[NDArray[Any]], str],
    ) -> None:
        """Check a property of what a function returns, where no number alone is right.

        Parameters
        ----------
        name : str
            The function's name.
        *args
            Its arguments.
        shape : tuple of int
            The shape of the finite real numbers that it has to return.
        problem : callable
            Takes these numbers, returns what is wrong with them, or "" if nothing is.
        """
        self._ledger.ask("returns", name, args)
        observation = self._ledger.call(name, args)
        if observation is None:
            return
        message = form_problem(observation.returned, np.zeros(shape))
        numbers = as_numbers(observation.returned)
        if not message and numbers is not None:
            message = problem(numbers)
        self._ledger.note(name, message)

    def drawing(
        self,
        name: str,
        *args: object,
        lines: Mapping[str, Line] | None = None,
        image: Image | None = None,
        logarithmic: str | None = None,
        labelled: bool | Mapping[str, str] = False,
    ) -> None:
        """Check the data in the axes that the learner's function draws.

        Empty axes pass no check of their scales or labels, and neither do axes that are turned off
        or do not show what is drawn. Further checks in the same cell, with the same arguments, look
        at the same drawing.

        Parameters
        ----------
        name : str
            The function's name. It returns matplotlib's Axes.
        *args
            Its arguments.
        lines : mapping, optional
            The required lines, by label.
        image : Image, optional
            What ``imshow`` has to show.
        logarithmic : str, optional
            Which axes have to be logarithmic: "", "x", "y" or "xy". Default: any scales.
        labelled : bool or mapping
            Whether both axes need a label. A mapping gives the words that the labels have to
            contain, by "x" and "y".

        Raises
        ------
        ValueError
            If there is nothing to check: the author of the cell asked for no property.
        """
        self._ledger.ask("drawing", name, args)
        observation = self._ledger.draw(name, args)
        if observation is None:
            return
        drawing = observation.returned
        if not isinstance(drawing, Drawing):
            return self._ledger.note(name, not_axes(drawing))
        if lines is None and image is None and logarithmic is None and not labelled:
            raise ValueError(
                f"{name}: expected lines, image, logarithmic or labelled, got none of them."
            )
        if logarithmic is not None or labelled:
            problem = empty_problem(drawing) or visible_problem(drawing)
            self._ledger.note(name, problem, given=shapes_of(args))
        if logarithmic is not None:
            self._ledger.note(name, scale_problem(drawing, logarithmic))
        if labelled:
            words = labelled if isinstance(labelled, Mapping) else {}
            self._ledger.note(name, label_problem(drawing, words))
        for label, line in (lines or {}).items():
            self._compare_line(name, drawing, label, line, shapes_of(args))
        if image is not None:
            if len(drawing.images) == 1:
                about = About(given=shapes_of(args))
                shown = drawing.images[0]
                self._ledger.compare(f"{name}, image", shown, image.target, image.args, about=about)
            else:
                self._ledger.note(name, images_problem(drawing))

    def form(self, name: str, shape: tuple[int, ...] = ()) -> None:
        """Check that a value consists of finite real numbers in this shape.

        Parameters
        ----------
        name : str
            The variable's name.
        shape : tuple of int
            Default: a single number.
        """
        self._ledger.ask("form", name)
        got, found = self._ledger.find(name)
        if found:
            problem = form_problem(got, np.zeros(shape))
            hint = form_hint(got, shape) if problem else ""
            self._ledger.note(name, problem, hint=hint, only_form=True)
            if problem:
                self._malformed.add(name)

    def holds(self, name: str, condition: Callable[[Any], Any], sentence: str) -> None:
        """Check that a value has a property.

        The condition is skipped if `form` failed for this name in the same part: the learner
        knows already, and a condition meant for four numbers may take hours on millions.

        Parameters
        ----------
        name : str
            The variable's name.
        condition : callable
            Takes the value as an array, returns whether the property holds.
        sentence : str
            What the learner is told if the property does not hold.
        """
        self._ledger.ask("holds", name)
        got, found = self._ledger.find(name)
        if not found or name in self._malformed:
            return
        try:
            held = bool(condition(np.asarray(got)))
        except Exception:  # the value may be anything; then the property does not hold
            held = False
        self._ledger.note(name, "" if held else sentence, only_form=True)

    def choice(
        self,
        name: str,
        options: str,
        right: str | None = None,
        because: Mapping[str, str] | None = None,
        after: After | None = None,
    ) -> None:
        """Check the letter a learner chose.

        Parameters
        ----------
        name : str
            The variable's name.
        options : str
            The letters, such as "ABCD". Lower case is accepted too.
        right : str, optional
            The right letter. Default: any of the options passes.
        because : mapping, optional
            For each wrong letter, a sentence that says why it is wrong.
        after : mapping, optional
            The letter that follows from an earlier answer; see `value`.
        """
        self._ledger.ask("choice", name, options=options, right=right, because=because)
        got, found = self._ledger.find(name)
        if not found:
            return
        letter = got.strip().upper() if isinstance(got, str) else None
        if not letter or letter not in list(options):
            listed = ", ".join(f'"{option}"' for option in options)
            shown = shortened(" ".join(repr(got).split()), MAX_SHOWN_TEXT)
            return self._ledger.note(name, f"expected one of the letters {listed}, got {shown}.")
        if right is None:
            return self._ledger.note(name, only_form=True)
        if letter == right:
            return self._ledger.note(name, chosen=letter)
        if letter == self._ledger.steps.letter_after(after or {}):
            remark = f"it follows from your own {', '.join(after or {})}, so it counts."
            return self._ledger.note(name, remark=remark, chosen=letter)
        self._ledger.steps.note_letter(name, letter)
        explanation = (because or {}).get(letter, "")
        self._ledger.note(name, f'"{letter}" is not right. {explanation}'.strip(), chosen=letter)

    def finish(self) -> float | None:
        """Show what was found in every part, then award the points or raise.

        Returns
        -------
        float or None
            Under ``nbgrader autograde`` the points earned, which nbgrader reads from the
            cell's output. Elsewhere None: the hidden checks have not run, so there are no
            points yet.

        Raises
        ------
        ChecksFailed
            If a check failed; under ``nbgrader autograde`` only if no part earned points.
        ValueError
            If a part holds no check: an empty part would always pass.
        """
        parts = self._ledger.parts
        if not parts or not all(part.findings for part in parts):
            raise ValueError("Checks: expected at least one check in every part, found none.")
        earned = float(sum(part.points for part in parts if part.passed))
        grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
        all_passed = all(part.passed for part in parts)
        self._ledger.conclude()
        text = self._ledger.as_text(grading)
        is_shown = self._show_in_notebook()
        if not all_passed and not (grading and earned):
            failed = sum(not part.passed for part in parts)
            counted = f"{failed} of {len(parts)} parts not right yet."
            raise ChecksFailed(text, shown=counted if is_shown else "")
        if not is_shown:
            say(text)
        tell_validator(parts)
        return earned if grading else None

    def _show_in_notebook(self) -> bool:
        """Show the findings with colour and links if a person runs this; say whether one does."""
        if front_end.shell() is None:
            return False
        names = (finding.name for part in self._ledger.parts for finding in part.findings)
        further = changed_since_run(name.partition(",")[0] for name in names)
        show(blocks(self._ledger.parts), [*self._ledger.further_lines, *further])
        return True

    def _compare_line(
        self, name: str, drawing: Drawing, label: str, line: Line, given: str
    ) -> None:
        curve = find_curve(drawing, label)
        if isinstance(curve, str):
            return self._ledger.note(name, curve)
        name = f"{name}, line {label!r}"

        def compute(function: Callable[..., Any]) -> NDArray[Any]:
            return np.array([function(*args) for args in line.args])

        x = np.asarray(line.x)
        right = compute(TARGETS[line.target])
        problem = difference(curve.x, x, _point_by_point(x))
        if problem and _is_exchanged(curve, x, right):
            exchanged = "its x and y are exchanged: in ax.plot(x, y), x comes first."
            return self._ledger.note(name, exchanged)
        if problem:
            return self._ledger.note(f"{name}, x", problem, given=given, hint=x_hint(curve, x))
        other = _elsewhere(drawing.curves, curve, right)
        if other:
            told = f"its numbers stand in the line labelled {other!r}. Are the labels exchanged?"
            return self._ledger.note(name, told)
        question = Question(right, compute, _point_by_point(right))
        about = About(label=label, given=given)
        self._ledger.record(f"{name}, y", curve.y, question, line.target, about)


def _is_exchanged(curve: Curve, x: NDArray[Any], y: NDArray[Any]) -> bool:
    """Say whether a curve has the right y as its x, and the right x as its y, in any order."""
    pairs = [(np.asarray(curve.x), y), (np.asarray(curve.y), x)]
    return all(
        got.shape == right.shape
        and got.dtype.kind in "iuf"
        and not difference(np.sort(got), np.sort(right), _point_by_point(right))
        for got, right in pairs
    )


def _elsewhere(curves: Sequence[Curve], curve: Curve, y: NDArray[Any]) -> str:
    """Return the label of the curve that has the right y, if `curve` does not; "" if none has."""

    def is_right(other: Curve) -> bool:
        return np.array_equal(other.x, curve.x) and not difference(other.y, y, _point_by_point(y))

    if is_right(curve):
        return ""
    return next((other.label for other in curves if is_right(other)), "")


def _point_by_point(numbers: NDArray[Any]) -> tuple[float, float]:
    """Return the tolerance for a line: relative for each point if all can be on a logarithmic axis.

    There, a small number has as much room as a large one.
    """
    relative, absolute = tolerance_for(numbers)
    return relative, 0.0 if np.all(numbers > 0) else absolute
