"""Calls of methods that no class of the answer defines: tensors, containers, strings, modules."""

import ast
from collections.abc import Callable, Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_values import (
    HOST,
    MODULE,
    NOTHING,
    TENSOR,
    UNKNOWN,
    Box,
    Class,
    Instance,
    Kind,
    Method,
    Report,
    Text,
    Value,
    elements,
    join,
)

Call = Callable[[Value, Sequence[Value], dict[str, Value], ast.AST, str], Value]


class Methods:
    """Decides such calls; one per analysis. *call* enters what a method calls back."""

    def __init__(self, report: Report, call: Call) -> None:
        self._report = report
        self._call = call

    def call(
        self,
        atom: Method,
        given: Sequence[Value],
        named: dict[str, Value],
        node: ast.AST,
        name: str,
    ) -> Value:
        owner, method = atom.owner, atom.name
        if "hook" in method and method.startswith("register_"):
            self._report.hooks += [*given[:1], *named.values()]
            return HOST
        if isinstance(owner, Class):
            if method == "apply":
                return self._autograd(owner, given, named, node)
            self._report.compute("inherit", name, node)
            return UNKNOWN
        if isinstance(owner, Instance):
            return self._module_method(owner, method, given, node)
        if isinstance(owner, Box):
            return self._box_method(owner, method, given, named, node)
        if owner is Kind.TENSOR:
            host = method in rules.TENSOR_HOST
            if not host and method not in rules.TENSOR_PLUMBING:
                self._report.compute("call", f"Tensor.{method}", node)
            return HOST if host else TENSOR
        if owner is Kind.MODULE:
            if method in rules.MODULE_METHODS:
                nested = MODULE if method.endswith(("children", "modules", "submodule")) else TENSOR
                if method.startswith("named_") or method == "state_dict":
                    nested = frozenset({Box({0: HOST, 1: nested})}) | (TENSOR & nested)
                return frozenset({Box(rest=nested)})
            self._report.compute("submodule", name, node)
            return UNKNOWN
        if isinstance(owner, Text):
            return self._text_method(owner, method, given)
        if owner is Kind.UNKNOWN:
            known = rules.TENSOR_HOST | rules.TENSOR_PLUMBING | rules.HOST_METHODS
            if method not in known:
                self._report.compute("call", name, node)
            return HOST if method in rules.TENSOR_HOST else UNKNOWN
        return HOST

    def _text_method(self, owner: Text, method: str, given: Sequence[Value]) -> Value:
        texts = [[a.text for a in value if isinstance(a, Text)] for value in given]
        if method == "replace" and len(texts) >= 2 and texts[0] and texts[1]:
            return frozenset(
                Text(owner.text.replace(old, new)) for old in texts[0][:4] for new in texts[1][:4]
            )
        if method == "join":
            parts = [a.text for a in join(elements(v) for v in given) if isinstance(a, Text)]
            return frozenset({Text(owner.text.join(parts))}) if parts else HOST
        if method in ("strip", "format", "replace", "lstrip", "rstrip", "encode"):
            return frozenset({owner})
        return HOST

    def _box_method(
        self,
        owner: Box,
        method: str,
        given: Sequence[Value],
        named: dict[str, Value],
        node: ast.AST,
    ) -> Value:
        inside = owner.elements()
        if method in ("append", "add", "insert", "setdefault", "extend", "update", "get", "pop"):
            extra = [v if method not in ("extend", "update") else elements(v) for v in given]
            keyed = method in ("insert", "setdefault", "get", "pop")
            added = join([*(extra[1:] if keyed else extra), *named.values()])
            if method in ("get", "pop"):
                return inside | added | HOST
            owner.rest |= added
            return inside | added
        if method in ("items", "named_children", "named_modules", "named_parameters"):
            return frozenset({Box(rest=frozenset({Box({0: HOST, 1: inside})}))})
        if method in ("values", "copy", "children", "modules", "parameters", "buffers"):
            return frozenset({Box(rest=inside)})
        if method not in rules.HOST_METHODS and method not in rules.MODULE_METHODS:
            self._report.compute("call", method, node)
        return HOST

    def _module_method(
        self, owner: Instance, method: str, given: Sequence[Value], node: ast.AST
    ) -> Value:
        names = [atom.text for atom in given[0] if isinstance(atom, Text)] if given else []
        if method in ("register_buffer", "register_parameter", "add_module", "register_module"):
            for name in names or list(owner.attributes):
                old = owner.attributes.get(name, NOTHING)
                owner.attributes[name] = old | join(given[1:2])
            return HOST
        inside = join(owner.attributes.values())
        if method in ("get_parameter", "get_buffer", "get_submodule"):
            return join(owner.attributes.get(name, inside) for name in names or [""])
        if method == "apply":
            self._call(given[0] if given else NOTHING, [inside | {owner}], {}, node, "apply")
            return frozenset({owner})
        if method.startswith("named_") or method == "state_dict":
            return frozenset({Box(rest=frozenset({Box({0: HOST, 1: inside | TENSOR})}) | TENSOR)})
        if method in ("parameters", "buffers", "children", "modules"):
            return frozenset({Box(rest=inside | TENSOR)})
        return frozenset({owner})

    def _autograd(
        self, owner: Class, given: Sequence[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        split = bool(owner.find("setup_context"))
        first: list[Value] = [] if split else [UNKNOWN]
        result = self._call(owner.find("forward"), [*first, *given], named, node, "apply")
        if split:
            inputs = frozenset({Box(rest=join(given))})
            setup = owner.find("setup_context")
            self._call(setup, [UNKNOWN, inputs, result], {}, node, "setup_context")
        return result
