"""What an attribute of an abstract value is, and which may not be looked at."""

import ast
from collections.abc import Callable, Sequence

from kernelwright.rewards import static_rules as rules
from kernelwright.rewards.static_values import (
    EXTENSION,
    HOST,
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
    join,
)

Enter = Callable[[Function, Sequence[Value], dict[str, Value], ast.AST], Value]


class Attributes:
    """Decides attributes; one per analysis. *enter* runs a property of the answer."""

    def __init__(self, report: Report, enter: Enter) -> None:
        self._report = report
        self._enter = enter

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
        elif not (self._report.types_only or rules.forward_may_mention(path)):
            self._report.compute("call", path, node)
        return found | HOST if rules.is_constant(path) else found

    def _of_instance(self, atom: Instance, name: str, node: ast.AST) -> Value:
        own = atom.attributes.get(name, NOTHING)
        inherited = self.bind(atom.cls.find(name), frozenset({atom}), atom.cls, node)
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
            self.bind(item.find(name), atom.receiver, item, node)
            for base in atom.owner.bases
            for item in base
            if isinstance(item, Class)
        )
        if not found and name != "__init__" and name not in rules.MODULE_METHODS:
            self._report.add("inherit", f"super().{name}", node)
        return found or frozenset({Method(Kind.HOST, name)})

    def bind(self, value: Value, receiver: Value, cls: Class, node: ast.AST) -> Value:
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
