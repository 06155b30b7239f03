"""The model imports only NumPy, the standard library and the mathematics of attn_lib."""

import ast
import sys

#: The modules outside attn_lib.model that it may import from the library.
MATHEMATICS = {
    *("attn_lib._arguments", "attn_lib._arrays", "attn_lib._steps"),
    *("attn_lib.attention", "attn_lib.backward"),
    *("attn_lib.estimates", "attn_lib.masks", "attn_lib.multihead", "attn_lib.softmax"),
}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module


def test_the_model_imports_only_the_mathematics(root):
    files = sorted((root / "attn_lib" / "model").glob("*.py"))
    assert len(files) > 10
    for file in files:
        for name in imported(file):
            package = name.partition(".")[0]
            if package == "attn_lib":
                assert name in MATHEMATICS or name.startswith("attn_lib.model"), (file, name)
            else:
                assert package in {"numpy", "__future__", *sys.stdlib_module_names}, (file, name)
