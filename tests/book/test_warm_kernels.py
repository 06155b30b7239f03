"""A warm kernel is like any other."""

from __future__ import annotations

import json

import nbformat
from nbclient import NotebookClient

LOOKS_AROUND = """
import json, os, sys
print(json.dumps({
    "path": sys.path,
    "folder": os.getcwd(),
    "arguments": [sys.argv[0], len(sys.argv)],
    "variables": {key: os.environ[key] for key in os.environ if key != "JPY_PARENT_PID"},
    "leads its session": os.getsid(0) == os.getpid(),
    "its parent is told": os.environ["JPY_PARENT_PID"] != "",
    "of the course": [name for name in sys.modules if name.startswith("attn_lib")],
    "name": __name__,
}))
"""
DRAWS = "import matplotlib.pyplot as plt\nplt.plot([1, 2])"


def outputs(folder, *cells: str) -> list[list[dict]]:
    """Return the outputs of cells in a kernel that is started in a folder."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    resources = {"metadata": {"path": str(folder)}}
    done = NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
    return [cell.outputs for cell in done.cells]


def test_it_sees_and_shows_what_another_one_does(warm_kernels, tmp_path):
    stock = outputs(tmp_path, LOOKS_AROUND, DRAWS)
    with warm_kernels.replace_others():
        warm = outputs(tmp_path, LOOKS_AROUND, DRAWS)
    (seen,), (value, picture) = warm
    assert json.loads(seen["text"]) == json.loads(stock[0][0]["text"])
    assert json.loads(seen["text"])["folder"] == str(tmp_path)
    assert [sorted(output["data"]) for output in stock[1]] == [
        sorted(output["data"]) for output in (value, picture)
    ]
    assert picture["data"]["image/png"] == stock[1][1]["data"]["image/png"]
