"""Attributes and calls of abstract values: where gate 2 allows or refuses.

User functions are entered through the hook that the interpreter gives; everything else is decided
from the lists in `static_rules`.
"""

import ast
from collections.abc import Callable, Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_imported import Imported
from kernelwright.rewards.static_values import (
    EXTENSION,
    HOST,
    MODULE,
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
    Super,
    Text,
    Value,
    elements,
    holds_tensor,
    join,
)

Enter = Callable[[Function, Sequence[Value], dict[str, Value], ast.AST], Value]


class Calls:
    """Decides attributes and calls; one per analysis."""

    def __init__(self, report: Report, enter: Enter) -> None:
        self._report = report
        self._enter = enter
        self._imported = Imported(report, self.apply)
        self.environment = self._imported.environment

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """``value.name``."""
        if name.startswith("__") and name.endswith("__") and name not in rules.DUNDER_FIELDS:
            self._report.add("dunder", name, node)
            return UNKNOWN
        if rules.FRAME_FIELDS.match(name):
            self._report.add("dunder", name, node)
            return UNKNOWN
        return join(self._attribute(atom, name, node) for atom in value)

    def _attribute(self, atom: Atom, name: str, node: ast.AST) -> Value:
        if isinstance(atom, Path):
            return self.path(f"{atom.path}.{name}", node)
        if isinstance(atom, Instance):
            return self._of_instance(atom, name, node)
        if isinstance(atom, Class):
            return self._of_class(atom, name)
        if isinstance(atom, Super):
            return self._of_super(atom, name, node)
        if isinstance(atom, Function):
            return atom.attributes.get(name, HOST if name.startswith("__") else UNKNOWN)
        if isinstance(atom, Bound):
            return frozenset({Method(atom, name)})
        if isinstance(atom, Box):
            return frozenset({Method(atom, name)})
        if atom is Kind.EXTENSION:
            return EXTENSION
        if atom is Kind.TENSOR:
            return self._of_tensor(name, node)
        if atom is Kind.MODULE:
            return self._of_module(name)
        if atom is Kind.UNKNOWN:
            return frozenset({Kind.UNKNOWN, Method(Kind.UNKNOWN, name)})
        if isinstance(atom, Text):
            return frozenset({Method(atom, name)})
        return frozenset({Kind.HOST, Method(Kind.HOST, name)})

    def path(self, path: str, node: ast.AST) -> Value:
        """What stands at an imported or built-in *path*, if it may be mentioned here."""
        found = frozenset({Path(path)})
        root, *parts = path.split(".")
        hidden = next((part for part in parts if part.startswith("_")), "")
        hidden = "" if path in rules.TORCH_PRIVATE else hidden
        stdlib = next((part for part in parts if part in rules.STDLIB), "")
        if root == "os":
            if not rules.OS_PATHS.fullmatch(path):
                self._report.add("import", path, node)
            self._report.compute("call", path, node)
        elif stdlib and path not in rules.TORCH_MODULES:
            self._report.add("import", stdlib, node)
        elif root == "torch" and hidden and path != "torch.__version__":
            self._report.add("call", path, node)
        elif root == "torch" and rules.DENIED.match(path):
            patched = path.startswith(("torch.set_", "torch.use_"))
            self._report.add("patch" if patched else "call", path, node)
        elif hidden and root != "torch" and hidden not in rules.DUNDER_FIELDS:
            self._report.add("dunder", path, node)
        elif root == "torch" and not self._report.types_only:
            if not rules.forward_may_mention(path):
                self._report.compute("call", path, node)
        return found | HOST if rules.is_constant(path) else found

    def _of_instance(self, atom: Instance, name: str, node: ast.AST) -> Value:
        own = atom.attributes.get(name, NOTHING)
        inherited = self._bind(atom.cls.find(name), frozenset({atom}), atom.cls, node)
        if own or inherited:
            return own | inherited
        bases = atom.cls.paths()
        if any(base.startswith("torch.nn.") for base in bases):
            if name == "training":
                return HOST
            if name in rules.MODULE_METHODS or name == "apply" or "hook" in name:
                return frozenset({Method(atom, name)})
            if bases != {"torch.nn.Module"}:
                return self._of_module(name)
        return UNKNOWN | atom.given | {Method(Kind.UNKNOWN, name)}

    def _of_class(self, atom: Class, name: str) -> Value:
        if name == "apply" and any("autograd" in base for base in atom.paths()):
            return frozenset({Method(atom, name)})
        found = atom.find(name)
        return frozenset(
            Bound(item, (frozenset({atom}),))
            if isinstance(item, Function) and item.flavour == "classmethod"
            else item
            for item in found
        ) or frozenset({Kind.UNKNOWN, Method(atom, name)})

    def _of_super(self, atom: Super, name: str, node: ast.AST) -> Value:
        found = join(
            self._bind(item.find(name), atom.receiver, item, node)
            for base in atom.owner.bases
            for item in base
            if isinstance(item, Class)
        )
        if not found and name != "__init__" and name not in rules.MODULE_METHODS:
            self._report.add("inherit", f"super().{name}", node)
        return found or frozenset({Method(Kind.HOST, name)})

    def _bind(self, value: Value, receiver: Value, cls: Class, node: ast.AST) -> Value:
        bound: list[Value] = []
        for item in value:
            if not isinstance(item, Function) or item.flavour == "staticmethod":
                bound.append(frozenset({item}))
            elif item.flavour == "property":
                bound.append(self._enter(item, [receiver], {}, node))
            elif item.flavour == "classmethod":
                bound.append(frozenset({Bound(item, (frozenset({cls}),))}))
            else:
                bound.append(frozenset({Bound(item, (receiver,))}))
        return join(bound)

    def _of_tensor(self, name: str, node: ast.AST) -> Value:
        if name in rules.TENSOR_HOST_FIELDS:
            return HOST
        if name in rules.TENSOR_FIELDS:
            return TENSOR
        if name not in rules.TENSOR_HOST and name not in rules.TENSOR_PLUMBING:
            self._report.compute("call", f"Tensor.{name}", node)
        return frozenset({Method(Kind.TENSOR, name)})

    def _of_module(self, name: str) -> Value:
        if rules.MODULE_TENSORS.match(name):
            return TENSOR
        if name == "forward" or name.startswith("_") or name in rules.MODULE_METHODS:
            return frozenset({Method(Kind.MODULE, name)})
        return frozenset({Kind.UNKNOWN, Method(Kind.MODULE, name)})

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
            return self._imported.call(atom.path, given, named, node)
        if isinstance(atom, Method):
            return self._method(atom, given, named, node, name)
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
            found = own | self._bind(atom.cls.find(method), receiver, atom.cls, node)
            if found:
                return self.call(found, given, named, node, name)
        self._report.compute("submodule", name, node)
        return TENSOR

    def _method(
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
            self.call(given[0] if given else NOTHING, [inside | {owner}], {}, node, "apply")
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
        result = self.call(owner.find("forward"), [*first, *given], named, node, "apply")
        if split:
            inputs = frozenset({Box(rest=join(given))})
            setup = owner.find("setup_context")
            self.call(setup, [UNKNOWN, inputs, result], {}, node, "setup_context")
        return result
