"""The mistakes museum: what every catalogued mistake does to a small example.

An exhibit calls a wrong function and the right one, its target, with the same arguments from
`attn_lib.course.targets.examples`, and lets `attn_lib.course.checks` look at the wrong answer. A
room holds the exhibits of one target. It displays as Markdown with the answers in HTML tables,
which ``book/assets/museum.css`` colours.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attn_lib.course.checks import Checks
from attn_lib.course.checks.comparison import form_problem, shape_text, tolerance_for
from attn_lib.course.effects import insertion_in_words, retraining_in_words
from attn_lib.course.mistakes import Mistake, catalogue
from attn_lib.course.targets import TARGETS
from attn_lib.course.targets.examples import EXAMPLES

Kind = Literal["shape", "finite", "values"]

#: The properties of an answer that a check compares, in this order.
LOOKS_AT: dict[Kind, str] = {
    "shape": "the shape",
    "finite": "whether the numbers are finite",
    "values": "the values",
}

_ROUNDING = 1e-12  # relative to the largest entry; smaller entries are rounding errors of 0


@dataclass(frozen=True)
class Exhibit:
    """One mistake on the first example in which the checks recognise it."""

    mistake: Mistake
    example: int  #: index in the target's EXAMPLES
    right: NDArray[Any]
    wrong: NDArray[Any]
    finding: str  #: the check's message about the wrong answer
    kind: Kind  #: the property by which the check recognised it

    def code(self) -> str:
        """Return the source of the wrong function without its decorator."""
        source = inspect.getsource(self.mistake.wrong)
        first_line = ast.parse(source).body[0].lineno
        body = "\n".join(source.splitlines()[first_line - 1 :])
        return body.replace("def _", "def ", 1)


def exhibit(mistake: Mistake) -> Exhibit:
    """Return what `mistake` does to the first example in which the checks recognise it.

    Parameters
    ----------
    mistake : Mistake

    Raises
    ------
    ValueError
        If the checks recognise it in no example of its target.

    Examples
    --------
    >>> shown = exhibit(catalogue("weights_shape")[0])
    >>> shown.right.tolist(), shown.wrong.tolist()
    ([2, 3, 5, 11], [2, 3, 11, 5])
    >>> shown.finding
    'entry [2]: expected 5, got 11 (2 of 4 entries differ).'
    """
    target = mistake.target
    for position, arguments in enumerate(EXAMPLES[target]):
        wrong = _answer(mistake.wrong, arguments)
        if wrong is None:
            continue
        check = Checks({target: wrong})
        check.part(mistake.id, points=1)
        check.value(target, target=target, args=arguments)
        result = check.parts[0].findings[0]
        if result.mistake == mistake.id:
            right = np.asarray(TARGETS[target](*arguments))
            kind: Kind = "values"
            if form_problem(wrong, right):
                kind = "finite" if wrong.shape == right.shape else "shape"
            return Exhibit(mistake, position, right, wrong, result.message.splitlines()[0], kind)
    raise ValueError(
        f"exhibit: expected a mistake that shows in an example of {target}, got {mistake.id!r}; "
        "add an example to attn_lib.course.targets.examples."
    )


def wing(target: str) -> str:
    """Return the chapter whose museum page shows the mistakes of `target`.

    It is the chapter that explains most of them.

    Parameters
    ----------
    target : str
        A target that catalogued mistakes imitate.

    Examples
    --------
    >>> wing("attention")
    'dot-products'
    """
    chapters = Counter(mistake.section.partition("#")[0] for mistake in catalogue(target))
    return chapters.most_common(1)[0][0]


class Room:
    """The exhibits of one target, displayed as Markdown.

    Parameters
    ----------
    target : str
        A key of `TARGETS`.

    Raises
    ------
    ValueError
        If there is no such target.

    Examples
    --------
    >>> [shown.mistake.id for shown in Room("weight_at").exhibits]
    ['row-for-column']
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.exhibits = [exhibit(mistake) for mistake in catalogue(target)]

    def _repr_markdown_(self) -> str:
        examples = EXAMPLES[self.target]
        with_arrays = any(_arrays(self.target, arguments) for arguments in examples)
        blocks = [_task(self.target)]
        if with_arrays:
            code = "\n\n".join(_example_code(self.target, i) for i in self._examples_shown())
            blocks.append(f":::{{dropdown}} The arrays\n```python\n{code}\n```\n:::")
        for shown in self.exhibits:
            page, _, anchor = shown.mistake.section.partition("#")
            call = _call(self.target, examples[shown.example])
            which = f" in example {shown.example + 1}" if with_arrays and len(examples) > 1 else ""
            finding = re.sub(r"-(?=\d|inf)", "−", shown.finding)
            blocks += [
                f"### {shown.mistake.id}",
                shown.mistake.sentence,
                f"```python\n{shown.code()}\n```",
                _picture(shown),
                f"Caught by {LOOKS_AT[shown.kind]}. `{call}`{which}: {finding}",
                *_effects(shown.mistake.id),
                f"Explained in []({page}.md#{anchor}).",
            ]
        return "\n\n".join(blocks)

    def _examples_shown(self) -> list[int]:
        """Return the indices of the examples to draw: all of them if the answers are numbers."""
        if self.exhibits[0].right.ndim == 0:
            return list(range(len(EXAMPLES[self.target])))
        return sorted({shown.example for shown in self.exhibits})


def _effects(id: str) -> Iterator[str]:
    """Yield what the mistake does to a trained model and to training, if that was measured."""
    if words := insertion_in_words(id):
        yield f"[In the trained model](museum-trained-model.md): {words}"
    if words := retraining_in_words(id):
        yield f"[Trained with it](museum-trained-model.md#trained-with-the-mistake): {words}"


def _answer(function: Callable[..., Any], arguments: Sequence[Any]) -> NDArray[Any] | None:
    """Return the result of the function, or None if the shapes do not fit."""
    with np.errstate(all="ignore"):
        try:
            return np.asarray(function(*arguments))
        except ValueError:
            return None


def _task(target: str) -> str:
    """Return a call of the target and the first sentence of its docstring, as Markdown."""
    paragraph = str(inspect.getdoc(TARGETS[target])).split("\n\n")[0]
    sentence = " ".join(paragraph.split()).removeprefix("Return ").replace("``", "`")
    sentence = re.sub(r":math:`(.*?)`", r"$\1$", sentence)
    names = ", ".join(_names(target, max(EXAMPLES[target], key=len)))
    return f"`{target}({names})` has to return {sentence}"


def _names(target: str, arguments: Sequence[Any]) -> list[str]:
    return list(inspect.signature(TARGETS[target]).parameters)[: len(arguments)]


def _arrays(target: str, arguments: Sequence[Any]) -> dict[str, NDArray[Any]]:
    named = zip(_names(target, arguments), arguments, strict=True)
    return {name: value for name, value in named if isinstance(value, np.ndarray)}


def _call(target: str, arguments: Sequence[Any]) -> str:
    arrays = _arrays(target, arguments)
    named = zip(_names(target, arguments), arguments, strict=True)
    return f"{target}({', '.join(name if name in arrays else repr(a) for name, a in named)})"


def _example_code(target: str, position: int) -> str:
    arguments = EXAMPLES[target][position]
    lines = [f"# Example {position + 1}"] if len(EXAMPLES[target]) > 1 else []
    for name, array in _arrays(target, arguments).items():
        start = f"{name} = np.array("
        entries = re.sub("\n+", "\n", np.array2string(array, separator=", ", prefix=start))
        lines.append(f"{start}{entries})")
    return "\n".join([*lines, _call(target, arguments)])


def _picture(shown: Exhibit) -> str:
    if shown.right.ndim == 0:
        tables = _numbers(shown.mistake)
    else:
        tables = _grid("right", shown.right, shown.right) + _grid("wrong", shown.wrong, shown.right)
    return f'<figure class="museum">{tables}</figure>'


def _numbers(mistake: Mistake) -> str:
    """Return a table with a column for each example. Each column has a separate colour scale."""
    examples = EXAMPLES[mistake.target]
    heads = [
        f"example {i}" if _arrays(mistake.target, arguments) else ", ".join(map(str, arguments))
        for i, arguments in enumerate(examples, start=1)
    ]
    rights = [np.asarray(TARGETS[mistake.target](*arguments)) for arguments in examples]
    wrongs = [np.asarray(_answer(mistake.wrong, arguments)) for arguments in examples]
    rows = {
        name: [cell for pair in zip(answers, rights, strict=True) for cell in _cells(*pair)]
        for name, answers in (("right", rights), ("wrong", wrongs))
    }
    return _table("", heads, rows)


def _grid(name: str, array: NDArray[Any], right: NDArray[Any]) -> str:
    """Return a table with a row for each index of all axes but the last."""
    cells, width = _cells(array, right), array.shape[-1]
    rows = {
        ", ".join(map(str, index)): cells[i * width : (i + 1) * width]
        for i, index in enumerate(np.ndindex(array.shape[:-1]))
    }
    return _table(f"{name}, shape {shape_text(array)}", [str(j) for j in range(width)], rows)


def _table(caption: str, heads: Sequence[str], rows: Mapping[str, Sequence[str]]) -> str:
    # A vector has a single row without an index, so it needs no column of indices.
    indexed = list(rows) != [""]
    head = "<td></td>" * indexed + "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(
        f"<tr>{f'<th scope=row>{index}</th>' * indexed}{''.join(cells)}</tr>"
        for index, cells in rows.items()
    )
    title = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(array: NDArray[Any], right: NDArray[Any]) -> list[str]:
    """Return a table cell for every entry, coloured by its size relative to the right entries.

    Entries that differ from `right` are framed, if both have the same shape.
    """
    framed = np.zeros(array.shape, dtype=bool)
    if array.shape == right.shape:
        relative, absolute = tolerance_for(right)
        framed = ~np.isclose(array, right, rtol=relative, atol=absolute, equal_nan=True)
    reach = np.max(np.abs(right), initial=0, where=np.isfinite(right)) or 1
    if array.dtype != bool:
        array = np.where(np.abs(array) < _ROUNDING * reach, 0, array)
    decimals = _decimals(array)
    cells = []
    for value, frame in zip(array.flat, framed.flat, strict=True):
        look = _shade(value, reach) + " framed" * bool(frame)
        text = _number_text(value, decimals) if array.ndim else _four_digits(value)
        cells.append(f'<td class="{look}">{text}</td>')
    return cells


def _shade(value: float | np.bool_, reach: float) -> str:
    """Return the CSS class of a cell: a shade from n4 (negative) over z to p4, or yes or no."""
    if isinstance(value, np.bool_):
        return "yes" if value else "no"
    if not np.isfinite(value):
        return "no"
    level = round(4 * min(max(value / reach, -1), 1))
    return "z" if level == 0 else f"{'n' if level < 0 else 'p'}{abs(level)}"


def _decimals(array: NDArray[Any]) -> int:
    """Return how many decimals the entries need, at most two."""
    finite = array[np.isfinite(array)]
    return next((d for d in (0, 1) if (finite == np.round(finite, d)).all()), 2)


def _number_text(value: float | np.bool_, decimals: int) -> str:
    """Return a number in a table of several numbers, in a short form."""
    if isinstance(value, np.bool_):
        return str(int(value))
    size = abs(value)
    if size >= 1e6 or 0 < size < 0.005:
        return _written(f"{value:.2g}" if size > 1 else f"{value:.0e}")
    return _written(f"{value:.{decimals}f}")


def _four_digits(value: float) -> str:
    """Return a single number with four digits, which show how right and wrong differ."""
    return _written(f"{value:.4g}")


def _written(number: str) -> str:
    """Return a number formatted by Python in mathematical notation: −∞ for -inf."""
    names = {"nan": "NaN", "inf": "∞", "-inf": "−∞"}
    return names.get(number, re.sub(r"e\+?(-?)0*", r"e\1", number).replace("-", "−"))
