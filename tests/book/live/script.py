"""Calls the page's mathematics with many inputs at once, and returns what it computes as arrays."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attn_lib.model import trained_model
from book._ext.live_figures import weights_script

FOLDER = Path(__file__).resolve().parents[3] / "book" / "assets" / "live"
SCRIPTS = ("mathematics", "generator", "model", "model-mistakes")

#: Turns the bytes of all inputs into rows and numbers, calls the function, returns bytes.
CALL = """
async ([source, numbers, cases]) => {
  const bytes = Uint8Array.from(atob(numbers), (letter) => letter.charCodeAt(0));
  const all = new Float64Array(bytes.buffer);
  const nest = (flat, shape) => shape.length === 0 ? flat[0]
    : shape.length === 1 ? [...flat]
    : Array.from({length: shape[0]}, (_, i) => {
        const size = flat.length / shape[0];
        return nest(flat.subarray(i * size, (i + 1) * size), shape.slice(1));
      });
  const call = eval(source);
  const found = cases.map(({ arrays, options }) => {
    const inputs = {};
    for (const [name, shape, first, size, boolean] of arrays) {
      const array = nest(all.subarray(first, first + size), shape);
      inputs[name] = boolean ? array.map((row) => row.map(Boolean)) : array;
    }
    return [call({ ...inputs, ...options })].flat(Infinity).map(Number);
  });
  const results = new Uint8Array(Float64Array.from(found.flat()).buffer);
  let text = "";
  for (let i = 0; i < results.length; i += 32768) {
    text += String.fromCharCode(...results.subarray(i, i + 32768));
  }
  return [btoa(text), found.map((row) => row.length)];
}
"""

Case = Mapping[str, Any]


class Script:
    """A blank page with the scripts of the mathematics and of the model.

    Parameters
    ----------
    page : playwright.sync_api.Page
        An empty tab.
    changed : dict of str to (str, str)
        For a script: a piece of its text, and what to write there, to see that a test fails.
    """

    def __init__(self, page: Any, changed: Mapping[str, tuple[str, str]] | None = None) -> None:
        self.page = page
        for name in SCRIPTS:
            text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
            if changed and name in changed:
                old, new = changed[name]
                assert text.count(old) == 1, old
                text = text.replace(old, new)
            page.add_script_tag(content=text)
        page.add_script_tag(content=weights_script(trained_model()))

    def call(self, source: str, cases: Sequence[Case]) -> list[np.ndarray]:
        """Return the numbers that a function in JavaScript computes from each case, as one row.

        `source` takes an object with the arrays and other arguments of a case by name.
        """
        numbers: list[np.ndarray] = []
        described = []
        first = 0
        for case in cases:
            arrays = {name: a for name, a in case.items() if isinstance(a, np.ndarray)}
            rows = []
            for name, array in arrays.items():
                rows.append([name, array.shape, first, array.size, array.dtype == bool])
                numbers.append(array.astype(float).ravel())
                first += array.size
            options = {name: value for name, value in case.items() if name not in arrays}
            described.append({"arrays": rows, "options": options})
        blob = base64.b64encode(np.concatenate(numbers or [np.empty(0)]).tobytes()).decode()
        text, sizes = self.page.evaluate(CALL, [source, blob, described])
        flat = np.frombuffer(base64.b64decode(text))
        return np.split(flat, np.cumsum(sizes)[:-1])
