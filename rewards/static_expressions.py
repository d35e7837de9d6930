"""What an expression of an answer may evaluate to; operators are judged here."""

import ast
import builtins
from collections.abc import Callable, Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_attributes import Enter
from kernelwright.rewards.static_calls import Calls
from kernelwright.rewards.static_operators import Operators
from kernelwright.rewards.static_stores import Stores
from kernelwright.rewards.static_values import (
    EXTENSION,
    HOST,
    NOTHING,
    UNKNOWN,
    Box,
    Function,
    Instance,
    Kind,
    Path,
    Report,
    Scope,
    Super,
    Text,
    Value,
    elements,
    holds_tensor,
    join,
)

Define = Callable[[ast.FunctionDef | ast.Lambda, Scope], Function]
_SPREAD = 8  # copies that stand for a starred argument of unknown length


class Expressions:
    """Evaluates expressions; one per analysis."""

    def __init__(self, report: Report, enter: Enter, define: Define) -> None:
        self._report = report
        self._define = define
        self._operators = Operators(report)
        self.calls = Calls(report, enter)
        self.stores = Stores(report, self.evaluate, self.calls.imported.environment)

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The possible values of *node*; violations on the way go to the report."""
        each = self.evaluate
        match node:
            case ast.Constant(value=value):
                return frozenset({Text(value)}) if isinstance(value, str) else HOST
            case ast.Name(id=name):
                return self._name(name, node, scope)
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operators.binary(each(left, scope), op, each(right, scope), node)
            case ast.UnaryOp(op=op, operand=operand):
                result = each(operand, scope)
                if isinstance(op, ast.Not):
                    return HOST
                return self._operators.binary(result, op, HOST, node)
            case ast.BoolOp(values=values):
                return join([each(value, scope) for value in values])
            case ast.Compare():
                compared = [each(part, scope) for part in (node.left, *node.comparators)]
                return self._operators.compare(compared, node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                each(test, scope)
                return each(body, scope) | each(orelse, scope)
            case ast.NamedExpr(target=target, value=value):
                result = each(value, scope)
                self.stores.store(target, result, scope)
                return result
            case ast.Lambda():
                return frozenset({self._define(node, scope)})
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return frozenset({Box(dict(enumerate(self._spread(items, scope))))})
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values, scope)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case ast.Subscript(value=value, slice=index):
                return self._operators.subscript(
                    each(value, scope), each(index, scope), index, node
                )
            case ast.JoinedStr(values=values):
                return self._fstring(values, scope)
            case ast.Yield(value=ast.expr() as value):
                return frozenset({Box(rest=each(value, scope))})
        children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        parts = [each(child, scope) for child in children]
        return frozenset({Box(rest=join(parts))}) if holds_tensor(join(parts), True) else HOST

    def _name(self, name: str, node: ast.AST, scope: Scope) -> Value:
        if (found := scope.find(name)) is not None:
            paths = [atom.path for atom in found if isinstance(atom, Path)]
            for path in paths:
                self.calls.attributes.path(path, node)
            return found
        if name in rules.BANNED_NAMES:
            self._report.add("call", name, node)
        elif name.startswith("__") and name not in rules.DUNDER_NAMES:
            self._report.add("dunder", name, node)
        elif hasattr(builtins, name):
            return frozenset({Path(f"builtins.{name}")})
        return HOST if name in rules.DUNDER_NAMES else UNKNOWN

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        parts, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            found = scope.find(base.id) or NOTHING
            if found and all(isinstance(atom, Path) for atom in found):
                dotted = ".".join(reversed(parts))
                return join(
                    [self.calls.attributes.path(f"{atom.path}.{dotted}", node) for atom in found]
                )
        return self.calls.attributes.attribute(self.evaluate(node.value, scope), node.attr, node)

    def _spread(self, items: Sequence[ast.expr], scope: Scope) -> list[Value]:
        values: list[Value] = []
        for item in items:
            if not isinstance(item, ast.Starred):
                values.append(self.evaluate(item, scope))
                continue
            value = self.evaluate(item.value, scope)
            boxes = [atom for atom in value if isinstance(atom, Box)]
            if len(boxes) == len(value) == 1 and not boxes[0].rest:
                values += boxes[0].known.values()
            else:
                values += [elements(value)] * _SPREAD
        return values

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Name) and scope.find(name) is None:
            if name == "super":
                return self._super(node, scope)
            if name in ("getattr", "setattr") and len(node.args) >= 2:
                return self._getattr(node, scope, name)
        callee = self.evaluate(node.func, scope)
        types = name in ("isinstance", "issubclass")
        given = self._spread(node.args[:1], scope) if types else self._spread(node.args, scope)
        if types:
            self._report.types_only += 1
            self._spread(node.args[1:], scope)
            self._report.types_only -= 1
        named: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
                continue
            for atom in value:
                if isinstance(atom, Box):
                    named |= {k: v for k, v in atom.known.items() if isinstance(k, str)}
            named["**"] = elements(value)
        if not named.get("**", HOST):
            del named["**"]
        return self.calls.call(callee, given, named, node, name)

    def _super(self, node: ast.Call, scope: Scope) -> Value:
        place: Scope | None = scope
        while place is not None and not (place.owner and place.receiver):
            place = place.parent
        if place is None or place.owner is None:
            self._report.compute("inherit", "super()", node)
            return UNKNOWN
        return frozenset({Super(place.owner, place.receiver)})

    def _getattr(self, node: ast.Call, scope: Scope, function: str) -> Value:
        owner = self.evaluate(node.args[0], scope)
        self.evaluate(node.args[1], scope)
        rest = join([self.evaluate(argument, scope) for argument in node.args[2:]])
        literal = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        if function == "setattr":
            self.stores.attribute(owner, str(literal) if literal else "*", rest, node)
            return HOST
        if isinstance(literal, str):
            return self.calls.attributes.attribute(owner, literal, node) | rest
        found = rest
        for atom in owner:
            if atom is Kind.EXTENSION:
                found |= EXTENSION
            elif isinstance(atom, Instance) and not _is_joined(node.args[1]):
                everything = set(atom.attributes) | set(atom.cls.attributes)
                for each in sorted(everything - {"__init__", "forward"}):
                    found |= self.calls.attributes.attribute(frozenset({atom}), each, node)
            elif atom is not Kind.HOST:
                self._report.add("getattr", ast.unparse(node.args[1]), node)
        return found or UNKNOWN

    def augment(self, target: ast.expr, op: ast.AST, value: Value, scope: Scope) -> None:
        """``target op= value``."""
        loaded = ast.parse(ast.unparse(target), mode="eval").body
        for part in ast.walk(loaded):
            ast.copy_location(part, target)
        self.stores.store(
            target, self._operators.binary(self.evaluate(loaded, scope), op, value, target), scope
        )

    def _dict(
        self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], scope: Scope
    ) -> Value:
        box = Box()
        for key, expression in zip(keys, values, strict=True):
            value = self.evaluate(expression, scope)
            if key is None:
                box.rest |= elements(value)
            elif isinstance(key, ast.Constant):
                box.known[key.value] = value
            else:
                self.evaluate(key, scope)
                box.rest |= value
        return frozenset({box})

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
    ) -> Value:
        inner = Scope(scope)
        for generator in node.generators:
            self.stores.store(
                generator.target, elements(self.evaluate(generator.iter, inner)), inner
            )
            for condition in generator.ifs:
                self.evaluate(condition, inner)
        if isinstance(node, ast.DictComp):
            self.evaluate(node.key, inner)
            return frozenset({Box(rest=self.evaluate(node.value, inner))})
        return frozenset({Box(rest=self.evaluate(node.elt, inner))})

    def _fstring(self, values: Sequence[ast.expr], scope: Scope) -> Value:
        text = ""
        for value in values:
            if isinstance(value, ast.Constant):
                text += str(value.value)
            elif isinstance(value, ast.FormattedValue):
                inside = self.evaluate(value.value, scope)
                known = [atom.text for atom in inside if isinstance(atom, Text)]
                text += known[0] if known else "0"
        return frozenset({Text(text)})


def _is_joined(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp)
