"""A command of nbgrader in a fork is like any other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LOOKS_AROUND = """
import json, os, sys
print(json.dumps({
    "path": sys.path,
    "folder": os.getcwd(),
    "arguments": sys.argv,
    "executable": sys.executable,
    # The others are set when readline is loaded.
    "variables": {key: os.environ[key] for key in os.environ if key not in ("LINES", "COLUMNS")},
    "input": sys.stdin.read(),
    "of the course": [n for n in sys.modules if n.partition(".")[0] in ("attn_lib", "grader")],
}))
get_config().Nbgrader.logfile = ""
"""


def test_it_sees_and_says_what_another_one_does(warm_nbgrader, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text(LOOKS_AROUND, encoding="utf-8")
    program = Path(sys.executable).with_name("nbgrader")
    arguments = ["collect"]
    stock = subprocess.run(
        [program, *arguments],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    warm = warm_nbgrader.run(arguments, tmp_path)
    seen = json.loads(warm.stdout.splitlines()[0])
    assert seen["folder"] == str(tmp_path)
    assert warm.stdout == stock.stdout
    assert warm.returncode == stock.returncode == 1
    assert warm.stderr == stock.stderr
    assert "Must provide assignment name" in warm.stderr
