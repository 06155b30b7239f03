"""The warm process lists the fonts that matplotlib would."""

import json
import subprocess
import sys

import pytest

LIST = """
import json
from matplotlib import _afm, font_manager, get_data_path
fonts = font_manager.fontManager
names = [[repr(font) for font in found] for found in (fonts.afmlist, fonts.ttflist)]
with open(f"{get_data_path()}/fonts/afm/ptmr8a.afm", "rb") as file:
    box = _afm.AFM(file).get_str_bbox_and_descent("attention")
print(json.dumps([*map(sorted, names), box]))
"""
QUICKLY = "from grader.sandbox.inside.fonts import list_fonts; list_fonts()"


@pytest.fixture
def listed(tmp_path):
    def run(name: str, first: str) -> list[object]:
        """Return what a new process lists that finds no list of an earlier one."""
        done = subprocess.run(
            [sys.executable, "-c", first + LIST],
            env={"HOME": str(tmp_path), "MPLCONFIGDIR": str(tmp_path / name)},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return run


def test_fonts_and_their_measures_are_those_that_matplotlib_reads(listed):
    quick = listed("quick", QUICKLY)
    assert quick == listed("whole", "")
    assert len(quick[0]) > 50  # PostScript's
    assert len(quick[1]) > 30
