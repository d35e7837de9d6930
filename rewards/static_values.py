"""Values as far as gate 2 knows them without running anything, and where it writes what it found.

A value is a set of possibilities (`Atom`). Host numbers, strings, shapes and dtypes are one atom;
so is every tensor. What is not known is `UNKNOWN`: fine in arithmetic, never as a callee.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One reason why an answer is illegal."""

    rule: str
    """import, call, operator, getattr, patch, dunder, inherit, submodule, try_fallback, cpp,
    no_kernel, no_model, syntax, limit."""
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.rule}:{self.name}"


class Kind(Enum):
    """Atoms without parts."""

    HOST = auto()
    TENSOR = auto()
    UNKNOWN = auto()
    EXTENSION = auto()
    """A ``load_inline`` module, or one of its functions."""
    MODULE = auto()
    """A torch.nn module that holds parameters."""


@dataclass(frozen=True, slots=True)
class Text:
    """A host string whose text is known."""

    text: str


@dataclass(frozen=True, slots=True)
class Path:
    """Something imported, or a builtin: ``torch.nn.Linear``, ``builtins.len``."""

    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method, not yet called, of what is not a user's class."""

    owner: Any
    name: str


@dataclass(eq=False, slots=True)
class Box:
    """A tuple, list, dict or module container."""

    known: dict[Any, "Value"] = field(default_factory=dict)
    rest: "Value" = frozenset()
    runs: bool = False
    """Calling it calls its elements (nn.Sequential)."""

    def elements(self) -> "Value":
        return self.rest.union(*self.known.values())


@dataclass(eq=False, slots=True)
class Scope:
    """Names of a module, class or function body."""

    parent: "Scope | None"
    names: dict[str, "Value"] = field(default_factory=dict)
    outer: dict[str, "Scope"] = field(default_factory=dict)
    """Names declared global or nonlocal."""
    owner: "Class | None" = None
    receiver: "Value" = frozenset()
    is_class: bool = False

    def find(self, name: str) -> "Value | None":
        """What *name* may be here, or None where the answer does not define it."""
        if name in self.outer:
            return self.outer[name].names.get(name)
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


@dataclass(eq=False, slots=True)
class Class:
    """A class of the answer."""

    name: str
    bases: tuple["Value", ...]
    attributes: dict[str, "Value"]

    def find(self, name: str) -> "Value":
        if name in self.attributes:
            return self.attributes[name]
        for base in self.bases:
            for atom in base:
                if isinstance(atom, Class) and (found := atom.find(name)):
                    return found
        return frozenset()

    def paths(self) -> set[str]:
        """Imported classes that it inherits from."""
        found: set[str] = set()
        for atom in frozenset().union(*self.bases):
            found |= atom.paths() if isinstance(atom, Class) else set()
            found |= {atom.path} if isinstance(atom, Path) else set()
        return found


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class of the answer."""

    cls: Class
    attributes: dict[str, "Value"] = field(default_factory=dict)
    given: "Value" = frozenset()
    """What its constructor was given, where no ``__init__`` says where it goes."""


@dataclass(eq=False, slots=True)
class Function:
    """A function or lambda of the answer."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    owner: Class | None = None
    flavour: str = ""
    """property, staticmethod, classmethod or nothing."""
    defaults: dict[str, "Value"] = field(default_factory=dict)
    attributes: dict[str, "Value"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bound:
    """A function with its first argument, or a partial."""

    target: Any
    arguments: tuple["Value", ...]
    keywords: tuple[tuple[str, "Value"], ...] = ()


@dataclass(frozen=True, slots=True)
class Super:
    """What ``super()`` gives."""

    owner: Class
    receiver: "Value"


Atom = Kind | Text | Path | Method | Box | Class | Instance | Function | Bound | Super
Value = frozenset[Any]

HOST: Value = frozenset({Kind.HOST})
TENSOR: Value = frozenset({Kind.TENSOR})
UNKNOWN: Value = frozenset({Kind.UNKNOWN})
EXTENSION: Value = frozenset({Kind.EXTENSION})
MODULE: Value = frozenset({Kind.MODULE})
NOTHING: Value = frozenset()


def join(values: Iterable[Value]) -> Value:
    """Any of *values*."""
    return frozenset().union(*values)


def elements(value: Value) -> Value:
    """What iterating over *value* gives."""
    found: set[Any] = set()
    for atom in value:
        if isinstance(atom, Box):
            found |= atom.elements()
        elif isinstance(atom, Text) or atom is Kind.HOST:
            found.add(Kind.HOST)
        else:
            found.add(atom if isinstance(atom, Kind) else Kind.UNKNOWN)
    return frozenset(found)


def holds_tensor(value: Value, deep: bool = False) -> bool:
    """Whether *value* may be a tensor for certain reasons; *deep*: or a container with one."""
    return Kind.TENSOR in value or (
        deep and any(isinstance(a, Box) and holds_tensor(a.elements(), True) for a in value)
    )


class Report:
    """Violations found so far, and the stage that decides what counts as one."""

    def __init__(self) -> None:
        self.found: set[Violation] = set()
        self.forward = False
        """Whether the code at hand is reached from forward."""
        self.handlers = 0
        """How many except, else or finally clauses the code at hand is in."""
        self.types_only = 0
        self.sources: dict[str, int] = {}
        """C++ and CUDA texts given to load_inline, with the line of the call."""
        self.loaded = False
        self.called = False
        """Whether forward calls an extension function."""
        self.hooks: list[Value] = []

    def add(self, rule: str, name: str, node: ast.AST) -> None:
        if self.handlers and self.forward and rule in ("call", "operator", "submodule"):
            rule = "try_fallback"
        self.found.add(Violation(rule, name[:80], getattr(node, "lineno", 0)))

    def compute(self, rule: str, name: str, node: ast.AST) -> None:
        """A violation only where forward reaches it."""
        if self.forward:
            self.add(rule, name, node)
