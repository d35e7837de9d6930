"""A task as chat messages: the only place that writes a prompt for a first answer.

Two styles. ``full`` states the rules, as a general model needs them (after MusaCoder, appendix A);
``terse`` is the reference alone, for policies trained from scratch on nothing else. The answer's
side of the contract is `candidate.extract`.
"""

from kernelwright.rewards.task import Task

STYLES = ("full", "terse")

_RULES = """\
Rewrite the PyTorch module below as a faster one with {language} kernels of your own.
- Keep the interface: a class `ModelNew` with the same constructor and forward arguments as `Model`.
- All computation happens in your kernels. No torch operator, functional or submodule computes in
  `forward`; allocation, views and `.contiguous()` are fine.
- Build parameter-holding submodules in `__init__` exactly as `Model` does, so that the state_dict
  keys match, but never call them: pass their weights to your kernels. Parameters are loaded after
  `__init__`, so do not fold them there.
- Compile with `torch.utils.cpp_extension.load_inline`, {arguments}.
- Answer with one ```python code block that runs as it is.
"""

_LANGUAGES = {
    "cpu": ("C++", "giving `name`, `cpp_sources` and `functions`; OpenMP and AVX are available"),
}


def messages(task: Task, backend: str, style: str = "full") -> list[dict[str, str]]:
    """Chat messages that ask for *task* in *backend*'s language."""
    reference = f"```python\n{task.source.strip()}\n```"
    if style == "terse":
        return [{"role": "user", "content": reference}]
    if style != "full":
        raise ValueError(f"no prompt style {style!r}; styles: {', '.join(STYLES)}")
    language, arguments = _LANGUAGES.get(backend, (backend, "giving `name`, sources, `functions`"))
    rules = _RULES.format(language=language, arguments=arguments)
    notes = "The module runs in training mode.\n" if task.mode == "train" else ""
    return [{"role": "user", "content": f"{rules}{notes}\n{reference}"}]


def answer(source: str) -> str:
    """*source* as the completion that `candidate.extract` takes apart again."""
    return f"```python\n{source.strip()}\n```"
