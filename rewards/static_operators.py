"""Operators of abstract values: compute where an operand is a tensor, host arithmetic elsewhere."""

import ast
from collections.abc import Sequence

from kernelwright.rewards.static_values import (
    HOST,
    TENSOR,
    UNKNOWN,
    Box,
    Class,
    Kind,
    Path,
    Report,
    Text,
    Value,
    holds_tensor,
    join,
)

_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "in",
}  # fmt: skip
_MAX_TEXTS = 8


class Operators:
    """Judges operators; one per analysis."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def binary(self, left: Value, op: ast.AST, right: Value, node: ast.AST) -> Value:
        """``left op right``: compute where an operand is a tensor."""
        sign = _SIGNS[type(op)]
        if holds_tensor(left) or holds_tensor(right):
            self._report.compute("operator", sign, node)
            return TENSOR
        if sign == "@" and not (left <= HOST and right <= HOST):
            self._report.compute("operator", sign, node)
            return TENSOR
        texts = [a.text for a in left if isinstance(a, Text)]
        boxes = [a for a in left | right if isinstance(a, Box)]
        if boxes:
            return frozenset({Box(rest=join(box.elements() for box in boxes))})
        if texts and sign == "+":
            after = [a.text for a in right if isinstance(a, Text)] or [""]
            sums = {Text(one + two) for one in texts[:_MAX_TEXTS] for two in after}
            return frozenset(sums) if len(sums) <= _MAX_TEXTS else HOST
        if texts and sign == "%":
            return left
        return UNKNOWN if Kind.UNKNOWN in left | right else HOST

    def compare(self, values: Sequence[Value], node: ast.Compare) -> Value:
        """A chain of comparisons of *values*."""
        result = HOST
        for left, op, right in zip(values, node.ops, values[1:], strict=False):
            if isinstance(op, (ast.Is, ast.IsNot)):
                continue
            inside = isinstance(op, (ast.In, ast.NotIn))
            if holds_tensor(right) or (holds_tensor(left) and not inside):
                self._report.compute("operator", _SIGNS[type(op)], node)
                result = TENSOR
        return result

    def subscript(self, value: Value, index: Value, key: ast.expr, node: ast.AST) -> Value:
        """``value[index]``, written as *key*: a view, or compute where the index is a tensor."""
        if Kind.TENSOR in value and holds_tensor(index, True):
            self._report.compute("operator", "index", node)
        found: list[Value] = []
        for atom in value:
            if isinstance(atom, Box):
                if isinstance(key, ast.Slice):
                    found.append(frozenset({Box(rest=atom.elements(), runs=atom.runs)}))
                elif isinstance(key, ast.Constant) and key.value in atom.known:
                    found.append(atom.known[key.value] | atom.rest)
                else:
                    found.append(atom.elements())
            elif isinstance(atom, Text):
                found.append(HOST)
            elif isinstance(atom, Path):
                found.append(HOST if atom.path.startswith("os.") else frozenset({atom}))
            else:
                found.append(frozenset({atom if isinstance(atom, (Kind, Class)) else Kind.UNKNOWN}))
        return join(found)
