"""KernelBench as tasks, from a checkout of it that the user names; nothing of it is stored here.

``python -m kernelwright.eval.kernelbench PATH`` says, by level, how many tasks can be read, built
and afforded on this machine, and with ``--certify`` how many get a certificate, and why the rest do
not. Levels 1 to 3 only: level 4 fetches whole models.
"""

import argparse
import ast
import asyncio
import re
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from kernelwright.configs.errors import UserError
from kernelwright.eval.footprint import Footprint, measure_all
from kernelwright.rewards.task import Task

PROTOCOLS = {"strict": "eval", "kernelbench": "train"}
"""Protocol: the mode in which its tasks are run."""
LEVELS = (1, 2, 3)
TRIALS = 7  # of a certificate, all of whose tensors are held at once
_FILE = re.compile(r"(\d+)_(\w+)\.py")
_CERTIFY_TIMEOUT_S = 900.0
_CURE = "pip install 'kernelwright[kernelbench]'"


def load(path: Path, protocol: str = "strict") -> list[Task]:
    """The tasks in a checkout at *path* (or at its ``KernelBench`` folder), by level and number.

    Raises `UserError` where there are none.
    """
    root = next((each for each in (path / "KernelBench", path) if (each / "level1").is_dir()), None)
    if root is None:
        raise UserError(f"no KernelBench at {path}: it should hold KernelBench/level1/*.py")
    tasks = []
    for level in LEVELS:
        found = [
            (_FILE.fullmatch(file.name), file) for file in (root / f"level{level}").glob("*.py")
        ]
        numbered = sorted((int(match[1]), file) for match, file in found if match)
        for number, file in numbered:
            tasks.append(
                Task(
                    id=f"kb-l{level}-{number:03d}",
                    source=file.read_text(encoding="utf-8"),
                    mode=PROTOCOLS[protocol],
                    family=file.stem.partition("_")[2].lower(),
                    level=level,
                    provenance="KernelBench",
                    licence="MIT",
                )
            )
    if not tasks:
        raise UserError(f"no tasks in {root}: its levels hold no NUMBER_NAME.py")
    return tasks


def readable(task: Task) -> str | None:
    """Why *task*'s text is not a reference module, or None where it is."""
    try:
        tree = ast.parse(task.source)
    except SyntaxError as error:
        return f"syntax: line {error.lineno}"
    defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    lacking = sorted({"Model", "get_inputs", "get_init_inputs"} - defined)
    return f"lacks {lacking[0]}" if lacking else None


def memory_needed(footprint: Footprint) -> int:
    """Bytes to certify: every trial's tensors held, and the fp64 oracle at work beside fp32."""
    held = footprint.input_bytes + footprint.parameter_bytes + 2 * footprint.output_bytes
    working = footprint.input_bytes + footprint.parameter_bytes + footprint.operator_bytes
    return TRIALS * held + 3 * working


def affordable(footprint: Footprint, memory_bytes: float, flops: float) -> str | None:
    """Why a task of *footprint* is not certified within the limits, or None where it can be.

    *flops* limits one forward call; a certificate takes some dozens of them.
    """
    needed = memory_needed(footprint)
    if needed <= memory_bytes and footprint.flops <= flops:
        return None
    return f"not certified here: needs {needed / 1e9:.1f} GB, {footprint.flops / 1e12:.2g} TFLOP"


def certify(tasks: list[Task]) -> list[str]:
    """For each of *tasks*, why the oracle refuses it; empty text where it certifies."""
    return asyncio.run(_certify(tasks))


async def _certify(tasks: list[Task]) -> list[str]:
    from rich.progress import track

    from kernelwright.rewards import machine
    from kernelwright.rewards.oracle import Oracle
    from kernelwright.rewards.workers import InfraError

    found = []
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(Path(folder), machine.cores(), "cpu")
        for task in track(tasks, "certifying", transient=True):
            order = {"op": "certify", "task": asdict(task), "seed": 1}
            try:
                reply = await oracle.ask(order, _CERTIFY_TIMEOUT_S)
                found.append(reply["invalid"])
                await oracle.ask({"op": "forget", "digest": task.digest}, 60.0)
            except InfraError as error:
                found.append(f"infra: {error}")
        oracle.close()
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the counts by level; 0."""
    parser = argparse.ArgumentParser(
        prog="python -m kernelwright.eval.kernelbench",
        description="How much of a KernelBench checkout this machine can judge.",
    )
    parser.add_argument("path", type=Path, help="a checkout of KernelBench")
    parser.add_argument("--protocol", default="strict", choices=PROTOCOLS, help="default: strict")
    parser.add_argument("--memory_gb", type=float, default=8.0, help="for one task (default: 8)")
    parser.add_argument("--tflop", type=float, default=0.5, help="of one call (default: 0.5)")
    parser.add_argument("--certify", action="store_true", help="ask the oracle about the rest too")
    arguments = parser.parse_args(argv)
    tasks = load(arguments.path, arguments.protocol)
    reasons: dict[str, tuple[str, str]] = {}
    for task in tasks:
        if why := readable(task):
            reasons[task.id] = ("read", why)
    for task, footprint in _measured([task for task in tasks if task.id not in reasons]):
        if footprint.failure:
            cure = f"; {_CURE}" if "No module named 'einops'" in footprint.failure else ""
            reasons[task.id] = ("built", footprint.failure + cure)
        elif why := affordable(footprint, arguments.memory_gb * 1e9, arguments.tflop * 1e12):
            reasons[task.id] = ("affordable", why)
    if arguments.certify:
        rest = [task for task in tasks if task.id not in reasons]
        for task, why in zip(rest, certify(rest), strict=True):
            if why:
                reasons[task.id] = ("certified", why)
    _show(tasks, reasons, ["read", "built", "affordable"] + ["certified"] * arguments.certify)
    return 0


def _measured(tasks: list[Task]) -> list[tuple[Task, Footprint]]:
    from rich.progress import track

    measured = track(measure_all(tasks), "measuring", total=len(tasks), transient=True)
    return list(zip(tasks, measured, strict=True))


def _show(tasks: list[Task], reasons: dict[str, tuple[str, str]], steps: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table("level", "tasks", *steps, box=None)
    for level in (*LEVELS, 0):
        chosen = [task.id for task in tasks if level in (0, task.level)]
        left, counts = set(chosen), []
        for step in steps:
            left -= {each for each in left if reasons.get(each, ("",))[0] == step}
            counts.append(str(len(left)))
        table.add_row(str(level or "all"), str(len(chosen)), *counts)
    console.print(table)
    for step in steps:
        kinds = Counter(
            ": ".join(why.split(": ")[:2]) if step == "certified" else why
            for at, why in reasons.values()
            if at == step and step != "affordable"
        )
        for why, count in kinds.most_common():
            names = [name for name, (at, text) in reasons.items() if at == step and why in text]
            console.print(f"not {step}, {count}: {why} ({', '.join(names[:6])})", soft_wrap=True)
    for name, (step, why) in reasons.items():
        if step == "affordable":
            console.print(f"{name}: {why}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
