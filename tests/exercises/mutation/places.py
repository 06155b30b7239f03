"""The nodes of a program that rules may replace, with their context."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


class Nothing:
    """Marks a statement to be deleted."""


Replacement = ast.AST | list[ast.stmt] | type[Nothing]


@dataclass(frozen=True)
class Place:
    """A node, its position in the syntax tree, and its context."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    statement: ast.stmt
    top: int  #: index of the cell's statement that contains it
    parameters: tuple[str, ...]  #: parameters of the enclosing function
    bound: frozenset[str]  #: parameters, and names that the function or cell assigns more than once
    around: tuple[str, ...]  #: names defined before it, if it is outside functions

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", self.statement.lineno)

    def holding(self, replacement: Replacement) -> _Holding:
        """Return a context manager that puts the replacement in this place."""
        return _Holding(self, replacement)

    def told(self, replacement: Replacement) -> str:
        """Return a description of the change."""
        if replacement is Nothing and isinstance(self.node, ast.stmt):
            return f"without {_head(self.node)}"
        if isinstance(replacement, list):
            return "; ".join(map(_head, replacement))
        return _head(replacement if self.node is self.statement else self.statement)


def as_statements(replacement: Replacement) -> list[ast.stmt]:
    if replacement is Nothing:
        return []
    return replacement if isinstance(replacement, list) else [replacement]


class _Holding:
    def __init__(self, place: Place, replacement: Replacement) -> None:
        self.place = place
        self.replacement = replacement

    def __enter__(self) -> None:
        place, new = self.place, self.replacement
        self.before = getattr(place.parent, place.field)
        if place.index is None:
            setattr(place.parent, place.field, new)
            return
        rest = self.before[place.index + 1 :]
        changed = [*self.before[: place.index], *as_statements(new), *rest]
        if not changed and new is Nothing and isinstance(place.node, ast.stmt):
            changed = [ast.Pass()]
        setattr(place.parent, place.field, changed)

    def __exit__(self, *_: object) -> None:
        setattr(self.place.parent, self.place.field, self.before)


def places(tree: ast.Module) -> list[Place]:
    """Return every node with its context, outer nodes first."""
    found: list[Place] = []

    def visit(node, statement, top, parameters, bound):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            parameters = _parameters(node)
            bound = _bound_again(node, parameters)
        for field, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            for index, child in enumerate(children):
                if not isinstance(child, ast.AST) or _is_docstring(node, field, index, child):
                    continue
                at = index if isinstance(value, list) else None
                inner = child if isinstance(child, ast.stmt) else statement
                within = index if node is tree else top
                names = () if parameters else known[within]
                place = Place(child, node, field, at, inner, within, parameters, bound, names)
                found.append(place)
                visit(child, inner, within, parameters, bound)

    known = _values_known(tree)
    visit(tree, None, 0, (), _bound_again(tree, ()))
    return found


def is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "plt", "math")


def _parameters(function: ast.FunctionDef | ast.Lambda) -> tuple[str, ...]:
    arguments = function.args
    return tuple(
        arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    )


def names_stored(node: ast.AST) -> list[str]:
    return [
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    ]


def _bound_again(scope: ast.AST, parameters: Iterable[str]) -> frozenset[str]:
    """Return the names that still have a value if one of their assignments is deleted."""
    stored = names_stored(scope)
    return frozenset({*parameters, *(name for name in stored if stored.count(name) > 1)})


def _values_known(tree: ast.Module) -> list[tuple[str, ...]]:
    """Return, for each statement of a cell, the names that it could read by mistake.

    These are names that the cell reads somewhere and that are defined before the statement.
    """
    read: dict[str, None] = {}
    made: dict[str, int] = {}
    for number, statement in enumerate(tree.body):
        if isinstance(statement, ast.FunctionDef):
            continue
        nodes = list(ast.walk(statement))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if not isinstance(node, ast.Name) or id(node) in called or is_module(node):
                continue
            if isinstance(node.ctx, ast.Store):
                made.setdefault(node.id, number)
            else:
                read[node.id] = None
    return [
        tuple(name for name in read if made.get(name, -1) < number)
        for number in range(len(tree.body))
    ]


def _is_docstring(parent: ast.AST, field: str, index: int, child: ast.AST) -> bool:
    return (
        field == "body"
        and index == 0
        and isinstance(parent, (ast.FunctionDef, ast.Module))
        and isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
    )


def _head(node: ast.AST) -> str:
    """Return a statement's first line."""
    if isinstance(node, ast.FunctionDef):
        return f"def {node.name}({ast.unparse(node.args)})"
    return ast.unparse(node).splitlines()[0]
