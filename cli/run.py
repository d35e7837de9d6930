"""``kernelwright run RECIPE``: every stage in order, each in a process of its own, resumable.

A process per stage gives its memory back. Finished stages are skipped, an unfinished one is told to
resume; a changed config under a finished stage is refused, since what follows was made from it.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from kernelwright.cli.budget import Budget, budget
from kernelwright.cli.check import settings
from kernelwright.cli.ledger import LEDGER, Done, read_ledger, sole_owner, write_ledger
from kernelwright.cli.recipe import Stage, read_recipe
from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import disk_error


def main(argv: list[str] | None = None) -> int:
    """Run or resume the recipe named by *argv*; the status of the stage that failed, or 0."""
    parser = argparse.ArgumentParser(
        "kernelwright run",
        description="Run every stage of a recipe, or go on where it stopped.",
        allow_abbrev=False,
    )
    parser.add_argument("recipe", type=Path, help="folder with pipeline.yaml, or a shipped one")
    parser.add_argument("--output_dir", type=Path, help="the run (default: runs/<recipe>)")
    parser.add_argument("--overwrite", action="store_true", help="delete the run and start anew")
    args = parser.parse_args(argv)
    stages = read_recipe(args.recipe)
    run: Path = args.output_dir or Path("runs") / args.recipe.resolve().name
    _prepare(run, args.overwrite)
    with sole_owner(run):
        done = read_ledger(run)
        _refuse_changes(stages, done)
        left = [stage for stage in stages if stage.name not in done]
        _check_disk(run, _tell_budget(stages, done, settings(left, run)))
        signal.signal(signal.SIGTERM, _interrupt)
        for stage in left:
            status, cost = _run_stage(stage, run)
            if status:
                print(f"kernelwright: stage {stage.name} failed ({_exit(status)})", file=sys.stderr)
                return status if status > 0 else 128 - status
            done[stage.name] = cost
            write_ledger(run, done)
            print(
                f"{stage.name}: done in {cost.wall_s:.0f} s, {cost.peak_rss_mb:.0f} MB", flush=True
            )
    print(f"{len(stages)} stages finished in {run}" + ("" if left else " (nothing was left to do)"))
    return 0


def _prepare(run: Path, overwrite: bool) -> None:
    try:
        if run.is_dir() and any(run.iterdir()) and not (run / LEDGER).is_file():
            raise UserError(f"{run} exists and is no pipeline run; choose another --output_dir")
        if overwrite and run.is_dir():
            with sole_owner(run):
                shutil.rmtree(run)
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, run) from error
    if not (run / LEDGER).is_file():
        write_ledger(run, {})


def _refuse_changes(stages: list[Stage], done: dict[str, Done]) -> None:
    for stage in stages:
        if stage.name in done and done[stage.name].digest != stage.digest():
            raise UserError(
                f"the config of stage {stage.name} changed after it finished; put it back, choose "
                "another --output_dir, or add --overwrite to run everything again"
            )


def _tell_budget(
    stages: list[Stage], done: dict[str, Done], known: dict[str, dict[str, Any]]
) -> Budget:
    """Print what each stage will cost; the sum over those that are left."""
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "stage", title="Estimated upper bounds, two cores", title_justify="left", box=None
    )
    for name in ("tokens", "verifications", "disk MB", "minutes"):
        table.add_column(name, justify="right")
    total = Budget()
    for stage in stages:
        cost = budget(stage.command, known.get(stage.name, {}))
        if stage.name in done:
            table.add_row(stage.name, "done", "", "", f"{done[stage.name].wall_s / 60:.1f}")
        elif cost is None:
            table.add_row(stage.name, *["?"] * 4)
        else:
            total += cost
            table.add_row(stage.name, *_cells(cost))
    table.add_row("left", *_cells(total))
    Console().print(table)
    return total


def _cells(cost: Budget) -> tuple[str, str, str, str]:
    minutes = f"{cost.seconds / 60:.1f}"
    return f"{cost.tokens:,}", f"{cost.verifications:,}", f"{cost.disk_mb:,.0f}", minutes


MAX_THREADS = 4
"""Threads of a stage that trains on the CPU: small models gain nothing from more."""


def _check_disk(run: Path, total: Budget) -> None:
    free_mb = shutil.disk_usage(run).free / 2**20
    if free_mb < total.disk_mb:
        raise UserError(
            f"{run} needs about {total.disk_mb:,.0f} MB and its disk has {free_mb:,.0f} MB free"
        )


def _run_stage(stage: Stage, run: Path) -> tuple[int, Done]:
    """Status (negative: the signal that ended it) and cost of *stage*."""
    folder = run / stage.name
    resume = folder.is_dir() and any(folder.iterdir())
    line = stage.command_line(run, resume)
    print(f"{stage.name}: kernelwright {' '.join(line)}", flush=True)
    start = time.monotonic()
    # Threads that spin while they wait are many times slower than one thread as soon as a core is
    # not free; those that sleep lose nothing. The verifier chooses its own.
    threads = min(len(os.sched_getaffinity(0)), MAX_THREADS)
    given = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    environment = {**given, **os.environ}
    process = subprocess.Popen([sys.executable, "-m", "kernelwright.cli", *line], env=environment)
    try:
        # wait4 and not wait: it tells what this child used, and no other
        _, wait_status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(wait_status)
    wall_s = time.monotonic() - start
    cost = Done(stage.digest(), round(wall_s, 1), round(usage.ru_maxrss / 1024, 1))
    return process.returncode, cost


def _exit(status: int) -> str:
    return f"exit {status}" if status > 0 else f"killed by {signal.Signals(-status).name}"


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
