"""Attention in blocks: the same numbers as the dense form, without its n_q × n_k weights.

Each block of keys adds to a running sum of exponentials and a running mixture of values; the
output is their ratio at the end. There are two ways to keep the exponentials in range:

- If no score can be large, nothing is subtracted from the scores. By the Cauchy-Schwarz
  inequality ``|q·k| ≤ ‖q‖‖k‖``, so the longest query and the longest key bound every score.
- Otherwise each row keeps the largest score so far. When a larger one comes, the running sum
  and mixture are rescaled (the online softmax).

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
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_lib._parallel import run_on_all_cores
from attn_lib._steps import cap_scores, mask_scores
from attn_lib.masks import sliding_window_mask

Array = NDArray[np.floating]
Heads = tuple[int | slice, ...]  # one index for each batch axis, a slice for the last
Task = tuple[Heads, slice]

# exp(±40) is about 10^±17. With up to 10^6 keys and values of a size up to 10^15, sums of such
# terms stay below the largest float32, 3·10^38. With values down to 10^-15, the terms stay above
# the smallest, 10^-38.
MAX_BARE_SCORE = 40.0
BARE_VALUES = (1e-15, 1e15)
# Finding the longest query and key is worth its cost only if each key meets many queries.
MIN_QUERIES_FOR_A_BOUND = 64
# OpenBLAS has special code for small matrices, which is fastest if neither is transposed. For
# those products a transposed copy of the keys is worth its cost.
MAX_SMALL_PRODUCT = 10**6  # multiplications
MIN_QUERIES_FOR_A_COPY = 64


class BlockSizes(NamedTuple):
    """Number of queries and of keys in a block; with fewer queries, a block takes more keys."""

    queries: int  #: in a block
    keys: int  #: in a block


# 512 KB of float32, which a core's cache holds; as fast as any in benchmarks/attention.py.
BLOCKS = BlockSizes(queries=512, keys=256)
# With fewer tasks than this, blocks take half as many queries, so that all cores have some.
MIN_TASKS = 16
# Keys in a block on the diagonal of a causal mask: fewer scores are computed in vain.
DIAGONAL_KEYS = 128


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
    output = np.empty((*batch, n_q, d_v), q.dtype)
    filled_in = _without_ones(output)
    *outer, n_heads = filled_in.shape[:-2]
    # Each task has some overhead. So with few queries a block takes more keys, and with short
    # sequences a task takes several heads, about equally many in each task.
    room = blocks.queries * blocks.keys
    rows = queries_in_a_block(math.prod(batch), n_q, blocks)
    keys = max(1, min(room // rows, n_k))
    groups = math.ceil(n_heads / max(1, room // (rows * max(keys, q.shape[-1], d_v))))
    heads = math.ceil(n_heads / groups) if groups else 1
    call = _Call(
        q=_spread(q, batch),
        k=_spread(k, batch),
        v=_spread(v, batch),
        scale=q.dtype.type(scale),
        mask=None if mask is None else _spread(np.broadcast_to(mask, (*batch, n_q, n_k)), batch),
        causal_offset=causal_offset,
        softcap=softcap,
        key_block=keys,
        output=filled_in,
    )
    run_on_all_cores(
        call.attend,
        [
            ((*index, slice(head, head + heads)), slice(first, min(first + rows, n_q)))
            # The last queries come first, because under a causal mask they have the most keys.
            for first in reversed(range(0, n_q, rows))
            for index in np.ndindex(*outer)
            for head in range(0, n_heads, heads)
        ],
    )
    return output


def queries_in_a_block(n_heads: int, n_q: int, blocks: BlockSizes = BLOCKS) -> int:
    """Return how many queries of each head a task takes; n_heads counts those of all batches.

    Examples
    --------
    >>> queries_in_a_block(8, 1024), queries_in_a_block(1, 1024), queries_in_a_block(8, 100)
    (512, 256, 100)
    """
    rows = max(1, min(blocks.queries, n_q))
    if n_heads * math.ceil(n_q / rows) < MIN_TASKS:
        rows = min(rows, math.ceil(blocks.queries / 2))
    return rows


def key_blocks(
    queries: slice, n_k: int, key_block: int, causal_offset: int | None
) -> Iterator[tuple[slice, slice]]:
    """Yield the blocks of keys that meet a block of queries, and which of the queries meet each.

    Under a causal mask, keys after all queries are left out, and blocks on the diagonal are
    narrower: of a square of 512 queries and keys, 5/8 is computed, not all of it.

    Parameters
    ----------
    queries : slice
    n_k : int
        The number of keys.
    key_block : int
        The largest number of keys in a block.
    causal_offset : int or None
        See `stream`.

    Yields
    ------
    seeing : slice
        The queries that may see any of the keys, counted from the first query of the block.
    keys : slice

    Examples
    --------
    >>> [keys for _, keys in key_blocks(slice(512, 768), 1024, 256, None)]
    [slice(0, 256, None), slice(256, 512, None), slice(512, 768, None), slice(768, 1024, None)]
    >>> for seeing, keys in key_blocks(slice(512, 768), 1024, 256, 0):
    ...     print(seeing.start, keys.start, keys.stop)
    0 0 256
    0 256 512
    0 512 640
    128 640 768
    """
    diagonal, first = n_k, 0
    if causal_offset is not None:
        n_k = min(n_k, max(0, queries.stop + causal_offset))
        diagonal = queries.start + causal_offset
    while first < n_k:
        if first < diagonal:
            stop = min(first + key_block, diagonal, n_k)
        else:
            stop = min(first + min(key_block, DIAGONAL_KEYS), n_k)
        yield slice(max(0, first - diagonal), queries.stop - queries.start), slice(first, stop)
        first = stop


@dataclass(frozen=True)
class _Call:
    """The inputs of one call, broadcast to the same batch axes, and the output to fill in."""

    q: Array  #: (..., H, n_q, d_k)
    k: Array  #: (..., H, n_k, d_k)
    v: Array  #: (..., H, n_k, d_v)
    scale: np.floating
    mask: NDArray[Any] | None  #: (..., H, n_q, n_k) or with axes of length 1
    causal_offset: int | None
    softcap: float | None
    key_block: int
    output: Array  #: (..., H, n_q, d_v)
    bounds: dict[tuple[int | slice, ...], float] = field(default_factory=dict)
    causal_masks: dict[tuple[int, ...], NDArray[np.bool_]] = field(default_factory=dict)

    def attend(self, task: Task) -> None:
        """Fill in the output for some heads and a block of queries."""
        # A thread has its own error state. A weight of 0 times an infinite value is invalid.
        with np.errstate(invalid="ignore"):
            self.attend_in_blocks(*task)

    def attend_in_blocks(self, heads: Heads, queries: slice) -> None:
        q = self.q[*heads, queries]  # (H, n, d_k)
        q = np.multiply(q, self.scale, out=_memory("q", q.shape, q.dtype))
        all_output = self.output[*heads, queries]  # (H, n, d_v)
        bare = self.exponentials_are_safe(q, heads)
        all_sums = np.zeros((*q.shape[:2], 1), q.dtype)
        all_maxima = None if bare else np.full_like(all_sums, -np.inf)
        ones = np.ones((self.key_block, 1), q.dtype)
        n_k = self.k.shape[-2]
        for seeing, keys in key_blocks(queries, n_k, self.key_block, self.causal_offset):
            is_first = keys.start == 0
            output, row_sum = all_output[:, seeing], all_sums[:, seeing]
            scores = self.compare(q[:, seeing], heads, keys)  # (H, n, key_block)
            if all_maxima is None:
                exponentials = np.exp(scores, out=scores)
                for part, allowed in self.masks(heads, queries, seeing, keys):
                    # `exponentials[part] *= allowed` would copy the result to where it is already.
                    masked = exponentials[part]
                    masked *= allowed
            else:
                if self.softcap is not None:
                    cap_scores(scores, self.softcap)
                for part, allowed in self.masks(heads, queries, seeing, keys):
                    mask_scores(scores[part], allowed)
                row_max = all_maxima[:, seeing]
                new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
                shift = np.where(np.isneginf(new_max), 0, new_max)
                scores -= shift
                exponentials = np.exp(scores, out=scores)
                rescale = np.exp(row_max - shift)
                row_max[...] = new_max
                row_sum *= rescale
                if not is_first:
                    output *= rescale
            # Faster than `sum`.
            row_sum += exponentials @ ones[: keys.stop - keys.start]
            v = self.v[*heads, keys]  # (H, key_block, d_v)
            if is_first:
                np.matmul(exponentials, v, out=output)
            else:
                output += np.matmul(exponentials, v, out=_memory("mixed", output.shape, q.dtype))
        if not all_sums.all():
            nothing_allowed = all_sums == 0
            all_sums[nothing_allowed] = 1
            all_output[nothing_allowed[..., 0]] = 0
        all_output /= all_sums

    def compare(self, q: Array, heads: Heads, keys: slice) -> Array:
        """Return the scores of a block, in memory that this thread reuses for the next block."""
        k = self.k[*heads, keys].swapaxes(-1, -2)  # (H, d_k, key_block)
        scores = _memory("scores", (*q.shape[:2], k.shape[-1]), q.dtype)
        n, d_k = q.shape[-2:]
        if n >= MIN_QUERIES_FOR_A_COPY and n * d_k * k.shape[-1] <= MAX_SMALL_PRODUCT:
            copy = _memory("k", k.shape, q.dtype)
            np.copyto(copy, k)
            k = copy
        return np.matmul(q, k, out=scores)

    def exponentials_are_safe(self, q: Array, heads: Heads) -> bool:
        """Whether no exponential of a score, and no sum of them, can leave float32's range."""
        if self.q.shape[-2] < MIN_QUERIES_FOR_A_BOUND or self.softcap is not None:
            return False
        if self.mask is not None and self.mask.dtype.kind != "b":
            return False
        group = heads[-1]
        assert isinstance(group, slice)  # which is hashable from Python 3.12 on
        name = (*heads[:-1], group.start)
        if name not in self.bounds:  # if two threads get here, both compute the same number
            self.bounds[name] = self.longest_query(heads)
        return _longest(q) <= self.bounds[name]

    def longest_query(self, heads: Heads) -> float:
        """Return the largest length of a query with safe scores; -1 if the values are not safe."""
        v = self.v[*heads, :]
        largest_value = max(float(v.max(initial=0)), -float(v.min(initial=0)))
        low, high = BARE_VALUES
        if not (largest_value == 0 or low <= largest_value <= high):
            return -1.0
        longest_key = _longest(self.k[*heads, :])
        return MAX_BARE_SCORE / longest_key if longest_key else math.inf

    def masks(
        self, heads: Heads, queries: slice, seeing: slice, keys: slice
    ) -> Iterator[tuple[tuple[Any, ...], NDArray[Any]]]:
        """Yield each mask of a block of scores, with the part of the block that it applies to."""
        start = queries.start + seeing.start
        if self.mask is not None:
            yield (...,), self.mask[*heads, start : queries.stop, keys]
        if self.causal_offset is not None:
            last = start + self.causal_offset  # the last key that the first of the queries may see
            right = max(keys.start, last + 1)  # only keys from here on are hidden from any of them
            n_q = min(queries.stop - start, keys.stop - 1 - last)  # later queries see all keys
            n_k = keys.stop - right
            if n_q > 0 and n_k > 0:
                window = n_q, n_k, last - right
                if window not in self.causal_masks:
                    self.causal_masks[window] = sliding_window_mask(
                        n_q, n_k, left=None, right=0, offset=last - right
                    )
                yield (..., slice(n_q), slice(right - keys.start, None)), self.causal_masks[window]


#: Memory of each thread, reused for every block and every call.
_of_thread = threading.local()


def _memory(name: str, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """Return this thread's array of that name, whose entries are left from its last use."""
    size = math.prod(shape) * dtype.itemsize
    memory = getattr(_of_thread, name, None)
    if memory is None or memory.size < size:
        memory = np.empty(size, np.uint8)
        setattr(_of_thread, name, memory)
    return memory[:size].view(dtype).reshape(shape)


def _spread(array: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """Broadcast an array to all batch axes, as a read-only view."""
    return _without_ones(np.broadcast_to(array, (*batch, *array.shape[-2:])))


def _without_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Remove the batch axes of length 1, so that short sequences can share a block."""
    ones = tuple(axis for axis, length in enumerate(array.shape[:-2]) if length == 1)
    array = np.squeeze(array, axis=ones)
    return array if array.ndim > 2 else array[None]


def _longest(vectors: Array) -> float:
    """Return the largest length among the vectors, which lie along the last axis."""
    with np.errstate(over="ignore"):
        return math.sqrt(np.vecdot(vectors, vectors).max(initial=0))
