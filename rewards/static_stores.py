"""Where an answer's assignments go; assigning to what is not its own is patching."""

import ast
from collections.abc import Callable, Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_values import (
    NOTHING,
    Box,
    Class,
    Function,
    Instance,
    Kind,
    Path,
    Report,
    Scope,
    Value,
    elements,
    holds_tensor,
    join,
)

Evaluate = Callable[[ast.expr, Scope], Value]
Environment = Callable[[Value, ast.AST], None]


class Stores:
    """Carries out assignments; one per analysis."""

    def __init__(self, report: Report, evaluate: Evaluate, environment: Environment) -> None:
        self._report = report
        self._evaluate = evaluate
        self._environment = environment

    def store(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """``target = value``."""
        match target:
            case ast.Name(id=name):
                if name in scope.outer:
                    outer = scope.outer[name]
                    outer.names[name] = outer.names.get(name, NOTHING) | value
                else:
                    scope.names[name] = value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                self._unpack(items, value, scope)
            case ast.Starred(value=inner):
                self.store(inner, frozenset({Box(rest=value)}), scope)
            case ast.Attribute(value=base, attr=name):
                self.attribute(self._evaluate(base, scope), name, value, target)
            case ast.Subscript(value=base, slice=index):
                self._store_item(self._evaluate(base, scope), index, value, scope, target)

    def _unpack(self, items: Sequence[ast.expr], value: Value, scope: Scope) -> None:
        boxes = [atom for atom in value if isinstance(atom, Box)]
        for position, item in enumerate(items):
            exact = (
                len(boxes) == len(value)
                and not any(isinstance(each, ast.Starred) for each in items)
                and all(len(box.known) == len(items) for box in boxes)
            )
            part = (
                join(box.known.get(position, NOTHING) | box.rest for box in boxes)
                if exact
                else elements(value)
            )
            self.store(item, part, scope)

    def attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        """``owner.name = value``: assignment to what is not the answer's own is patching."""
        for atom in owner:
            if isinstance(atom, (Instance, Class, Function)):
                if isinstance(atom, Function) and name.startswith("__"):
                    self._report.add("dunder", name, node)
                atom.attributes[name] = atom.attributes.get(name, NOTHING) | value
            elif isinstance(atom, Path):
                if not atom.path.startswith("builtins."):
                    self._report.add("patch", f"{atom.path}.{name}", node)
            elif atom is Kind.TENSOR and name not in rules.TENSOR_STORES:
                self._report.add("patch", f"Tensor.{name}", node)
            elif atom is Kind.MODULE and not rules.MODULE_STORES.fullmatch(name):
                self._report.add("patch", f"submodule.{name}", node)
            elif atom is Kind.EXTENSION:
                self._report.add("patch", f"extension.{name}", node)

    def _store_item(
        self, owner: Value, index: ast.expr, value: Value, scope: Scope, node: ast.AST
    ) -> None:
        key = self._evaluate(index, scope)
        if Kind.TENSOR in owner and holds_tensor(key, True):
            self._report.compute("operator", "index", node)
        for atom in owner:
            if isinstance(atom, Box):
                atom.rest |= value
            elif isinstance(atom, Path) and atom.path == "os.environ":
                self._environment(key, node)
            elif isinstance(atom, Path):
                self._report.add("patch", f"{atom.path}[...]", node)
