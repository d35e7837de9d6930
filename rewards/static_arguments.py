"""What the parameters of an answer's function may be given."""

import ast

from kernelwright.rewards.static_values import (
    HOST,
    NOTHING,
    TENSOR,
    UNKNOWN,
    Box,
    Function,
    Scope,
    Value,
    join,
)

_SCALARS = frozenset({"int", "float", "bool", "str"})


def possible(function: Function, skip: int) -> list[Value]:
    """What forward may be given; a declared or defaulted number stays unknown, for gate 5."""
    arguments = function.node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    first_default = len(plain) - len(arguments.defaults)
    values: list[Value] = []
    for index, argument in enumerate(plain[skip:], skip):
        default = arguments.defaults[index - first_default] if index >= first_default else None
        if _is_scalar(argument.annotation) or _is_number(default):
            values.append(UNKNOWN)
        else:
            values.append(TENSOR if default is None else TENSOR | HOST)
    return values


def bind(
    function: Function,
    given: list[Value],
    named: dict[str, Value],
    scope: Scope,
    root: bool,
) -> None:
    """Give the parameters of *function* their values in *scope*; *root*: the caller is torch."""
    unknown = TENSOR if root else NOTHING
    arguments = function.node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    spread = join(join(b.rest for b in v if isinstance(b, Box)) for v in given[len(plain) :])
    for index, argument in enumerate(plain):
        value = given[index] if index < len(given) else named.pop(argument.arg, NOTHING)
        fallback = function.defaults.get(argument.arg, UNKNOWN)
        scope.names[argument.arg] = value or named.get("**", NOTHING) or fallback
    for argument in arguments.kwonlyargs:
        given_by_torch = root and not _is_scalar(argument.annotation)
        fallback = function.defaults.get(argument.arg, TENSOR if given_by_torch else UNKNOWN)
        value = named.pop(argument.arg, NOTHING) or named.get("**", NOTHING)
        scope.names[argument.arg] = value or fallback
    if arguments.vararg:
        extra = dict(enumerate(given[len(plain) :]))
        scope.names[arguments.vararg.arg] = frozenset({Box(extra, spread | unknown)})
    if arguments.kwarg:
        scope.names[arguments.kwarg.arg] = frozenset({Box(dict(named), unknown)})
    if function.owner and given and function.flavour != "staticmethod":
        scope.receiver = given[0]


def _is_scalar(annotation: ast.expr | None) -> bool:
    """Whether a parameter is declared as a host number or string."""
    if annotation is None:
        return False
    names = {part.id for part in ast.walk(annotation) if isinstance(part, ast.Name)}
    return bool(names & _SCALARS) and "Tensor" not in ast.unparse(annotation)


def _is_number(default: ast.expr | None) -> bool:
    """Whether a default is a host number or string."""
    return (isinstance(default, ast.Constant) and default.value is not None) or isinstance(
        default, (ast.Tuple, ast.UnaryOp)
    )
