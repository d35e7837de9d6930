"""What C++ or CUDA text may not name: library compute, loaders, system calls, Python.

The text is parsed with tree-sitter's CUDA grammar, so comments and strings are not code. Covers
plain spellings, aliases of the namespaces and macro bodies; names made by token pasting show only
in the built object's symbols, which decide.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from kernelwright.rewards import static_cpp_rules as rules


def forbidden(text: str) -> list[str]:
    """The forbidden names in C++ or CUDA *text*, sorted; empty where there are none."""
    return sorted(set(_scan(text, frozenset(), 0)))


@cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_cuda

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def _scan(text: str, defined: frozenset[str], depth: int) -> Iterator[str]:
    # A continued line is one line, to the preprocessor and to us.
    root = _parser().parse(text.replace("\\\n", "  ").encode()).root_node
    nodes = list(_walk(root))
    defined |= frozenset(_definitions(nodes))
    aliases = _aliases(nodes)
    for node in nodes:
        kind = node.type
        if kind == "preproc_include":
            path = _text(node.child_by_field_name("path")).strip('<>" ')
            if rules.HEADERS.match(path) and not path.startswith("sys/types"):
                yield f"#include {path}"
        elif kind in ("preproc_def", "preproc_function_def") and depth < 3:
            body = node.child_by_field_name("value")
            if body is not None:
                yield from _scan(f"void macro_body() {{ {_text(body)}; }}", defined, depth + 1)
        elif kind == "qualified_identifier" and node.parent.type != "qualified_identifier":
            yield from _qualified(_parts(node), aliases)
        elif kind == "using_declaration":
            yield from _qualified([*_parts(node), ""], {})
        elif kind == "call_expression":
            yield from _called(node.child_by_field_name("function"), defined)
        elif kind == "gnu_asm_expression" and (match := rules.ASM.search(_text(node))):
            yield f"asm {match.group()}"
        elif kind in ("attribute_specifier", "attribute_declaration") and (
            match := rules.ATTRIBUTE.search(_text(node))
        ):
            yield f"attribute {match.group()}"
        elif (
            kind in ("identifier", "type_identifier")
            and rules.CALLS.match(_text(node))
            and (_text(node) not in defined or _text(node).startswith("TORCH_"))
        ):
            yield _text(node)
        elif kind == "function_definition":
            yield from _operators(node)


def _walk(root: Any) -> Iterator[Any]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children)


def _text(node: Any) -> str:
    return node.text.decode(errors="replace") if node is not None else ""


def _parts(node: Any) -> list[str]:
    """The names of a qualified identifier, outermost first, template arguments left out."""
    found = []
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type in rules.NAMES:
            found.append(_text(each))
        elif each.type not in ("template_argument_list", "argument_list"):
            pending += reversed(each.children)
    return found


def _definitions(nodes: list[Any]) -> Iterator[str]:
    """Functions with a body, and macros, that the text itself defines."""
    for node in nodes:
        if node.type == "function_definition":
            declarator = node.child_by_field_name("declarator")
            while declarator is not None and declarator.type != "function_declarator":
                declarator = declarator.child_by_field_name("declarator") or next(
                    (c for c in declarator.named_children if "declarator" in c.type), None
                )
            name = declarator.child_by_field_name("declarator") if declarator else None
            if name is not None:
                yield _text(name)
        elif node.type == "preproc_function_def":
            yield _text(node.child_by_field_name("name"))
        elif node.type == "init_declarator":
            value = node.child_by_field_name("value")
            if value is not None and value.type == "lambda_expression":
                yield _text(node.child_by_field_name("declarator"))


def _aliases(nodes: list[Any]) -> dict[str, list[str]]:
    """``namespace A = at::b;`` by name."""
    found = {}
    for node in nodes:
        if node.type == "namespace_alias_definition":
            names = _parts(node)
            found[names[0]] = names[1:]
    return found


def _qualified(names: list[str], aliases: dict[str, list[str]]) -> Iterator[str]:
    if names and names[0] in aliases:
        names = [*aliases[names[0]], *names[1:]]
    if not names:
        return
    shown = "::".join(name for name in names if name)
    if names[0] in ("py", "pybind11"):
        if len(names) > 1 and names[1] in rules.PYTHON and names[-1] != "def":
            yield shown
        return
    if names[0] == "std" and len(names) > 1 and rules.CALLS.match(names[1]):
        yield shown
    if names[0] not in rules.ROOTS:
        return
    rest = [name for name in names[1:] if name not in rules.ROOTS]
    if not rest or not rest[0]:
        return
    head = rest[0]
    if head in ("cuda", "hip", "musa") and len(rest) > 1 and rest[1]:
        if rest[1] not in rules.CUDA and not rest[1][:1].isupper():
            yield shown
    elif head in rules.DENIED_NAMESPACES or head in rules.TYPES_DENIED:
        yield shown
    elif head == "Tensor" and len(rest) > 1:
        if rest[-1] not in rules.METHODS:
            yield shown
    elif (head == "indexing" and len(rest) > 1 and rest[1][:1].islower()) or (
        head not in rules.FUNCTIONS and not rules.TYPE.match(head)
    ):
        yield shown


def _called(callee: Any, defined: frozenset[str]) -> Iterator[str]:
    if callee is None:
        return
    if callee.type == "identifier" and _text(callee) in rules.COMPUTE - defined:
        yield _text(callee)
    elif callee.type == "field_expression":
        name = _parts(callee.child_by_field_name("field"))[:1]
        if name and name[0] in rules.COMPUTE - {"stack", "scatter", "gather", "norm"}:
            yield f".{name[0]}"


def _operators(function: Any) -> Iterator[str]:
    """Operators and methods on names that *function* declares as tensors and nothing else."""
    tensors: set[str] = set()
    others: set[str] = set()
    nodes = list(_walk(function))
    for node in nodes:
        if node.type not in (
            "parameter_declaration",
            "declaration",
            "optional_parameter_declaration",
        ):
            continue
        tensor = _parts(node.child_by_field_name("type"))[-1:] == ["Tensor"]
        for declarator in node.children_by_field_name("declarator"):
            names = [n for n in _walk(declarator) if n.type == "identifier"]
            if names:
                (tensors if tensor else others).add(_text(names[0]))
    tensors -= others
    for node in nodes:
        if node.type == "binary_expression":
            for side in ("left", "right"):
                operand = node.child_by_field_name(side)
                if (
                    operand is not None
                    and operand.type == "identifier"
                    and _text(operand) in tensors
                ):
                    yield f"Tensor operator{_text(node.child_by_field_name('operator'))}"
        elif node.type == "call_expression":
            callee = node.child_by_field_name("function")
            if callee.type != "field_expression":
                continue
            owner = callee.child_by_field_name("argument")
            name = _parts(callee.child_by_field_name("field"))[:1]
            known = owner.type == "identifier" and _text(owner) in tensors
            if known and name and name[0] not in rules.METHODS:
                yield f"Tensor.{name[0]}"
