"""The notebook is found among any submitted files, and its bytes are read."""

from __future__ import annotations

import os

import pytest

from grader.submission import Unreadable, find, load, own_files


@pytest.fixture
def folder(tmp_path):
    """The folder of one student's submission, with a function that puts files into it."""
    place_ = tmp_path / "submitted" / "ada" / "masking"
    place_.mkdir(parents=True)

    def put(*names: str):
        for name in names:
            path = place_ / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}", encoding="utf-8")
        return place_

    return put


class TestFind:
    def test_the_right_name(self, folder):
        path, remarks = find(folder("masking.ipynb"), "masking")
        assert (path.name, remarks) == ("masking.ipynb", [])

    @pytest.mark.parametrize(
        "name",
        [
            *("masking (1).ipynb", "masking-Copy1.ipynb", "Copy of masking.ipynb", "Masking.ipynb"),
            *(
                "masking.ipynb.txt",
                "masking.json",
                "masking_final.ipynb",
                "masking - Copy (2).IPYNB",
            ),
            *("ada.ipynb", "mine/masking.ipynb", "a/b/masking [x*].ipynb", "méthode.ipynb"),
        ],
    )
    def test_the_only_notebook_is_accepted(self, folder, name):
        path, remarks = find(folder(name), "masking")
        assert path.is_file()
        assert remarks == [f"{name!r} was used in place of masking.ipynb."]

    def test_of_several_notebooks_the_only_similar_one_is_chosen(self, folder):
        path, remarks = find(
            folder("scratch.ipynb", "masking (1).ipynb", "softmax.ipynb"), "masking"
        )
        assert path.name == "masking (1).ipynb"
        assert remarks == [
            "'masking (1).ipynb' was used in place of masking.ipynb.",
            "'scratch.ipynb' and 'softmax.ipynb' were also found and ignored.",
        ]

    def test_the_right_name_wins(self, folder):
        path, remarks = find(folder("masking (1).ipynb", "masking.ipynb", "data.csv"), "masking")
        assert path.name == "masking.ipynb"
        assert remarks == ["'masking (1).ipynb' was also found and ignored."]

    @pytest.mark.parametrize(
        "names", [("masking (1).ipynb", "masking (2).ipynb"), ("a.ipynb", "b.ipynb")]
    )
    def test_several_candidates_are_ambiguous(self, folder, names):
        with pytest.raises(Unreadable, match=r"found '.*' and '.*', and it is not clear which"):
            find(folder(*names), "masking")

    def test_nothing(self, folder, tmp_path):
        for place_ in (
            folder(".ipynb_checkpoints/masking.ipynb", "timestamp.txt"),
            tmp_path / "x",
        ):
            with pytest.raises(Unreadable) as refused:
                find(place_, "masking")
            assert str(refused.value) == "nothing submitted: expected masking.ipynb"

    def test_something_else(self, folder):
        with pytest.raises(Unreadable, match=r"found 'masking\.pdf', but no notebook: expected"):
            find(folder("masking.pdf"), "masking")
        with pytest.raises(Unreadable, match=r"found 'a\.py', 'b\.py', 'c\.py' and 2 more, but no"):
            find(folder("a.py", "b.py", "c.py", "d.py"), "masking")

    def test_too_many_files(self, folder):
        place_ = folder(*(f"{i}.txt" for i in range(1001)))
        with pytest.raises(Unreadable, match="more than 1000 files"):
            find(place_, "masking")

    def test_a_link_is_not_followed(self, folder, tmp_path):
        secret = tmp_path / "gradebook.ipynb"
        secret.write_text("{}", encoding="utf-8")
        place_ = folder()
        (place_ / "masking.ipynb").symlink_to(secret)
        with pytest.raises(Unreadable, match="links are not followed"):
            find(place_, "masking")
        with pytest.raises(Unreadable, match=r"'masking\.ipynb' is a link"):
            load(place_ / "masking.ipynb")
        (place_ / "masking.ipynb").unlink()
        (place_ / "deeper").symlink_to(tmp_path)
        with pytest.raises(Unreadable, match="links are not followed"):
            find(place_, "masking")
        other = tmp_path / "other"
        other.symlink_to(place_)
        with pytest.raises(Unreadable, match="its folder is a link"):
            find(other, "masking")

    def test_pipes_and_folders_are_not_notebooks(self, folder):
        place_ = folder()
        os.mkfifo(place_ / "masking.ipynb")
        with pytest.raises(Unreadable, match=r"found 'masking\.ipynb', but no notebook"):
            find(place_, "masking")
        with pytest.raises(Unreadable, match="not a regular file"):
            load(place_ / "masking.ipynb")
        (place_ / "masking.ipynb").unlink()
        (place_ / "masking.ipynb").mkdir()
        with pytest.raises(Unreadable, match=r"found 'masking\.ipynb', but no notebook"):
            find(place_, "masking")

    def test_undecodable_file_names(self, folder):
        place_ = folder()
        name = os.fsencode(place_) + b"/\xff\n.ipynb"
        with open(name, "w") as file:  # noqa: PTH123  Path takes no bytes
            file.write("{}")
        path, remarks = find(place_, "masking")
        assert load(path) == b"{}"
        assert remarks == ["'\\udcff\\n.ipynb' was used in place of masking.ipynb."]


class TestLoad:
    def test_the_bytes_are_returned_unchanged(self, folder):
        place_ = folder("masking.ipynb")
        (place_ / "masking.ipynb").write_bytes(b"\xff\0\r\n")
        assert load(place_ / "masking.ipynb") == b"\xff\0\r\n"

    def test_a_large_file_is_refused_before_it_is_read(self, folder):
        path = folder("masking.ipynb") / "masking.ipynb"
        os.truncate(path, 2**40)
        with pytest.raises(Unreadable, match="larger than 20 MiB, the largest size that is read"):
            load(path)

    def test_a_missing_file_is_reported(self, folder):
        with pytest.raises(Unreadable, match="cannot be opened: No such file"):
            load(folder() / "masking.ipynb")


def test_own_files_are_found_in_deep_packages(tmp_path):
    deep = tmp_path / "pkg" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "half.py").write_text("x = 1", encoding="utf-8")
    (deep / "answers.ipynb").write_text("{}", encoding="utf-8")
    assert own_files(tmp_path, 100) == ({"pkg/a/b/half.py": b"x = 1"}, [])
