"""attn_lib passes the test cases that the ONNX project ships for its operator Attention.

Both the inputs and the expected outputs come from ONNX. It is imported where it is used: importing
it takes nearly a second, which every process that collects tests would spend.
"""

from functools import cache, partial

import ml_dtypes
import numpy as np
import pytest

from attn_lib import combine_masks, padding_mask, scaled_dot_product_attention
from attn_lib.masks import additive_mask, sliding_window_mask
from attn_lib.streaming import BlockSizes, stream
from tests.in_one_test import in_one_test

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")


@cache
def onnx_cases():
    # onnx's collect_testcases would run the generators of every operator, with warnings, for 17 s.
    from onnx.backend.test.case import node
    from onnx.backend.test.case.node import attention  # noqa: F401  which fills the list

    # ONNX also ships each case expanded: the same numbers, with simpler operators in its place.
    return [c for c in node._NodeTestCases if node_of(c).op_type == "Attention"]


def node_of(case):
    return case.model.graph.node[0]


def onnx_attention(node, arrays, **options):
    """Return the outputs that an ONNX Attention node requests, as {name: array}."""
    import onnx

    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    arrays = iter(arrays)
    given = {name: next(arrays) for name, used in zip(INPUTS, node.input, strict=False) if used}
    dtype = given["Q"].dtype
    computing = computing_type(dtype, attributes.get("softmax_precision"))
    given = {n: a.astype(computing) if a.dtype == dtype else a for n, a in given.items()}

    q, k, v = given["Q"], given["K"], given["V"]
    if q.ndim == 3:
        q = split_heads(q, attributes["q_num_heads"])
        k, v = (split_heads(a, attributes["kv_num_heads"]) for a in (k, v))
    if "past_key" in given:
        k = np.concatenate([given["past_key"], k], axis=-2)
        v = np.concatenate([given["past_value"], v], axis=-2)
    masks = masking(q.shape[-2], k.shape[-2], given, attributes)
    options |= {
        "scale": attributes.get("scale"),
        "softcap": attributes.get("softcap") or None,
        "enable_gqa": q.shape[1] != k.shape[1],
    }

    outputs = {"present_key": k, "present_value": v}
    if "qk_matmul_output" in asked_for(node):
        unmasked = scaled_dot_product_attention(q, k, v, **options, return_trace=True)
        trace = scaled_dot_product_attention(q, k, v, **options, **masks, return_trace=True)
        modes = (unmasked.scaled, unmasked.masked, trace.masked, trace.weights)
        outputs["qk_matmul_output"] = modes[attributes.get("qk_matmul_output_mode", 0)]
        y = trace.output
    else:
        y = scaled_dot_product_attention(q, k, v, **options, **masks)
    outputs["Y"] = y if given["Q"].ndim == 4 else merge_heads(y)
    return {name: outputs[name].astype(dtype) for name in asked_for(node)}


def masking(n_q, n_k, given, attributes):
    """Return arguments for attn_lib that mask as the node does."""
    left, right = (attributes.get(side, -1) for side in ("left_window_size", "right_window_size"))
    left, right = (None if size == -1 else size for size in (left, right))
    is_causal = bool(attributes.get("is_causal"))
    offset = given["past_key"].shape[-2] if "past_key" in given else 0
    allowed = []
    if "nonpad_kv_seqlen" in given:
        lengths = given["nonpad_kv_seqlen"][:, None]  # (batch, 1): the same for every head
        offset = lengths - n_q
        allowed.append(padding_mask(lengths, n_k))

    arguments = {}
    alignments = {0: "top-left", n_k - n_q: "bottom-right"}
    if is_causal and isinstance(offset, int) and offset in alignments:
        arguments = {"is_causal": True, "causal_alignment": alignments[offset]}
    elif is_causal:
        right = 0
    if (left, right) != (None, None):
        allowed.append(sliding_window_mask(n_q, n_k, left, right, offset=offset))

    mask = given.get("attn_mask")
    if mask is not None:
        missing = [(0, 0)] * (mask.ndim - 1) + [(0, n_k - mask.shape[-1])]
        mask = np.pad(mask, missing, constant_values=False if mask.dtype == bool else -np.inf)
        if mask.dtype == bool:
            allowed.append(mask)
            mask = None
    if allowed:
        together = combine_masks(*allowed)
        mask = together if mask is None else mask + additive_mask(together, mask.dtype)
    return arguments | {"mask": mask}


def computing_type(dtype, softmax_precision):
    """Return the wider of the two types; NumPy has no bfloat16, but float32 contains it."""
    from onnx.helper import tensor_dtype_to_np_dtype

    types = {dtype}
    if softmax_precision is not None:
        types.add(tensor_dtype_to_np_dtype(softmax_precision))
    return np.result_type(*(np.float32 if t == ml_dtypes.bfloat16 else t for t in types))


def split_heads(x, heads):
    """(batch, n, heads * d) -> (batch, heads, n, d)."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def merge_heads(x):
    """(batch, heads, n, d) -> (batch, n, heads * d)."""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def asked_for(node):
    return [name for name, used in zip(OUTPUTS, node.output, strict=False) if used]


# ONNX's reference rounds to the type of the inputs after every step; attn_lib computes in
# float32 or better and rounds once. The largest differences observed, in units of
# eps * (1 + |x|), are 1.3 in float32 and 0.34 in the 16-bit types. Three times that is allowed.
TOLERANCE = {
    np.dtype(np.float32): 4 * 2.0**-23,
    np.dtype(np.float16): 2.0**-10,
    np.dtype(ml_dtypes.bfloat16): 2.0**-7,
}


@pytest.mark.parametrize("method", ["dense", "streaming"])
def test_outputs_match_onnx(method, monkeypatch):
    # The cases are small, so blocks must be very small for the streaming form to merge several.
    in_small_blocks = partial(stream, blocks=BlockSizes(queries=3, keys=2))
    monkeypatch.setattr("attn_lib.attention.stream", in_small_blocks)

    def check_case(case):
        node = node_of(case)
        [(inputs, expected)] = case.data_sets
        outputs = onnx_attention(node, inputs, method=method)
        for name, onnx_output in zip(asked_for(node), expected, strict=True):
            ours = outputs[name]
            assert (ours.shape, ours.dtype) == (onnx_output.shape, onnx_output.dtype), name
            tolerance = TOLERANCE[onnx_output.dtype]
            np.testing.assert_allclose(
                *(a.astype(np.float64) for a in (ours, onnx_output)),
                rtol=tolerance,
                atol=tolerance,
                err_msg=name,
            )

    cases = onnx_cases()
    if method == "streaming":  # it has no scores to return
        cases = [case for case in cases if "qk_matmul_output" not in asked_for(node_of(case))]
        assert len(cases) > 70
    in_one_test("case", cases, ids=lambda case: case.name)(check_case)()


def test_all_cases_are_run():
    from onnx.backend.test.case.node.attention import Attention

    generators = [name for name in vars(Attention) if name.startswith("export")]
    assert len(onnx_cases()) == len(generators) >= 93
