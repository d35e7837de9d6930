"""Runs an answer's statements on abstract values: every path, no execution, no torch.

Both branches of a condition are taken, loops twice, helpers are entered at each call. A budget of
steps ends an analysis that an answer was written to blow up; that is a violation too.
"""

import ast
from collections.abc import Sequence

from kernelwright.rewards import static_arguments as arguments
from kernelwright.rewards.static_definitions import Definitions
from kernelwright.rewards.static_expressions import Expressions
from kernelwright.rewards.static_values import (
    HOST,
    NOTHING,
    TENSOR,
    UNKNOWN,
    Box,
    Function,
    Instance,
    Report,
    Scope,
    Value,
    elements,
    join,
)

MAX_STEPS = 40_000
MAX_DEPTH = 24


class Exhausted(Exception):
    """The analysis took more steps than any honest answer needs."""


class Interpreter:
    """One analysis of one module."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.module = Scope(None)
        self._steps = 0
        self._stack: list[ast.AST] = []
        self._returns: list[list[Value]] = []
        self._definitions = Definitions(report)
        self._expressions = Expressions(report, self.enter, self._definitions.make)
        self._definitions.expressions = self._expressions

    def run_module(self, tree: ast.Module) -> None:
        """Module-level code, with the freedom that set-up has."""
        self._block(tree.body, self.module)

    def run_init(self, instance: Instance) -> None:
        """``ModelNew(*init)`` with arguments that nobody knows."""
        for atom in instance.cls.find("__init__"):
            if isinstance(atom, Function):
                wanted = len(atom.node.args.posonlyargs) + len(atom.node.args.args) - 1
                given: list[Value] = [frozenset({instance}), *[UNKNOWN] * wanted]
                self.enter(atom, given, {}, atom.node)

    def run_forward(self, instance: Instance, tree: ast.AST) -> None:
        """What calling *instance* reaches, hooks included."""
        self.report.forward = True
        receiver = frozenset({instance})
        for name in ("forward", "__call__"):
            for atom in instance.cls.find(name) | instance.attributes.get(name, NOTHING):
                if isinstance(atom, Function):
                    offset = 0 if atom.flavour == "staticmethod" else 1
                    given = arguments.possible(atom, offset)
                    self.enter(atom, [receiver] * offset + given, {}, atom.node)
                else:
                    self._expressions.calls.call(frozenset({atom}), [TENSOR], {}, tree, name)
        for hook in self.report.hooks:
            inputs = frozenset({Box(rest=TENSOR)})
            self._expressions.calls.call(hook, [receiver, inputs, TENSOR], {}, tree, "hook")
        self.report.forward = False

    def enter(
        self, function: Function, given: Sequence[Value], named: dict[str, Value], _: ast.AST
    ) -> Value:
        """Call a function of the answer: bind its arguments and run its body."""
        self._tick()
        if len(self._stack) >= MAX_DEPTH or self._stack.count(function.node) > 1:
            return UNKNOWN
        scope = Scope(function.scope, owner=function.owner)
        root = self.report.forward and not self._stack
        arguments.bind(function, list(given), dict(named), scope, root)
        self._stack.append(function.node)
        self._returns.append([])
        if isinstance(function.node, ast.Lambda):
            self._returns[-1].append(self._evaluate(function.node.body, scope))
        else:
            self._block(function.node.body, scope)
        self._stack.pop()
        result = join(self._returns.pop())
        if not isinstance(function.node, ast.Lambda) and not result:
            return HOST
        return result

    def _tick(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Exhausted

    def _evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        self._tick()
        return HOST if node is None else self._expressions.evaluate(node, scope)

    def _block(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Run *body*; whether control may leave it at its end."""
        falls = True
        for statement in body:
            self._tick()
            falls = self._statement(statement, scope) and falls
        return falls

    def _either(self, branches: Sequence[Sequence[ast.stmt]], scope: Scope) -> bool:
        """Run each of *branches* from here; afterwards any of those that fall through happened."""
        before, ends = scope.names, []
        for body in branches:
            scope.names = dict(before)
            if self._block(body, scope):
                ends.append(scope.names)
        scope.names = _merge(ends) if ends else before
        return bool(ends)

    def _statement(self, node: ast.stmt, scope: Scope) -> bool:
        match node:
            case ast.Expr(value=value):
                self._evaluate(value, scope)
            case ast.Assign(targets=targets, value=value):
                result = self._evaluate(value, scope)
                for target in targets:
                    self._expressions.stores.store(target, result, scope)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self._expressions.stores.store(target, self._evaluate(value, scope), scope)
            case ast.AugAssign(target=target, op=op, value=value):
                self._expressions.augment(target, op, self._evaluate(value, scope), scope)
            case ast.Return(value=value):
                if self._returns:
                    self._returns[-1].append(self._evaluate(value, scope))
                return False
            case ast.Raise(exc=error, cause=cause):
                self._evaluate(error, scope)
                self._evaluate(cause, scope)
                return False
            case ast.If(test=test, body=body, orelse=orelse):
                self._evaluate(test, scope)
                return self._either([body, orelse], scope)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                items = elements(self._evaluate(iterable, scope))
                self._loop(body, scope, target, items)
                self._block(orelse, scope)
            case ast.While(test=test, body=body, orelse=orelse):
                self._evaluate(test, scope)
                self._loop([ast.copy_location(ast.Expr(test), test), *body], scope, None, NOTHING)
                self._block(orelse, scope)
            case ast.With(items=items_, body=body):
                for item in items_:
                    self._evaluate(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self._expressions.stores.store(item.optional_vars, UNKNOWN, scope)
                return self._block(body, scope)
            case ast.Try() | ast.TryStar():
                return self._try(node, scope)
            case ast.FunctionDef():
                self._definitions.function(node, scope)
            case ast.ClassDef():
                self._definitions.class_(node, scope, self._block)
            case ast.Global(names=names):
                scope.outer.update(dict.fromkeys(names, self.module))
            case ast.Nonlocal(names=names):
                for name in names:
                    outer = scope.parent
                    while outer is not None and name not in outer.names:
                        outer = outer.parent
                    scope.outer[name] = outer or self.module
            case ast.Import() | ast.ImportFrom():
                self._definitions.imports(node, scope)
            case ast.Assert(test=test, msg=message):
                self._evaluate(test, scope)
                self._evaluate(message, scope)
            case ast.Match(subject=subject, cases=cases):
                self._match(subject, cases, scope)
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith():
                self.report.add("call", "async", node)
        return True

    def _loop(
        self, body: Sequence[ast.stmt], scope: Scope, target: ast.expr | None, items: Value
    ) -> None:
        """Run *body* none, one or two times: enough for what one round hands to the next."""
        for _ in range(2):
            before = scope.names
            scope.names = dict(before)
            if target is not None:
                self._expressions.stores.store(target, items, scope)
            falls = self._block(body, scope)
            scope.names = _merge([before, scope.names] if falls else [before])

    def _try(self, node: ast.Try | ast.TryStar, scope: Scope) -> bool:
        before = dict(scope.names)
        falls = self._block(node.body, scope)
        after = scope.names
        self.report.handlers += 1
        ends = []
        if falls and self._block(node.orelse, scope):
            ends.append(scope.names)
        for handler in node.handlers:
            scope.names = _merge([before, after])
            if handler.name:
                scope.names[handler.name] = HOST
            if self._block(handler.body, scope):
                ends.append(scope.names)
        scope.names = _merge(ends) if ends else _merge([before, after])
        falls = self._block(node.finalbody, scope)
        self.report.handlers -= 1
        return falls and bool(ends)

    def _match(self, subject: ast.expr, cases: Sequence[ast.match_case], scope: Scope) -> bool:
        value = self._evaluate(subject, scope)
        for case in cases:
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    scope.names[name] = value | elements(value)
            self._evaluate(case.guard, scope)
        return self._either([[], *(case.body for case in cases)], scope)


def _merge(ends: Sequence[dict[str, Value]]) -> dict[str, Value]:
    merged: dict[str, Value] = {}
    for names in ends:
        for name, value in names.items():
            merged[name] = merged.get(name, NOTHING) | value
    return merged
