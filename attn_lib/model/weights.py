"""Saving a model to a file, loading it, and the trained model of the course."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from attn_lib.model.transformer import Config, Transformer

#: The committed weights; `python -m attn_lib.model.train` writes them.
PATH = Path(__file__).with_name("trained.npz")


def save(model: Transformer, path: Path | str) -> None:
    """Write a model's sizes and numbers to a file.

    Parameters
    ----------
    model : Transformer
    path : path
        Has to end in ``.npz``. The same model always gives the same bytes.

    Raises
    ------
    ValueError
        If the path does not end in ``.npz``; NumPy would append it.

    Examples
    --------
    >>> import tempfile
    >>> from attn_lib.model import initialise
    >>> model = initialise(Config(n_words=49), seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "new.npz")
    ...     load(Path(folder) / "new.npz").size == model.size
    True
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"save: expected a path that ends in .npz, got {path}.")
    config = np.array(json.dumps(model.config._asdict()))
    arrays: dict[str, Any] = {"config": config, **model.parameters}
    np.savez_compressed(path, **arrays)


def load(path: Path | str) -> Transformer:
    """Return the model that `save` wrote to a file.

    Parameters
    ----------
    path : path

    Returns
    -------
    Transformer

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file does not contain a model.
    """
    with np.load(path, allow_pickle=False) as arrays:
        if "config" not in arrays:
            raise ValueError(
                f"load: expected a model's weights, got {path} without a config; "
                "write it with attn_lib.model.save."
            )
        parameters = {name: arrays[name] for name in arrays.files if name != "config"}
        return Transformer(Config(**json.loads(str(arrays["config"]))), parameters)


@cache
def _trained_model() -> Transformer:
    # In Colab attn_lib is imported from its wheel, so the weights are inside a zip file.
    with as_file(files(__package__) / PATH.name) as path:
        model = load(path)
    for array in model.parameters.values():
        array.flags.writeable = False
    return model


def trained_model() -> Transformer:
    """Return the course's trained model.

    Returns
    -------
    Transformer
        The same object at each call. Its arrays are read-only: copy those you want to change.

    Examples
    --------
    >>> trained_model().size
    12064
    """
    return _trained_model()
