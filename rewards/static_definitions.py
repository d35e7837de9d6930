"""What ``def``, ``class`` and ``import`` bring into an answer's scopes."""

import ast
from collections.abc import Callable, Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_expressions import Expressions
from kernelwright.rewards.static_values import (
    HOST,
    Class,
    Function,
    Path,
    Report,
    Scope,
    Value,
)

Block = Callable[[Sequence[ast.stmt], Scope], bool]
_FLAVOURS = {
    "builtins.staticmethod": "staticmethod",
    "builtins.classmethod": "classmethod",
    "builtins.property": "property",
    "functools.cached_property": "property",
}


class Definitions:
    """Makes functions and classes; one per analysis."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.expressions: Expressions

    def make(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> Function:
        """The function that a def or a lambda makes, its defaults evaluated."""
        enclosing = scope.parent if scope.is_class and scope.parent else scope
        function = Function(node, enclosing, owner=scope.owner if scope.is_class else None)
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        named = zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True)
        keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for argument, default in [*named, *keyword]:
            if default is not None:
                function.defaults[argument.arg] = self.expressions.evaluate(default, scope)
        self._report.types_only += 1
        for argument in [*plain, *arguments.kwonlyargs]:
            if argument.annotation is not None:
                self.expressions.evaluate(argument.annotation, scope)
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            self.expressions.evaluate(node.returns, scope)
        self._report.types_only -= 1
        return function

    def function(self, node: ast.FunctionDef, scope: Scope) -> None:
        """Bind a def, its decorators applied."""
        function = self.make(node, scope)
        value: Value = frozenset({function})
        for decorator in reversed(node.decorator_list):
            found = self.expressions.evaluate(decorator, scope)
            paths = {atom.path for atom in found if isinstance(atom, Path)}
            if flavour := next((_FLAVOURS[path] for path in paths if path in _FLAVOURS), ""):
                function.flavour = flavour
            elif not (paths and paths <= rules.TRANSPARENT):
                name = ast.unparse(decorator)
                value = self.expressions.calls.call(found, [value], {}, node, name)
        self.expressions.stores.store(ast.Name(node.name, ast.Store()), value, scope)

    def class_(self, node: ast.ClassDef, scope: Scope, block: Block) -> None:
        """Bind a class: its body is run, its bases and special methods are checked."""
        self._report.types_only += 1
        bases = tuple(self.expressions.evaluate(base, scope) for base in node.bases)
        self._report.types_only -= 1
        for base, value in zip(node.bases, bases, strict=True):
            if not value or not all(_is_base(atom) for atom in value):
                self._report.add("inherit", ast.unparse(base), node)
        for keyword in node.keywords:
            self._report.add("inherit", keyword.arg or "**", node)
        body = Scope(scope, is_class=True)
        made = Class(node.name, bases, body.names)
        body.owner = made
        block(node.body, body)
        made.attributes = body.names
        module = any(path.startswith("torch.nn.") for path in made.paths())
        for name in made.attributes:
            if name.startswith("__") and name.endswith("__") and name not in rules.SPECIAL_METHODS:
                self._report.add("dunder", name, node)
            elif module and rules.MODULE_OVERRIDES.match(name):
                self._report.add("inherit", name, node)
        value = frozenset({made})
        for decorator in reversed(node.decorator_list):
            found = self.expressions.evaluate(decorator, scope)
            name = ast.unparse(decorator)
            value = self.expressions.calls.call(found, [value], {}, node, name)
        self.expressions.stores.store(ast.Name(node.name, ast.Store()), value, scope)

    def imports(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Bind imported names to their paths; whether they are allowed is `forbidden_imports`'."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                name = alias.asname or alias.name.partition(".")[0]
                path = alias.name if alias.asname else name
            else:
                name, path = alias.asname or alias.name, f"{node.module}.{alias.name}"
            found: Value = frozenset({Path(path)}) if node_module(node, alias) is None else HOST
            self.expressions.stores.store(ast.Name(name, ast.Store()), found, scope)


def node_module(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str | None:
    """Why this import is forbidden: the module's name; None where it is allowed."""
    module = alias.name if isinstance(node, ast.Import) else node.module or "."
    if isinstance(node, ast.ImportFrom) and (node.level or alias.name == "*"):
        return "*" if alias.name == "*" else "."
    if module.partition(".")[0] not in rules.IMPORTS:
        return module
    if module.startswith("torch") and not module.startswith("torch.autograd"):
        return None if module in rules.TORCH_MODULES else module
    return None


def _is_base(atom: object) -> bool:
    if isinstance(atom, Path):
        last = atom.path.rpartition(".")[2]
        plain = atom.path.startswith("torch.nn.") and last[:1].isupper()
        return plain or atom.path in rules.BASES
    return isinstance(atom, Class)
