"""Gate 2: is an answer legal, as far as its text shows?

An allow-list over imports and over everything that ``ModelNew.forward`` can reach: methods,
helpers, lambdas, properties, hooks, values stored in ``__init__``. Answers are parsed, never run.
Host arithmetic on shapes and numbers is fine; operators on what is surely a tensor are compute.
What a text cannot decide (a parameter declared ``float`` that is a tensor, an alias made by C++) is
left to the object scan and to the dispatcher trace. The C++ in constant strings gives early,
readable reasons (`static_cpp`); the symbols of the built object decide.
"""

import ast

from kernelwright.rewards import static_cpp
from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_definitions import node_module
from kernelwright.rewards.static_interpreter import Exhausted, Interpreter
from kernelwright.rewards.static_values import Class, Instance, Report, Violation

__all__ = ["Violation", "violations"]


def violations(source: str) -> list[Violation]:
    """Why the answer module *source* is illegal, by line; empty where nothing was found."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [Violation("syntax", type(error).__name__, getattr(error, "lineno", 0) or 0)]
    report = Report()
    try:
        _everywhere(tree, report)
        interpreter = Interpreter(report)
        interpreter.run_module(tree)
        _model(interpreter, tree)
    except (Exhausted, RecursionError):
        report.add("limit", "analysis", tree)
    for text, line in report.sources.items():
        for name in static_cpp.forbidden(text):
            report.found.add(Violation("cpp", name, line))
    return sorted(report.found, key=_order)


def _order(found: Violation) -> tuple[bool, int, str, str]:
    """By line; that there is no kernel comes last, since the others say more."""
    return (found.rule in ("no_kernel", "no_model"), found.line, found.rule, found.name)


def _everywhere(tree: ast.Module, report: Report) -> None:
    """What no part of an answer may hold, reached or not."""
    nodes = list(ast.walk(tree))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for each in names:
        if each.id in rules.BANNED_NAMES - bound:
            report.add("call", each.id, each)
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if name := node_module(node, alias):
                    report.add("import", name, node)
        elif isinstance(node, ast.Attribute):
            name = node.attr
            special = name.startswith("__") and name.endswith("__")
            if (special and name not in rules.DUNDER_FIELDS) or rules.FRAME_FIELDS.match(name):
                report.add("dunder", name, node)


def _model(interpreter: Interpreter, tree: ast.Module) -> None:
    """Build ``ModelNew`` and go through forward twice: one call may leave things to the next."""
    report = interpreter.report
    value = interpreter.module.names.get("ModelNew", frozenset())
    classes = [atom for atom in value if isinstance(atom, Class)]
    if not classes:
        report.add("no_model" if not value else "inherit", "ModelNew", tree)
        return
    if len(value) > 1:
        report.add("inherit", "ModelNew", tree)
    for model in classes:
        if model.paths() != {"torch.nn.Module"} or any(
            isinstance(atom, Class) for base in model.bases for atom in base
        ):
            report.add("inherit", f"{model.name}'s base is not nn.Module", tree)
        instance = Instance(model)
        interpreter.run_init(instance)
        for _ in range(2):
            interpreter.run_forward(instance, tree)
    if not report.loaded:
        report.add("no_kernel", "no load_inline", tree)
    elif not report.called:
        report.add("no_kernel", "forward calls none", tree)
