"""Attention in blocks: the same numbers as the dense form, without its n_q × n_k weights.

Each block of keys adds to a running sum of exponentials and a running mixture of values, and
only their ratio is kept at the end. Two things keep the exponentials in range:

- When no score can be large, they are taken as they are. By the Cauchy-Schwarz inequality
  ``|q·k| ≤ ‖q‖‖k‖``, so the longest query and the longest key bound every score.
- Otherwise each row carries the largest score seen so far, and what was summed before a
  larger one came is rescaled (the online softmax).

Blocks of queries do not depend on each other and run on all cores.

References
----------
Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3.
Rabe and Staats 2021, "Self-attention Does Not Need O(n²) Memory".
Dao et al. 2022, "FlashAttention", section 3.1 and algorithm 1.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib._parallel import run_on_all_cores
from attn_lib._scores import cap_scores, mask_scores
from attn_lib.masks import sliding_window_mask

Array = NDArray[np.floating]
Heads = tuple[int | slice, ...]  # one index for each batch axis, a slice for the last
Task = tuple[Heads, slice]

# exp(±40) is about 10^±17. With up to 10^6 keys and values up to 10^15 in size, sums of such
# terms stay below float32's 3·10^38, and terms of values down to 10^-15 above its 10^-38.
LARGEST_BARE_SCORE = 40.0
BARE_VALUES = (1e-15, 1e15)
# Finding the longest query and key pays when each is compared with many others.
FEWEST_POSITIONS_FOR_A_BOUND = 256


class BlockSizes(NamedTuple):
    """How many queries and keys are compared at a time; few queries leave room for more keys."""

    queries: int
    keys: int


BLOCKS = BlockSizes(queries=256, keys=512)  # as fast as any in benchmarks/attention.py


def stream(
    q: Array,
    k: Array,
    v: Array,
    *,
    scale: float,
    softcap: float | None = None,
    mask: NDArray[Any] | None = None,
    causal_offset: int | None = None,
    blocks: BlockSizes = BLOCKS,
) -> Array:
    """Return attention's output, computed block by block.

    Parameters
    ----------
    q, k, v : ndarray of one float type, (*batch, n_q, d_k), (*batch, n_k, d_k), (*batch, n_k, d_v)
        float32 or float64, with batch axes that broadcast.
    scale : float
        Factor on the raw scores.
    softcap : float, optional
        See `attn_lib.scaled_dot_product_attention`.
    mask : ndarray of bool or float, broadcastable to (*batch, n_q, n_k), optional
        True where attention is allowed, or numbers to add to the scores.
    causal_offset : int, optional
        Query i may attend to key j when ``j <= i + causal_offset``.
    blocks : BlockSizes
        Larger blocks mean fewer calls, smaller ones fit into a core's cache.

    Returns
    -------
    ndarray, shape (*batch, n_q, d_v)

    Examples
    --------
    >>> q = np.array([[2.0, 1.0]])
    >>> k = np.array([[2.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
    >>> v = np.array([[10.0, 0.0], [0.0, 8.0], [1.0, 1.0]])
    >>> stream(q, k, v, scale=2**-0.5, blocks=BlockSizes(queries=1, keys=2)).round(4)
    array([[8.8291, 0.8582]])
    """
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    n_q, n_k, d_v = q.shape[-2], k.shape[-2], v.shape[-1]
    bare = softcap is None and _bare_exponentials_are_safe(q, k, v, scale, mask)
    output = np.zeros((*batch, n_q, d_v), q.dtype)
    # A task costs some overhead: few queries take more keys at a time, and short sequences
    # are taken several at a time.
    room = blocks.queries * blocks.keys
    rows = max(1, min(blocks.queries, n_q))
    keys = max(1, min(room // rows, n_k))
    heads = max(1, room // (rows * keys))
    call = _Call(
        q=_spread(q * q.dtype.type(scale), batch),
        k=_spread(k, batch),
        v=_spread(v, batch),
        mask=None if mask is None else _spread(np.broadcast_to(mask, (*batch, n_q, n_k)), batch),
        causal_offset=causal_offset,
        softcap=softcap,
        key_block=keys,
        bare=bare,
        output=_without_ones(output),
    )
    *outer, n_heads = call.output.shape[:-2]
    run_on_all_cores(
        call.attend,
        [
            ((*index, slice(head, head + heads)), slice(first, min(first + rows, n_q)))
            # Last queries first: under a causal mask they have the most keys.
            for first in reversed(range(0, n_q, rows))
            for index in np.ndindex(*outer)
            for head in range(0, n_heads, heads)
        ],
    )
    return output


@dataclass(frozen=True)
class _Call:
    """The inputs of one call, spread to the same batch axes, and the output it fills in."""

    q: Array  #: (..., H, n_q, d_k), already scaled
    k: Array  #: (..., H, n_k, d_k)
    v: Array  #: (..., H, n_k, d_v)
    mask: NDArray[Any] | None  #: (..., H, n_q, n_k) or with axes of length 1
    causal_offset: int | None
    softcap: float | None
    key_block: int
    bare: bool  #: exponentiate the scores as they are
    output: Array  #: (..., H, n_q, d_v)
    buffers: threading.local = field(default_factory=threading.local)

    def attend(self, task: Task) -> None:
        """Fill in the output for some heads and a block of queries."""
        heads, queries = task
        q = self.q[*heads, queries]  # (H, n, d_k)
        output = self.output[*heads, queries]  # (H, n, d_v)
        weighted = np.zeros_like(output)
        row_sum = np.zeros((*q.shape[:2], 1), q.dtype)
        row_max = np.full_like(row_sum, -np.inf)
        n_k = self.k.shape[-2]
        if self.causal_offset is not None:
            n_k = min(n_k, max(0, queries.stop + self.causal_offset))
        for first in range(0, n_k, self.key_block):
            keys = slice(first, min(first + self.key_block, n_k))
            scores = self.scores(q, heads, queries, keys)  # (H, n, key_block)
            if not self.bare:
                new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
                shift = np.where(np.isneginf(new_max), 0, new_max)
                rescale = np.exp(row_max - shift)
                row_sum *= rescale
                weighted *= rescale
                scores -= shift
                row_max = new_max
            exponentials = np.exp(scores, out=scores)
            row_sum += exponentials @ np.ones((scores.shape[-1], 1), scores.dtype)
            weighted += exponentials @ self.v[*heads, keys]
        np.divide(weighted, row_sum, out=output, where=row_sum != 0)

    def scores(self, q: Array, heads: Heads, queries: slice, keys: slice) -> Array:
        """Compare a block of queries with a block of keys; cap and mask the scores."""
        scores = self.buffer((*q.shape[:2], keys.stop - keys.start))
        np.matmul(q, self.k[*heads, keys].swapaxes(-1, -2), out=scores)
        if self.softcap is not None:
            cap_scores(scores, self.softcap)
        if self.mask is not None:
            mask_scores(scores, self.mask[*heads, queries, keys])
        if self.causal_offset is not None:
            offset = queries.start + self.causal_offset - keys.start
            mixed = max(0, offset + 1)  # the whole block of queries may see the keys before
            if mixed < scores.shape[-1]:
                shape = (scores.shape[-2], scores.shape[-1] - mixed)
                allowed = sliding_window_mask(*shape, left=None, right=0, offset=offset - mixed)
                mask_scores(scores[..., mixed:], allowed)
        return scores

    def buffer(self, shape: tuple[int, ...]) -> Array:
        """Memory that each thread uses again for every block of this call."""
        size = math.prod(shape)
        memory = getattr(self.buffers, "memory", None)
        if memory is None or memory.size < size:
            memory = self.buffers.memory = np.empty(size, self.q.dtype)
        return memory[:size].reshape(shape)


def _spread(array: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """Give an array all batch axes, as a view that cannot be written to."""
    return _without_ones(np.broadcast_to(array, (*batch, *array.shape[-2:])))


def _without_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Leave out the batch axes of length 1, so that short sequences can share a block."""
    ones = tuple(axis for axis, length in enumerate(array.shape[:-2]) if length == 1)
    array = np.squeeze(array, axis=ones)
    return array if array.ndim > 2 else array[None]


def _bare_exponentials_are_safe(
    q: Array, k: Array, v: Array, scale: float, mask: NDArray[Any] | None
) -> bool:
    """Whether no exponential of a score, and no sum of them, can leave float32's range."""
    if min(q.shape[-2], k.shape[-2]) < FEWEST_POSITIONS_FOR_A_BOUND or 0 in (q.size, v.size):
        return False
    if mask is not None and mask.dtype.kind != "b":
        return False
    largest_score = abs(scale) * math.sqrt(_largest_square(q)) * math.sqrt(_largest_square(k))
    largest_value = max(float(v.max()), -float(v.min()))
    low, high = BARE_VALUES
    return largest_score <= LARGEST_BARE_SCORE and (
        largest_value == 0 or low <= largest_value <= high
    )


def _largest_square(vectors: Array) -> float:
    """Return the largest squared length among the vectors, which lie along the last axis."""
    return float(np.vecdot(vectors, vectors).max())
