"""Calls of builtins and of imported functions: what they may be given, and what they give."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_values import (
    EXTENSION,
    HOST,
    MODULE,
    NOTHING,
    TENSOR,
    UNKNOWN,
    Bound,
    Box,
    Class,
    Function,
    Instance,
    Kind,
    Method,
    Path,
    Report,
    Text,
    Value,
    elements,
    holds_tensor,
    join,
)

Apply = Callable[[Value, Sequence[Value], ast.AST], Value]


class Imported:
    """Decides calls of what has a dotted path; one per analysis."""

    def __init__(self, report: Report, apply: Apply) -> None:
        self._report = report
        self._apply = apply

    def call(
        self, path: str, given: Sequence[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        """``path(*given, **named)``."""
        root, _, name = path.partition(".")
        everything = [*given, *named.values()]
        if path == rules.LOAD_INLINE:
            return self._load(everything, node)
        if path == "functools.partial" and given:
            keywords = tuple(named.items())
            return frozenset(Bound(atom, tuple(given[1:]), keywords) for atom in given[0])
        if path in rules.TRANSPARENT:
            if given and any(isinstance(a, (Function, Class, Bound, Text)) for a in given[0]):
                return given[0]
            return frozenset({Path(path)})
        if root == "builtins":
            return self._builtin(name, given, named, node)
        if root == "torch":
            return self._torch(path, given, node)
        adds = root == "math" or path == "itertools.accumulate"
        if adds and any(holds_tensor(elements(value), True) for value in given if _is_box(value)):
            self._report.compute("operator", path, node)
        if root == "itertools" or path == "functools.reduce":
            return self._higher_order(given, node)
        if path in ("collections.namedtuple", "typing.NamedTuple", "typing.NewType"):
            return frozenset({Path("builtins.tuple")})
        if root == "collections":
            return frozenset({Box(rest=self._defaults(given, node))})
        if path == "os.environ.setdefault" and given:
            self.environment(given[0], node)
        return HOST

    def environment(self, key: Value, node: ast.AST) -> None:
        """A write to ``os.environ[key]``."""
        for atom in key:
            if not (isinstance(atom, Text) and atom.text in rules.ENVIRON_KEYS):
                self._report.add("patch", "os.environ", node)

    def _load(self, everything: Sequence[Value], node: ast.AST) -> Value:
        self._report.loaded = True
        line = getattr(node, "lineno", 0)
        for value in everything:
            for text in _texts(value):
                self._report.sources[text] = line
        return EXTENSION

    def _defaults(self, given: Sequence[Value], node: ast.AST) -> Value:
        made = [self._apply(v, [], node) for v in given if any(isinstance(a, Function) for a in v)]
        return join([*made, *(elements(value) for value in given)])

    def _higher_order(self, given: Sequence[Value], node: ast.AST) -> Value:
        inside = join(elements(value) for value in given if not _callable(value))
        results = [self._apply(v, [inside, inside], node) for v in given if _callable(v)]
        return frozenset({Box(rest=inside | join(results)), *join(results)})

    def _builtin(
        self, name: str, given: Sequence[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        everything = [*given, *named.values()]
        if name in rules.OPERATOR_BUILTINS:
            key = named.get("key", NOTHING)
            if _callable(key):
                self._apply(key, [join(elements(value) for value in given)], node)
            if any(holds_tensor(value, True) for value in everything):
                self._report.compute("operator", name, node)
                return TENSOR
            return frozenset({Box(rest=elements(given[0]))}) if name == "sorted" and given else HOST
        if name in rules.ELEMENT_BUILTINS:
            return self._elements(name, given, named, node)
        if name in ("staticmethod", "classmethod", "property") and given:
            return frozenset(
                replace(atom, flavour=name) if isinstance(atom, Function) else atom
                for atom in given[0]
            )
        if name == "type":
            if len(given) > 1:
                self._report.add("dunder", "type", node)
            return join(_type_of(atom) for value in given for atom in value) | HOST
        if name in rules.PURE_BUILTINS or name.endswith(("Error", "Exception", "Warning")):
            return HOST
        if name == "print" and not self._report.forward:
            return HOST
        self._report.compute("call", name, node)
        return UNKNOWN

    def _elements(
        self, name: str, given: Sequence[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        if name == "iter" and given and _callable(given[0]):
            return frozenset({Box(rest=self._apply(given[0], [], node))})
        if name in ("map", "filter") and given:
            passed = [elements(value) for value in given[1:]]
            result = self._apply(given[0], passed, node)
            return frozenset({Box(rest=result if name == "map" else join(passed))})
        if name == "enumerate":
            pair = Box({0: HOST, 1: join(elements(value) for value in given[:1])})
            return frozenset({Box(rest=frozenset({pair}))})
        if name == "zip":
            row = Box({i: elements(value) for i, value in enumerate(given)})
            return frozenset({Box(rest=frozenset({row}))})
        if name == "next":
            return join(elements(value) for value in given)
        if (
            name in ("tuple", "list")
            and len(given) == 1
            and all(isinstance(atom, Box) for atom in given[0])
        ):
            return frozenset(Box(dict(a.known), a.rest) for a in given[0] if isinstance(a, Box))
        if name in ("tuple", "list") and given and given[0] <= HOST:
            return HOST
        return frozenset({Box(rest=join([*map(elements, given), *named.values()]))})

    def _torch(self, path: str, given: Sequence[Value], node: ast.AST) -> Value:
        name = path.removeprefix("torch.")
        if path in rules.TORCH_PRIVATE:
            return HOST
        if path.startswith("torch.Tensor."):
            method = path.rpartition(".")[2]
            if method not in rules.TENSOR_HOST and method not in rules.TENSOR_PLUMBING:
                self._report.compute("call", path, node)
            return HOST if method in rules.TENSOR_HOST else TENSOR
        if name in rules.TORCH_HOST_CALLS:
            return HOST
        if name not in rules.TORCH_TENSOR_CALLS:
            self._report.compute("call", path, node)
        if not path.startswith("torch.nn.") or path.startswith("torch.nn.functional."):
            return HOST if path.startswith(("torch.cuda.", "torch.backends.")) else TENSOR
        last = path.rpartition(".")[2]
        if last == "Parameter" or path.startswith("torch.nn.init."):
            return TENSOR
        if last in rules.MODULE_CONTAINERS:
            inside = join(value | elements(value) for value in given) - {Kind.UNKNOWN}
            inside = frozenset(atom for atom in inside if not isinstance(atom, Box)) | join(
                atom.elements() for value in given for atom in value if isinstance(atom, Box)
            )
            if last.startswith("Parameter"):
                inside |= TENSOR
            return frozenset({Box(rest=inside, runs=last == "Sequential")})
        if path.startswith("torch.nn.utils."):
            return join(given) | MODULE
        return MODULE


def _callable(value: Value) -> bool:
    return any(isinstance(atom, (Function, Bound, Method, Path, Class, Instance)) for atom in value)


def _is_box(value: Value) -> bool:
    return any(isinstance(atom, Box) for atom in value)


def _texts(value: Value) -> list[str]:
    found = []
    for atom in value:
        if isinstance(atom, Text):
            found.append(atom.text)
        elif isinstance(atom, Box):
            found += _texts(atom.elements())
    return found


def _type_of(atom: object) -> Value:
    if isinstance(atom, Instance):
        return frozenset({atom.cls})
    if atom is Kind.TENSOR:
        return frozenset({Path("torch.Tensor")})
    return MODULE if atom is Kind.MODULE else NOTHING
