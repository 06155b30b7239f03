"""The catalogue of mistakes in a copy of attn_lib without answers: names and results alone."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from attn_lib.course.mistakes.core import Function, Mistake
from attn_lib.course.targets.stored import answers, stored


def catalogue(target: str | None = None) -> list[Mistake]:
    """Return the mistakes that visible tests can name; see `attn_lib.course.mistakes.core`."""
    return [mistake for mistake in _known().values() if target in (None, mistake.target)]


def spellings(target: str) -> Iterator[tuple[Mistake, Function]]:
    """Yield what stands for `attn_lib.course.mistakes.spellings`: results for stored inputs."""
    for name, results in answers()["spellings"].get(target, ()):
        yield _known()[name], stored(name, results)


@functools.cache
def _known() -> dict[str, Mistake]:
    return {
        name: Mistake(name, target, stored(name, {}), sentence, section)
        for name, (target, sentence, section) in answers()["mistakes"].items()
    }
