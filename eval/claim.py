"""Does reinforcement learning beat its starting point, and a control that learns from noise?

Trains and evaluates for each seed and writes ``claim.md``: every row with its interval, then the
paired differences. Each run is a process of its own and is not repeated once it has finished.
"""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwright.configs import parse, resolved
from kernelwright.configs.errors import UserError, one_line
from kernelwright.configs.run_folder import RunFolder
from kernelwright.eval import metrics
from kernelwright.eval.arguments import EvalArguments
from kernelwright.eval.paired import difference, values
from kernelwright.eval.summary import summarise
from kernelwright.eval.table import markdown, markdown_of
from kernelwright.rewards.task_file import read_tasks

ARMS = ("start", "rl", "random")
"""The policy that RL starts from, RL, and RL on random rewards."""
FEW_TASKS = 20
"""Below this, the report says that its intervals are too narrow."""
PAIRS = (("rl", "start"), ("random", "start"), ("rl", "random"))


@dataclass
class ClaimArguments:
    """Train with RL and with random rewards for several seeds, evaluate all, and compare."""

    init_from: str = field(metadata={"help": "the policy to start from, such as sft/final"})
    tasks: str = field(metadata={"help": "training tasks, tasks.jsonl of synth"})
    eval_tasks: str = field(metadata={"help": "held-out tasks, eval_tasks.jsonl of synth"})
    output_dir: str = field(metadata={"help": "folder of this comparison"})
    rl_config: str = field(metadata={"help": "config file of the rl stage"})
    eval_config: str = field(metadata={"help": "config file of the eval stage"})
    seeds: list[str] = field(
        default_factory=lambda: ["0", "1", "2"], metadata={"help": "training seeds"}
    )
    min_samples: int = field(default=200, metadata={"help": "samples a row at least"})
    resume: bool = field(default=False, metadata={"help": "go on in an existing folder"})
    overwrite: bool = field(default=False, metadata={"help": "delete an existing folder first"})


@one_line
def main(argv: list[str] | None = None) -> int:
    """Run what is missing; 0 when ``claim.md`` is written."""
    (own,) = parse(ClaimArguments, argv=argv)
    if not own.seeds or not all(seed.isdigit() for seed in own.seeds):
        raise UserError(f"seeds must be whole numbers such as 0 1 2, not {own.seeds}")
    settings = _eval_settings(own)
    n = samples_per_task(settings, len(read_tasks(own.eval_tasks)), own.min_samples)
    run = RunFolder.open(own.output_dir, resolved(own), own.resume, own.overwrite)
    for seed in own.seeds:
        for arm in ARMS:
            model = own.init_from
            if arm != "start":
                model = str(run.path / f"{arm}-{seed}" / "final")
                _once(run, f"{arm}-{seed}", _train(own, arm, seed), own.rl_config)
            given = ["--model", model, "--tasks", own.eval_tasks, "--samples_per_task", str(n)]
            command = ["eval", "--config", own.eval_config, *given, "--seed", seed]
            _once(run, f"eval-{arm}-{seed}", command, own.eval_config)
    rows = {
        (arm, seed): RunFolder(run.path / f"eval-{arm}-{seed}").read("samples.jsonl")
        for arm in ARMS
        for seed in own.seeds
    }
    text = report(rows, own.seeds, n, settings.baselines)
    (run.path / "claim.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


def samples_per_task(settings: EvalArguments, tasks: int, wanted: int) -> int:
    """The config's own number, raised until a row holds *wanted* samples."""
    tasks = min(tasks, settings.max_tasks or tasks)
    return max(settings.samples_per_task, -(-wanted // tasks))


def report(
    rows: dict[tuple[str, str], list[dict[str, Any]]],
    seeds: Sequence[str],
    n: int,
    baselines: Sequence[str],
) -> str:
    """The markdown of ``claim.md`` from the rows of each (arm, seed)."""
    pooled = {arm: [row for seed in seeds for row in rows[arm, seed]] for arm in ARMS}
    summaries = {
        f"{arm}, seed {seed}": summarise(rows[arm, seed], arm, n, baselines)
        for arm in ARMS
        for seed in seeds
    } | {f"{arm}, all seeds": summarise(pooled[arm], arm, n, baselines) for arm in ARMS}
    groups = {key: _groups(each) for key, each in rows.items()}
    table = [["difference", "figure", "all seeds", *(f"seed {seed}" for seed in seeds)]]
    for ours, theirs in PAIRS:
        left, right = _groups(pooled[ours]), _groups(pooled[theirs])
        for name, value in values(baselines).items():
            each = (difference(groups[ours, s], groups[theirs, s], value) for s in seeds)
            total = difference(left, right, value)
            table.append([f"{ours} - {theirs}", name, str(total), *map(str, each)])
    tasks = min(len(each) for each in groups.values())
    caution = (
        f"\n**Only {tasks} tasks: a bootstrap over so few gives intervals that are too narrow.**\n"
        if tasks < FEW_TASKS
        else ""
    )
    return (
        "# Reinforcement learning against its start and against random rewards\n\n"
        "Value [95 % interval, bootstrap over tasks]. The starting policy is sampled anew for each "
        "seed.\n\n"
        f"{markdown(summaries)}\n\n## Paired by task\n\n{markdown_of(table)}\n\n"
        "An interval holds what other tasks would have given; the spread over training seeds is "
        "what the columns by seed show.\n"
        f"{caution}"
    )


def _groups(rows: list[dict[str, Any]]) -> list[metrics.Group]:
    return metrics.groups([metrics.Sample.from_row(row) for row in rows])


def _train(own: ClaimArguments, arm: str, seed: str) -> list[str]:
    given = ["--init_from", own.init_from, "--tasks", own.tasks, "--seed", seed]
    if arm == "random":  # its verdicts are only logged: nothing depends on a speed
        given += ["--random_reward", "true", "--time_kernels", "false"]
    return ["rl", "--config", own.rl_config, *given]


def _eval_settings(own: ClaimArguments) -> EvalArguments:
    given = ["--model", own.init_from, "--tasks", own.eval_tasks, "--output_dir", own.output_dir]
    (settings,) = parse(EvalArguments, argv=["--config", own.eval_config, *given])
    found: EvalArguments = settings
    return found


def _once(run: RunFolder, name: str, command: list[str], config: str) -> None:
    """Run stage *command* into folder *name*, unless it has finished there."""
    said = repr(command) + Path(config).read_text(encoding="utf-8")
    digest = hashlib.sha256(said.encode()).hexdigest()
    for row in run.read("done.jsonl"):
        if row["run"] == name:
            if row["digest"] != digest:
                raise UserError(f"{config} changed after {name} finished; add --overwrite true")
            return
    folder = run.path / name
    stage, *rest = command
    line = [sys.executable, "-m", f"kernelwright.{stage}", *rest, "--output_dir", str(folder)]
    if folder.exists():
        line += ["--resume", "true"]
    print(f"{name}: {' '.join(line[1:])}", flush=True)
    status = subprocess.run(line, check=False).returncode
    if status:
        raise UserError(f"{name} failed with status {status}; mend it, then add --resume true")
    run.append("done.jsonl", {"run": name, "digest": digest})


if __name__ == "__main__":
    sys.exit(main())
