"""In attn_lib the mathematics imports only itself, and private names stay within their module."""

from __future__ import annotations

import ast
from pathlib import Path

import attn_lib

PACKAGE = Path(attn_lib.__file__).parent
MATHEMATICS = {
    *("_arguments", "_arrays", "_parallel", "_steps"),
    *("attention", "masks", "softmax", "streaming", "backward", "multihead", "additive"),
    *("complexity", "experiments", "estimates", "training"),
}


def imported(path: Path) -> set[tuple[str, str]]:
    """Return all imports of a file from attn_lib, as pairs of a module and a name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found |= {(str(node.module), alias.name) for alias in node.names}
    return {(module, name) for module, name in found if module.partition(".")[0] == "attn_lib"}


def test_the_mathematics_imports_only_itself():
    allowed = {f"attn_lib.{module}" for module in MATHEMATICS}
    for module in MATHEMATICS:
        used = {source for source, _ in imported(PACKAGE / f"{module}.py")}
        assert used <= allowed, module


def test_no_module_imports_private_names_of_another():
    files = list(PACKAGE.rglob("*.py"))
    pairs = [(path, *pair) for path in files for pair in imported(path)]
    assert len(pairs) > len(files)
    private = [
        (str(path), module, name)
        for path, module, name in pairs
        # A private module may be used by the modules in its folder, and so may its names.
        if name.startswith("_") and not (PACKAGE.parent / module.replace(".", "/")).is_dir()
    ]
    assert private == []
