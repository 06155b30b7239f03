"""Training with the causal mask and without it."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib.model.parts import RIGHT
from attn_lib.model.training import CONFIG, Training, train_model
from attn_lib.model.transformer import Transformer, initialise
from attn_lib.model.weights import load

#: The model that was trained without the mask; `python -m attn_lib.model.trials` writes it.
PATH = Path(__file__).with_name("unmasked.npz")
SEED = 0
STEPS = 600
#: Batches over which recorded losses are averaged.
EVERY = 50
#: How many losses are recorded one by one, to be compared with those of a new training.
FIRST = 3


class MaskTrial(NamedTuple):
    """The losses of one training."""

    masked: bool  #: whether the future was hidden
    first_losses: list[float]  #: of the first batches
    losses: list[float]  #: mean of every 50 batches


def _all_allowed(n_q: int, n_k: int) -> NDArray[np.bool_]:
    return np.ones((n_q, n_k), dtype=np.bool_)


#: The parts of a model in which no word is hidden from another; padding is.
UNMASKED = RIGHT._replace(causal_mask=_all_allowed, cached_causal_mask=_all_allowed)


def mask_trial(masked: bool, steps: int = STEPS) -> tuple[MaskTrial, Training]:
    """Train a model and return its losses.

    Parameters
    ----------
    masked : bool
        Whether the future is hidden.
    steps : int
        Number of batches.

    Returns
    -------
    MaskTrial
    Training
    """
    training = train_model(
        initialise(CONFIG, SEED), SEED, steps=steps, parts=RIGHT if masked else UNMASKED
    )
    losses = training.losses
    means = [float(losses[i : i + EVERY].mean()) for i in range(0, steps, EVERY)]
    return MaskTrial(masked, losses[:FIRST].tolist(), means), training


@cache
def unmasked_model() -> Transformer:
    """Return the model that was trained without the causal mask.

    Returns
    -------
    Transformer
        The same object at each call. Its arrays are read-only.

    Examples
    --------
    >>> from attn_lib.model import generate
    >>> generate(unmasked_model(), "the cats", 4).text
    'the cats the robots the cats'
    """
    # In Colab attn_lib is imported from its wheel, so the weights are inside a zip file.
    with as_file(files(__package__) / PATH.name) as path:
        model = load(path)
    for array in model.parameters.values():
        array.flags.writeable = False
    return model
