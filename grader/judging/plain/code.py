"""What the code of a plain test cell uses and defines, read without executing it."""

from __future__ import annotations

import ast
import copy
import dis
import inspect
from collections.abc import Iterator
from types import CodeType

from nbformat import NotebookNode

from attn_lib.course.notebooks.magics import is_python, without_magics

_LOADS = ("LOAD_NAME", "LOAD_GLOBAL")
#: Statements after which the names that they change have values.
_BINDS = (
    *(ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    ast.With,
)
_CHANGES = ("STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL")
#: Names and attributes through which a test looks at the kernel or at an object itself rather than
#: at what a function returns.
_LOOKS = frozenset(
    {
        *("globals", "locals", "vars", "dir", "id", "eval", "exec", "compile", "input", "hasattr"),
        *("getattr", "setattr", "delattr", "help", "get_ipython", "inspect", "gc", "sys"),
        *("doctest", "In", "Out", "_", "__", "___"),
    }
)
#: Attributes through which a test looks at where an array has its numbers, which a copy has
#: elsewhere, or for tests in the module ``__main__``, which outside is not the notebook.
_LOOKS_AT = frozenset({"shares_memory", "may_share_memory", "base", "flags", "main", "TestProgram"})


def names_used(source: str) -> set[str]:
    r"""Return the global names that a cell reads, also in its functions.

    Examples
    --------
    >>> sorted(names_used("a = f(b)\ndef g(c):\n    return h(c)"))
    ['b', 'f', 'h']
    >>> names_used("class A:\n    x = y\n    z = x")
    {'y'}
    """
    return {
        instruction.argval for instruction in _instructions(source) if instruction.opname in _LOADS
    }


def names_needed(source: str) -> set[str]:
    r"""Return the global names that a cell may read before it assigns or defines them itself.

    Examples
    --------
    >>> sorted(names_needed("a = f(b)\nfor c in a:\n    d = d + c"))
    ['b', 'd', 'f']
    """
    code, _ = without_magics(source)
    needed: set[str] = set()
    known: set[str] = set()
    for statement in ast.parse(code).body if is_python(code) else ():
        text = ast.unparse(statement)
        first = set()
        if isinstance(statement, ast.For):
            first = names_changed(f"{ast.unparse(statement.target)} = 0")
        needed |= names_used(text) - known - first
        if isinstance(statement, _BINDS):
            known |= names_changed(text)
    return needed


def names_used_in_functions(source: str) -> set[str]:
    r"""Return the global names that functions of a cell read when they are called.

    Examples
    --------
    >>> sorted(names_used_in_functions("a = f(b)\ndef g(c):\n    return h(c)"))
    ['h']
    """
    code = _compiled(source)
    return {
        instruction.argval
        for constant in (code.co_consts if code else ())
        if isinstance(constant, CodeType)
        for instruction in _all(constant)
        if instruction.opname in _LOADS
    }


def names_changed(source: str) -> set[str]:
    r"""Return the global names that a cell assigns, defines, imports or deletes.

    Examples
    --------
    >>> sorted(names_changed("import math as m\na = 1\ndel b\ndef f():\n    global c\n    c = 1"))
    ['a', 'b', 'c', 'f', 'm']
    >>> names_changed("class A:\n    x = 1\n    def f(self): pass")
    {'A'}
    """
    return {
        instruction.argval
        for instruction in _instructions(source)
        if instruction.opname in _CHANGES
    }


def names_made(source: str) -> set[str]:
    r"""Return the global names that a cell assigns or defines otherwise than by an import.

    Examples
    --------
    >>> sorted(names_made("import math as m\na = 1\ndef f():\n    import os"))
    ['a', 'f']
    """
    code, _ = without_magics(source)
    if not is_python(code):
        return set()
    return names_changed(ast.unparse(_WithoutImports().visit(ast.parse(code))))


def classes_in(source: str) -> set[str]:
    r"""Return the names of the classes that a cell defines at its top.

    Examples
    --------
    >>> classes_in("class Stack(list):\n    class Inner: pass\nx = 1")
    {'Stack'}
    """
    code, _ = without_magics(source)
    if not is_python(code):
        return set()
    return {node.name for node in ast.parse(code).body if isinstance(node, ast.ClassDef)}


def stars_in(notebook: NotebookNode) -> list[str]:
    r"""Return the statements by which code cells of a notebook import all names of a module.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> stars_in(new_notebook(cells=[new_code_cell("import os\nfrom math import *")]))
    ['from math import *']
    """
    code = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    statements = (ast.unparse(statement) for cell in code for statement in _imports(cell))
    return [statement for statement in statements if statement.endswith(" import *")]


def imports_in(notebook: NotebookNode) -> dict[str, str]:
    """Return the import statement for each name that code cells of a notebook import by name.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> imports_in(new_notebook(cells=[new_code_cell("import os.path, math as m")]))
    {'os': 'import os.path', 'm': 'import math as m'}
    """
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for statement in _imports(cell.source):
                for alias in statement.names:
                    if alias.name == "*":
                        continue
                    bound = alias.asname or alias.name.partition(".")[0]
                    one = copy.copy(statement)
                    one.names = [alias]
                    found[bound] = ast.unparse(one)
    return found


def why_inside(source: str) -> str:
    """Return why a test cell has to be executed in the learner's process, as far as its text tells.

    The empty text means that it may be tried outside.

    Examples
    --------
    >>> why_inside("assert squares(2) == [1, 4]")
    ''
    >>> why_inside("assert 'numpy' not in globals()")
    'it uses globals'
    """
    if not is_python(source):
        return "it has commands of Jupyter"
    if looks := names_used(source) & _LOOKS - names_changed(source):
        return f"it uses {min(looks)}"
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) if name in _LOOKS_AT:
                return f"it uses {name}"
            case ast.ImportFrom(names=names) if shared := {n.name for n in names} & _LOOKS_AT:
                return f"it uses {min(shared)}"
            case ast.Import(names=names) if shared := {n.name for n in names} & _LOOKS:
                return f"it uses {min(shared)}"
            case ast.ImportFrom(module=module) if module in _LOOKS:
                return f"it uses {module}"
            case ast.Attribute(attr=name) | ast.Name(id=name) if name.startswith("__"):
                return f"it uses {name}"
            case ast.Compare() if _compares_identity(node):
                return "it asks whether two objects are the same one"
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                return "it waits for asynchronous code"
    return ""


class _WithoutImports(ast.NodeTransformer):
    """Replaces the imports in code by statements that do nothing."""

    def visit_Import(self, node: ast.Import) -> ast.Pass:
        return ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.Pass:
        return ast.Pass()


def _compares_identity(node: ast.Compare) -> bool:
    """Say whether a comparison asks for one object. None, texts and types are what they are."""
    values = [node.left, *node.comparators]
    return any(
        isinstance(op, (ast.Is, ast.IsNot))
        and not isinstance(right, ast.Constant)
        and not (_is_type(left) or _is_type(right))
        for left, op, right in zip(values, node.ops, values[1:], strict=False)
    )


def _is_type(value: ast.expr) -> bool:
    """Say whether an expression is a call of ``type``."""
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "type"


def _imports(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    code, _ = without_magics(source)
    if is_python(code):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield node


def _instructions(source: str) -> Iterator[dis.Instruction]:
    code = _compiled(source)
    if code:
        yield from _all(code)


def _compiled(source: str) -> CodeType | None:
    code, _ = without_magics(source)
    if not is_python(code):
        return None
    return compile(code, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def _all(code: CodeType) -> Iterator[dis.Instruction]:
    is_class = code.co_name != "<module>" and not code.co_flags & inspect.CO_OPTIMIZED
    yield from (_in_class if is_class else dis.get_instructions)(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all(constant)


def _in_class(code: CodeType) -> Iterator[dis.Instruction]:
    """Yield the instructions of a class's body without those for the class's own names."""
    own = {"__name__"}  # Python itself reads it, to set __module__
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_NAME", "DELETE_NAME"):
            own.add(instruction.argval)
        elif instruction.opname != "LOAD_NAME" or instruction.argval not in own:
            yield instruction
