"""A folder is made again exactly when its inputs or the command have changed."""

from __future__ import annotations

import sys

import pytest

from tools import run_if_changed

# Adds a line for each run to a file outside the folder, so that runs can be counted.
COPY = """
import pathlib
with open("runs", "a") as runs:
    runs.write("run\\n")
pathlib.Path("made/result").write_text(pathlib.Path("sources/input").read_text())
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "input").write_text("one")
    (tmp_path / "sources" / "other").write_text("two")
    return tmp_path


def make(code: str = COPY, inputs: tuple[str, ...] = ("sources",)) -> int:
    command = [sys.executable, "-c", code]
    options = ["--makes", "made/result", "--skips-with", "7"]
    return run_if_changed.main(["made", *options, "--from", *inputs, "--", *command])


def runs(workplace) -> int:
    return (workplace / "runs").read_text().count("run")


def test_same_inputs_run_once(workplace):
    assert [make(), make()] == [0, 0]
    assert runs(workplace) == 1
    assert (workplace / "made" / "result").read_text() == "one"


def change_content(sources):
    (sources / "input").write_text("three")


def add_a_file(sources):
    (sources / "deeper").mkdir()
    (sources / "deeper" / "added").touch()


def delete_a_file(sources):
    (sources / "other").unlink()


def rename_a_file(sources):
    (sources / "other").rename(sources / "another")


@pytest.mark.parametrize("change", [change_content, add_a_file, delete_a_file, rename_a_file])
def test_a_changed_input_runs_again_in_an_empty_folder(workplace, change):
    make()
    (workplace / "made" / "stale").touch()
    change(workplace / "sources")
    assert make() == 0
    assert runs(workplace) == 2
    assert not (workplace / "made" / "stale").exists()


def test_files_left_by_tools_are_not_inputs(workplace):
    make()
    for name in ("__pycache__", ".ipynb_checkpoints"):
        (workplace / "sources" / name).mkdir()
        (workplace / "sources" / name / "left").touch()
    (workplace / "sources" / "input").touch()
    make()
    assert runs(workplace) == 1


def test_a_changed_command_runs_again(workplace):
    make()
    make(COPY + "# another")
    assert runs(workplace) == 2


def test_a_lost_result_is_made_again(workplace):
    make()
    (workplace / "made" / "result").unlink()
    make()
    assert (workplace / "made" / "result").read_text() == "one"


def test_a_failed_run_returns_its_status_and_is_repeated(workplace, capfd):
    assert make(COPY + "raise SystemExit(3)") == 3
    assert "failed with status 3" in capfd.readouterr().err
    assert make(COPY + "raise SystemExit(3)") == 3
    assert runs(workplace) == 2


def test_a_command_that_makes_nothing_has_failed(capfd):
    assert make("pass") == 1
    assert "to make made/result, found none" in capfd.readouterr().err


def test_a_missing_input_is_named():
    with pytest.raises(FileNotFoundError, match="Expected the input nowhere"):
        make(inputs=("sources", "nowhere"))


def test_a_command_that_cannot_run_here_is_no_failure_and_is_tried_again(workplace):
    cannot = 'open("runs", "a").write("run\\n"); raise SystemExit(7)'
    assert [make(cannot), make(cannot)] == [0, 0]
    assert runs(workplace) == 2
    assert not (workplace / "made" / run_if_changed.STAMP).exists()
