"""What exercises give: the reader reads like the model, and answers may call it."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

from attn_lib.course.checks.observation import observe
from attn_lib.course.given import calls, peak_bytes, read
from attn_lib.model import encode, forward, trained_model
from attn_lib.softmax import softmax

IDS = encode("gus tea eve juice cleo milk eve")


def test_it_reads_like_the_model_at_once_and_in_pieces():
    logits = forward(trained_model(), IDS)["logits"]
    np.testing.assert_allclose(read(IDS, 0)[0], logits)
    given, cache = read(IDS[:4], 0)
    pieces = [given]
    for i in range(4, 7):
        given, cache = read(IDS[i : i + 1].tolist(), i, cache)
        pieces.append(given)
    np.testing.assert_allclose(np.vstack(pieces), logits, atol=1e-4)


def test_a_word_stands_where_the_reader_says():
    p = trained_model().parameters
    moved = trained_model()._replace(parameters=p | {"positions": np.roll(p["positions"], -3, 0)})
    np.testing.assert_allclose(read(IDS, 3)[0], forward(moved, IDS)["logits"])


def test_the_cache_that_it_is_given_stays_as_it_was():
    _, cache = read(IDS[:4], 0)
    before = cache["layer2.k"].copy()
    read(IDS[4:], 4, cache)
    np.testing.assert_array_equal(cache["layer2.k"], before)


def test_positions_that_the_model_has_not_learned_are_refused():
    assert len(read(IDS[:1], 16)[0]) == 1
    for start, cache in ((17, None), (0, read([3] * 17, 0)[1])):
        with pytest.raises(ValueError, match=r"read: expected positions up to 16, .*, got 1 words"):
            read(IDS[:1], start, cache)
    with pytest.raises(ValueError, match="read: start: expected a whole number"):
        read(IDS, 0.5)


def test_it_notes_how_many_words_each_call_reads():
    calls.clear()
    _, cache = read(IDS[:4], 0)
    read(IDS[4:5], 4, cache)
    assert calls == [4, 1]


class TestPeakBytes:
    def test_it_is_the_largest_sum_of_what_is_held_at_once(self):
        def in_turn(n):
            return sum(np.ones(n).sum() for _ in range(3))

        def together(n):
            return sum(ones.sum() for ones in [np.ones(n) for _ in range(3)])

        assert 80_000 <= peak_bytes(in_turn, 10_000) < 2 * 80_000
        assert 240_000 <= peak_bytes(together, 10_000) < 4 * 80_000

    def test_what_was_there_before_is_not_counted(self):
        tracemalloc.start()
        before = np.ones(100_000)
        assert peak_bytes(np.ones, 1000) < before.nbytes / 10
        assert tracemalloc.is_tracing()
        tracemalloc.stop()
        with pytest.raises(ZeroDivisionError):
            peak_bytes(lambda: 1 / 0)
        assert not tracemalloc.is_tracing()


class TestAnswers:
    def test_they_may_call_it(self):
        observation = observe(lambda ids: read(ids, 0)[0][-1].argmax(), [IDS])
        assert (observation.problem, observation.returned) == ("", encode("juice")[0])

    def test_beside_it_they_may_not_call_what_it_calls(self):
        observation = observe(lambda ids: softmax(read(ids, 0)[0]), [IDS])
        assert observation.problem == "it calls attn_lib's own softmax. Write it yourself."


def test_the_trained_model_can_be_read_from_a_zip_file(root, tmp_path):
    """In Colab, attn_lib is imported from its wheel."""
    wheel = tmp_path / "attn_lib.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted((root / "attn_lib").rglob("*")):
            if file.suffix in (".py", ".npz"):
                archive.write(file, file.relative_to(root))
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import attn_lib.model as model;"
        "print(model.__file__, model.trained_model().size)"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [f"{wheel}/attn_lib/model/__init__.py", "12064"]
