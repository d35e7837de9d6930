"""Calls of abstract values: where gate 2 allows or refuses.

User functions are entered through the hook that the interpreter gives; everything else is decided
from the lists in `static_rules`.
"""

import ast
from collections.abc import Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_attributes import Attributes, Enter
from kernelwright.rewards.static_imported import Imported
from kernelwright.rewards.static_methods import Methods
from kernelwright.rewards.static_values import (
    NOTHING,
    TENSOR,
    UNKNOWN,
    Atom,
    Bound,
    Box,
    Class,
    Function,
    Instance,
    Kind,
    Method,
    Path,
    Report,
    Value,
    holds_tensor,
    join,
)


class Calls:
    """Decides calls; one per analysis."""

    def __init__(self, report: Report, enter: Enter) -> None:
        self._report = report
        self._enter = enter
        self.attributes = Attributes(report, enter)
        self.imported = Imported(report, self.apply)
        self._methods = Methods(report, self.call)

    def call(
        self,
        value: Value,
        given: Sequence[Value],
        named: dict[str, Value],
        node: ast.AST,
        name: str,
    ) -> Value:
        """``value(*given, **named)``; *name* is how the source writes the callee."""
        methods = [atom for atom in value if isinstance(atom, Method)]
        # An attribute that may be a value or a method is the method once it is called.
        atoms = [a for a in value if a not in (Kind.UNKNOWN, Kind.HOST)] if methods else value
        return join([self._call(atom, given, named, node, name) for atom in atoms])

    def _call(
        self, atom: Atom, given: Sequence[Value], named: dict[str, Value], node: ast.AST, name: str
    ) -> Value:
        everything = [*given, *named.values()]
        if isinstance(atom, Function):
            return self._enter(atom, given, named, node)
        if isinstance(atom, Bound):
            merged = {**dict(atom.keywords), **named}
            return self._call(atom.target, [*atom.arguments, *given], merged, node, name)
        if isinstance(atom, Class):
            return self._construct(atom, given, named, node)
        if isinstance(atom, Instance):
            return self._call_instance(atom, given, named, node, name)
        if isinstance(atom, Path):
            return self.imported.call(atom.path, given, named, node)
        if isinstance(atom, Method):
            return self._methods.call(atom, given, named, node, name)
        if atom is Kind.EXTENSION:
            self._report.called |= self._report.forward
            for argument in everything:
                self._handed_over(argument, node)
            return TENSOR
        if atom is Kind.MODULE:
            self._report.compute("submodule", name, node)
            return TENSOR
        if isinstance(atom, Box) and atom.runs:
            result = join(given)
            for item in (atom.elements(), atom.elements()):
                result = self.call(item, [result | TENSOR], {}, node, name)
            return result
        if atom is Kind.HOST and not self._report.forward:
            return UNKNOWN
        self._report.compute("call", name, node)
        return UNKNOWN | (TENSOR if holds_tensor(join(everything), True) else NOTHING)

    def _handed_over(self, value: Value, node: ast.AST) -> None:
        """Callables given to foreign code run there."""
        sure = not value & {Kind.UNKNOWN, Kind.HOST}  # else an attribute that is likely a number
        for atom in value:
            if isinstance(atom, Path):
                if not rules.forward_may_mention(atom.path):
                    self._report.compute("call", atom.path, node)
            elif isinstance(atom, (Function, Bound, Method, Class)) and sure:
                self._call(atom, [TENSOR], {}, node, "callback")
            elif atom is Kind.MODULE:
                self._report.compute("submodule", "passed to the extension", node)

    def apply(self, value: Value, given: Sequence[Value], node: ast.AST) -> Value:
        """Call *value* as a higher-order function of the standard library would."""
        return self.call(value - {Kind.HOST}, given, {}, node, "callback")

    def _construct(
        self, atom: Class, given: Sequence[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        made = Instance(atom, dict(named), join(given))
        receiver = frozenset({made})
        for name in ("__init__", "__post_init__"):
            for item in atom.find(name):
                if isinstance(item, Function):
                    passed = given if name == "__init__" else []
                    keywords = named if name == "__init__" else {}
                    self._enter(item, [receiver, *passed], keywords, node)
        return receiver

    def _call_instance(
        self,
        atom: Instance,
        given: Sequence[Value],
        named: dict[str, Value],
        node: ast.AST,
        name: str,
    ) -> Value:
        receiver = frozenset({atom})
        for method in ("__call__", "forward"):
            own = atom.attributes.get(method, NOTHING)
            found = own | self.attributes.bind(atom.cls.find(method), receiver, atom.cls, node)
            if found:
                return self.call(found, given, named, node, name)
        self._report.compute("submodule", name, node)
        return TENSOR
