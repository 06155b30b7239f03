"""The numbers, pictures, links and versions in README and the other top-level pages are right."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from PIL import Image

from attn_lib.figures.widgets import MAX_FRAMES
from book._ext.assignments import path_of, read_overview
from tests.book.test_assignments import CHAPTERS
from tests.exercises.proof.proof import proofs
from tools import page_sizes, pictures

PAGES = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md"]
WORDS = [
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
]


def read(root, page) -> str:
    return (root / page).read_text(encoding="utf-8")


def one_line(text: str) -> str:
    return " ".join(text.split())


def hours(minutes: int) -> str:
    """Return a duration in words, rounded to half an hour."""
    halves = round(minutes / 30)
    return f"{WORDS[halves // 2]} and a half" if halves % 2 else WORDS[halves // 2]


def test_hours_in_words():
    assert [hours(minutes) for minutes in (509, 540)] == ["eight and a half", "nine"]


def test_the_readme_counts_chapters_assignments_tasks_and_hours(root):
    found = [read_overview(path_of(root, name)) for name in proofs()]
    tasks, minutes = sum(len(o.tasks) for o in found), sum(o.minutes for o in found)
    assert {o.name for o in found} == {*CHAPTERS, "quiz"}
    assert (
        f"Each of the {WORDS[len(CHAPTERS)]} chapters after the orientation has an exercise, and a "
        f"quiz comes at the end: {WORDS[len(found)]} nbgrader assignments with {tasks} tasks, "
        f"about {hours(minutes)} hours of work."
    ) in one_line(read(root, "README.md"))


def test_stated_page_limits_are_the_real_ones(root):
    text = one_line(read(root, "CONTRIBUTING.md"))
    assert f"at most {MAX_FRAMES} states" in text
    assert f"a page weighs at most {page_sizes.LIMIT / 1e6:g} MB" in text


def test_pictures_are_small_sharp_and_have_alt_text(root):
    shown = re.findall(r"!\[([^]]*)\]\((docs/[^)]+)\)", read(root, "README.md"))
    assert [path for _, path in shown] == [f"docs/{name}" for name in pictures.VIEWS]
    for words, path in shown:
        assert len(words.split()) > 20
        assert (root / path).stat().st_size < pictures.LIMIT
        with Image.open(root / path) as picture:
            view = pictures.VIEWS[path.removeprefix("docs/")]
            assert picture.size == (view.width, view.height)


@pytest.mark.parametrize("page", PAGES)
def test_links_point_to_existing_files(root, page):
    text = re.sub(r"^```.*?^```", "", read(root, page), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [target.partition("#")[0] for target in targets if "://" not in target]
    assert [path for path in local if not (root / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_tests_mentioned_exist(root, page):
    named = [
        path
        for options in re.findall(r'make test PYTEST=("[^"]*"|[^\s`"]+)', read(root, page))
        for path in re.findall(r"tests/[\w./-]+", options)
    ]
    assert [path for path in named if not (root / path).exists()] == []
    assert len(named) > 5 or page not in ("README.md", "CONTRIBUTING.md")


class TestVersions:
    def test_they_agree(self, root):
        with (root / "pyproject.toml").open("rb") as file:
            version = tomllib.load(file)["project"]["version"]
        citation = yaml.safe_load(read(root, "CITATION.cff"))
        assert str(citation["version"]) == version
        assert citation["authors"] == [{"name": "the attention course authors"}]
        assert "(c) 2026 the attention course authors" in read(root, "LICENSE")
        assert self.released(root)[0][0] == version

    def test_the_changelog_lists_the_newest_first(self, root):
        found = self.released(root)
        numbers = [tuple(map(int, version.split("."))) for version, _ in found]
        assert numbers == sorted(set(numbers), reverse=True)
        dates = [date for _, date in found]
        assert dates == sorted(dates, reverse=True)

    @staticmethod
    def released(root) -> list[tuple[str, str]]:
        """Return version and date of each release in the changelog."""
        headings = re.findall(r"^## (.*)$", read(root, "CHANGELOG.md"), re.MULTILINE)
        if headings[0] == "Unreleased":
            del headings[0]
        found = [re.fullmatch(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)", each) for each in headings]
        assert all(found), headings
        return [match.groups() for match in found]
