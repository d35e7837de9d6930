"""Built objects as modules with callable functions."""

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelwright.rewards.backend import Artefact
from kernelwright.rewards.backends.full_build import module_name

_bindings: dict[Path, ModuleType] = {}


def _extension(name: str, path: Path) -> ModuleType:
    loader = ExtensionFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{path} is not an extension module")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def load_slim(artefact: Artefact, binding: Path) -> Any:
    """The functions of a slim object, called through *binding*."""
    import torch  # noqa: F401  its libraries must be loaded first

    if binding not in _bindings:
        _bindings[binding] = _extension("kernelwright_binding", binding)
    doc, functions = _bindings[binding].load(str(artefact.path.resolve()))
    module = ModuleType(f"kernel_{artefact.digest}", doc)
    module.__file__ = str(artefact.path)
    vars(module).update(functions)
    return module


def load_full(artefact: Artefact) -> Any:
    """The extension module of an object built against torch's own headers."""
    import torch  # noqa: F401  its libraries must be loaded first

    return _extension(module_name(artefact.digest), artefact.path.resolve())
