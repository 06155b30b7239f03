"""How a mistake in one step changes what is computed from that step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from attn_lib.attention import scaled_dot_product_attention
from attn_lib.course.mistakes.core import Function, Mistake, catalogue
from attn_lib.course.targets import (
    masked_attention,
    masked_scores,
    masked_softmax,
    merge_heads,
    scaled_scores,
    softmax_backward,
    split_heads,
    weights_gradient,
)
from attn_lib.masks import causal_mask, padding_mask
from attn_lib.multihead import multi_head_attention
from attn_lib.softmax import softmax


def _square_causal(q):
    return causal_mask(np.shape(q)[-2], np.shape(q)[-2])


def _padding(k, lengths):
    return padding_mask(lengths, np.shape(k)[-2])


def _multi_head(attend=scaled_dot_product_attention, split=split_heads, merge=merge_heads):
    def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
        q, k, v = (split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        return merge(attend(q, k, v)) @ w_o

    return multi_head_attention


def _head_weights(attend=scaled_dot_product_attention, split=split_heads):
    def head_weights(x, w_q, w_k, n_heads, head):
        q, k = (split(x @ w, n_heads)[head] for w in (w_q, w_k))
        return attend(q, k, np.eye(len(k)))

    return head_weights


def _raw_score_gradient(
    grad_output,
    q,
    k,
    v,
    forward_scores=scaled_scores,
    forward_softmax=softmax,
    through_softmax=softmax_backward,
    through_mix=weights_gradient,
):
    weights = forward_softmax(forward_scores(q, k))
    return through_softmax(weights, through_mix(grad_output, v)) / np.sqrt(np.shape(q)[-1])


def _query_gradient(**steps):
    return lambda grad, q, k, v: _raw_score_gradient(grad, q, k, v, **steps) @ k


def _key_gradient(**steps):
    return lambda grad, q, k, v: (
        np.swapaxes(_raw_score_gradient(grad, q, k, v, **steps), -1, -2) @ q
    )


def _block(norm):
    def block(x, gain, bias, w_q, w_k, w_v, w_o, n_heads):
        normed = norm(x, gain, bias)
        mask = causal_mask(np.shape(x)[-2], np.shape(x)[-2])
        return x + multi_head_attention(normed, w_q, w_k, w_v, w_o, n_heads=n_heads, mask=mask)

    return block


#: For each target, its steps by name, each with a function that takes a replacement for this step
#: and returns the target computed with it. Given a wrong step, it returns the wrong target.
STEPS: dict[str, list[tuple[str, Callable[[Function], Function]]]] = {
    "scaled_scores": [
        ("score_matrix", lambda step: lambda q, k: step(q, k) / np.sqrt(np.shape(q)[-1])),
    ],
    "attention": [
        ("scaled_scores", lambda step: lambda q, k, v: softmax(step(q, k)) @ v),
        ("softmax", lambda step: lambda q, k, v: step(scaled_scores(q, k)) @ v),
    ],
    "attention_formula": [("attention", lambda step: step)],
    "score_sd": [("score_variance", lambda step: lambda *sizes: np.sqrt(step(*sizes)))],
    "scale_for": [("score_sd", lambda step: lambda *sizes: np.float64(1) / step(*sizes))],
    "tempered_softmax": [
        ("softmax", lambda step: lambda scores, temperature: step(scores / temperature)),
    ],
    "log_softmax": [
        ("log_sum_exp", lambda step: lambda scores: scores - step(scores)[..., None]),
    ],
    "mean_largest_weight": [
        ("softmax", lambda step: lambda scores: step(scores).max(axis=-1).mean()),
    ],
    "cross_entropy_gradient": [
        ("softmax", lambda step: lambda scores, label: step(scores) - np.eye(len(scores))[label]),
    ],
    "softmax_jacobian_norm": [
        (
            "softmax_jacobian",
            lambda step: lambda weights: np.linalg.norm(step(weights), axis=(-2, -1)),
        ),
    ],
    "softmax_backward": [
        (
            "softmax_jacobian",
            lambda step: lambda weights, grad: (step(weights) @ grad[..., None])[..., 0],
        ),
    ],
    "combined_mask": [
        ("causal_mask", lambda step: lambda lengths, n: step(n, n) & padding_mask(lengths, n)),
        ("padding_mask", lambda step: lambda lengths, n: causal_mask(n, n) & step(lengths, n)),
    ],
    "masked_scores": [
        ("additive_mask", lambda step: lambda scores, mask: scores + step(mask)),
    ],
    "masked_softmax": [
        ("masked_scores", lambda step: lambda scores, mask: softmax(step(scores, mask))),
        ("softmax", lambda step: lambda scores, mask: step(masked_scores(scores, mask))),
    ],
    "masked_attention": [
        ("masked_softmax", lambda step: lambda q, k, v, mask: step(scaled_scores(q, k), mask) @ v),
        (
            "scaled_scores",
            lambda step: lambda q, k, v, mask: masked_softmax(step(q, k), mask) @ v,
        ),
    ],
    "causal_attention": [
        (
            "causal_mask",
            lambda step: (
                lambda q, k, v: masked_attention(q, k, v, step(np.shape(q)[-2], np.shape(k)[-2]))
            ),
        ),
        ("masked_attention", lambda step: lambda q, k, v: step(q, k, v, _square_causal(q))),
    ],
    "cached_attention": [
        (
            "cached_causal_mask",
            lambda step: (
                lambda q, k, v: masked_attention(q, k, v, step(np.shape(q)[-2], np.shape(k)[-2]))
            ),
        ),
        (
            "masked_attention",
            lambda step: (
                lambda q, k, v: step(
                    q, k, v, causal_mask(np.shape(q)[-2], np.shape(k)[-2], "bottom-right")
                )
            ),
        ),
    ],
    "padded_attention": [
        (
            "padding_mask",
            lambda step: (
                lambda q, k, v, lengths: masked_attention(q, k, v, step(lengths, np.shape(k)[-2]))
            ),
        ),
        (
            "masked_attention",
            lambda step: lambda q, k, v, lengths: step(q, k, v, _padding(k, lengths)),
        ),
    ],
    "attention_flops": [
        (
            "score_flops",
            lambda step: (
                lambda n_q, n_k, d_k, d_v, heads: (
                    heads * (step(n_q, n_k, d_k) + step(n_q, n_k, d_v))
                )
            ),
        ),
    ],
    "streaming_attention": [("attention", lambda step: lambda q, k, v, block: step(q, k, v))],
    "multi_head_attention": [
        ("attention", lambda step: _multi_head(attend=step)),
        ("split_heads", lambda step: _multi_head(split=step)),
        ("merge_heads", lambda step: _multi_head(merge=step)),
    ],
    "head_weights": [
        ("attention", lambda step: _head_weights(attend=step)),
        ("split_heads", lambda step: _head_weights(split=step)),
    ],
    "block": [("layer_norm", lambda step: _block(norm=step))],
    "query_gradient": [
        ("scaled_scores", lambda step: _query_gradient(forward_scores=step)),
        ("softmax", lambda step: _query_gradient(forward_softmax=step)),
        ("softmax_backward", lambda step: _query_gradient(through_softmax=step)),
        ("weights_gradient", lambda step: _query_gradient(through_mix=step)),
    ],
    "key_gradient": [
        ("scaled_scores", lambda step: _key_gradient(forward_scores=step)),
        ("softmax", lambda step: _key_gradient(forward_softmax=step)),
        ("softmax_backward", lambda step: _key_gradient(through_softmax=step)),
        ("weights_gradient", lambda step: _key_gradient(through_mix=step)),
    ],
}


def appearances(target: str) -> Iterator[tuple[Mistake, Function]]:
    """Yield each mistake that can appear at `target`, with the wrong function it leads to.

    Parameters
    ----------
    target : str
        A key of `TARGETS`. Besides the mistakes that imitate it, those in its steps appear,
        each in one form.

    Raises
    ------
    ValueError
        If there is no such target.

    Examples
    --------
    >>> "softmax-over-everything" in [mistake.id for mistake, _ in appearances("attention")]
    True
    """
    found: dict[str, tuple[Mistake, Function]] = {}
    for mistake, wrong in _forms(target):
        found.setdefault(mistake.id, (mistake, wrong))
    yield from found.values()


def spellings(target: str) -> Iterator[tuple[Mistake, Function]]:
    """Yield the appearances at `target`, and other ways to write the mistakes that imitate it.

    Parameters
    ----------
    target : str
        A key of `attn_lib.course.targets.TARGETS`.

    Examples
    --------
    >>> [mistake.id for mistake, _ in spellings("softmax")].count("softmax-over-queries")
    2
    """
    yield from appearances(target)
    yield from ((mistake, mistake.also) for mistake in catalogue(target) if mistake.also)


def _forms(target: str) -> Iterator[tuple[Mistake, Function]]:
    for mistake in catalogue(target):
        yield mistake, mistake.wrong
    if target == "scaled_scores":
        for mistake in catalogue():
            if mistake.scaled:
                yield mistake, mistake.scaled
    for step, with_step in STEPS.get(target, ()):
        for mistake, wrong in appearances(step):
            yield mistake, with_step(wrong)
