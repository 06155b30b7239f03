"""The rules that make mutants: each yields what a learner might write in a given place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.exercises.mutation.places import Nothing, Place, Replacement, is_module, names_stored

#: Replacements of arithmetic, comparison and Boolean operators.
OTHER_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
#: Operators that are not commutative.
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.MatMult, ast.Pow, ast.Mod)

#: Functions and methods that are easily confused, in one direction or in both.
PAIRS = (
    "max min",
    "argmax argmin",
    "maximum minimum",
    "sum mean",
    "exp exp2",
    "log log2",
    "tril triu",
    "zeros ones",
    "zeros_like ones_like",
    "var std",
    "any all",
    "floor ceil",
    "logical_and logical_or",
    "repeat tile",
    "cumsum sum",
    "hstack vstack",
    "outer inner",
)
OTHER_FUNCTIONS: dict[str, list[str]] = {}
for _pair in PAIRS:
    _one, _other = _pair.split()
    OTHER_FUNCTIONS.setdefault(_one, []).append(_other)
    OTHER_FUNCTIONS.setdefault(_other, []).append(_one)

#: Calls that are easily forgotten; the mutant has their argument instead.
FORGOTTEN = frozenset(
    {
        *("sqrt", "exp", "log", "abs", "absolute", "square", "round", "copy", "array", "astype"),
        *("swapaxes", "transpose", "moveaxis", "reshape", "broadcast_to", "expand_dims"),
        *("cumsum", "maximum", "minimum", "where", "logical_not"),
    }
)
AXES = (0, -1, -2, None)
#: Pairs of axes that may be swapped by mistake.
SWAPS = ((0, 1), (0, -1), (-2, -3))


def _turned_sign(place: Place) -> Iterator[Replacement]:
    """Negate a whole result."""
    node, parent = place.node, place.parent
    is_result = isinstance(parent, (ast.Return, ast.Assign)) and place.field == "value"
    if is_result and isinstance(node, (ast.BinOp, ast.Call, ast.Name, ast.Subscript)):
        yield ast.UnaryOp(ast.USub(), node)


def _operators(place: Place) -> Iterator[Replacement]:
    for other in OTHER_OPERATORS.get(type(place.node), ()):
        yield other()


def _operands(place: Place) -> Iterator[Replacement]:
    """Swap two operands, or omit one of them."""
    node = place.node
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ORDERED):
            yield ast.BinOp(node.right, node.op, node.left)
        yield node.left
        yield node.right
    if isinstance(node, ast.BoolOp):
        yield from node.values
    if isinstance(node, ast.UnaryOp):  # a minus, a ~, a not
        yield node.operand
    if isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse


def _numbers(place: Place) -> Iterator[Replacement]:
    node = place.node
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, (int, float)):
        for other in (0, 1, node.value + 1, node.value - 1):
            yield _number(other)
        if node.value and not isinstance(place.parent, ast.UnaryOp):
            yield _number(-node.value)


def _axes(place: Place) -> Iterator[Replacement]:
    if isinstance(place.parent, ast.keyword) and place.parent.arg == "axis":
        yield from map(_number, AXES)
    node = place.node
    if isinstance(node, ast.Call) and _called(node) in ("swapaxes", "moveaxis"):
        *before, _, _ = node.args
        for axes in SWAPS:
            yield ast.Call(node.func, [*before, *map(_number, axes)], node.keywords)


def _forgotten(place: Place) -> Iterator[Replacement]:
    """Omit a call such as a transpose, a root or a copy."""
    node = place.node
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield node.value
    if not isinstance(node, ast.Call) or _called(node) not in FORGOTTEN:
        return
    if isinstance(node.func, ast.Attribute) and not is_module(node.func.value):
        yield node.func.value
    else:
        yield from (argument for argument in node.args if not isinstance(argument, ast.Starred))


def _ends_of_rows(place: Place) -> Iterator[Replacement]:
    """Take the first or the last entry of each row in place of the largest."""
    node = place.node
    if not isinstance(node, ast.Call) or _called(node) not in ("max", "amax"):
        return
    if not any(keyword.arg == "keepdims" for keyword in node.keywords):
        return
    inside = isinstance(node.func, ast.Attribute) and is_module(node.func.value)
    row = ast.unparse(node.args[0] if inside else node.func.value)
    for end in (":1", "-1:"):
        yield ast.parse(f"({row})[..., {end}]", mode="eval").body


def _plain_transpose(place: Place) -> Iterator[Replacement]:
    """Reverse all axes instead of swapping the last two."""
    node = place.node
    if isinstance(node, ast.Call) and _called(node) == "swapaxes":
        what = node.args[0] if len(node.args) == 3 else node.func.value
        yield ast.Attribute(what, "T", ast.Load())
    if isinstance(node, ast.Attribute) and node.attr == "mT":
        yield ast.Attribute(node.value, "T", ast.Load())


def _keywords(place: Place) -> Iterator[Replacement]:
    if isinstance(place.node, ast.keyword):
        yield Nothing


def _functions(place: Place) -> Iterator[Replacement]:
    node = place.node
    if place.field != "func":
        return
    if isinstance(node, ast.Attribute):
        for other in OTHER_FUNCTIONS.get(node.attr, ()):
            yield ast.Attribute(node.value, other, node.ctx)
    if isinstance(node, ast.Name):
        for other in OTHER_FUNCTIONS.get(node.id, ()):
            if other in ("max", "min", "sum", "any", "all"):  # built-in functions of Python
                yield ast.Name(other, node.ctx)


def _arguments(place: Place) -> Iterator[Replacement]:
    """Swap two arguments, or omit the last one."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    for args in _neighbours_swapped(node.args):
        yield ast.Call(node.func, args, node.keywords)
    if len(node.args) > 1:
        yield ast.Call(node.func, node.args[:-1], node.keywords)
    if _called(node) == "range" and len(node.args) == 1:
        (stop,) = node.args
        yield ast.Call(node.func, [_number(1), stop], [])
        yield ast.Call(node.func, [ast.BinOp(stop, ast.Sub(), _number(1))], [])
        yield ast.Call(node.func, [ast.BinOp(stop, ast.Add(), _number(1))], [])


def _entries(place: Place) -> Iterator[Replacement]:
    """Swap neighbours in a tuple, a list or an index."""
    node = place.node
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        for entries in _neighbours_swapped(node.elts):
            yield type(node)(entries, node.ctx)


def _indices(place: Place) -> Iterator[Replacement]:
    node = place.node
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        is_new_axis = "None" in ast.unparse(node.slice) or "newaxis" in ast.unparse(node.slice)
        if is_new_axis or isinstance(node.slice, ast.Slice):
            yield node.value
    if isinstance(node, ast.Slice):
        for end in ("lower", "upper"):
            if getattr(node, end) is not None:
                ends = {"lower": node.lower, "upper": node.upper, "step": node.step}
                for operator in (ast.Add, ast.Sub):
                    moved = ast.BinOp(getattr(node, end), operator(), _number(1))
                    yield ast.Slice(**ends | {end: moved})
                yield ast.Slice(**ends | {end: None})


def _names(place: Place) -> Iterator[Replacement]:
    """Replace an argument by another one or, outside functions, a value by another one."""
    node = place.node
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    known = place.parameters or place.around
    if node.id in known:
        for other in known:
            yield ast.Name(other, node.ctx)


def _in_place(place: Place) -> Iterator[Replacement]:
    """Change an argument in place instead of making a new array."""
    node = place.node
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
        return
    left, (target,) = node.value.left, node.targets
    if not isinstance(left, ast.Name) or left.id not in place.parameters:
        return
    changes = ast.AugAssign(ast.Name(left.id, ast.Store()), node.value.op, node.value.right)
    if isinstance(target, ast.Name) and target.id == left.id:
        yield changes
    else:
        yield [changes, ast.Assign([target], left, lineno=node.lineno)]


def _statements(place: Place) -> Iterator[Replacement]:
    """Delete a statement, unless that would obviously raise an error."""
    node = place.node
    if not isinstance(node, ast.stmt):
        return
    if isinstance(node, ast.If):
        for always in (True, False):
            yield ast.If(ast.Constant(always), node.body, node.orelse)
    forgettable = (ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Break, ast.Continue)
    assigned = set(names_stored(node))
    is_assigned_again = isinstance(node, ast.Assign) and assigned <= place.bound
    sets_entries = isinstance(node, ast.Assign) and not assigned
    returns_early = isinstance(node, ast.Return) and not isinstance(place.parent, ast.FunctionDef)
    if isinstance(node, forgettable) or is_assigned_again or sets_entries or returns_early:
        yield Nothing


RULES = (
    _turned_sign,
    _operators,
    _operands,
    _numbers,
    _axes,
    _forgotten,
    _ends_of_rows,
    _plain_transpose,
    _keywords,
    _functions,
    _arguments,
    _entries,
    _indices,
    _names,
    _in_place,
    _statements,
)


def _number(value: float | None) -> ast.expr:
    """Return the syntax tree of a number; a negative one is a unary minus and a constant."""
    if value is not None and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _neighbours_swapped(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]
