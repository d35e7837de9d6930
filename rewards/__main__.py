"""``kernelwright verify TASK.py ANSWER.py``: judge one kernel and say what each gate found.

Exit 0 for ok, 1 for any other verdict, 2 for misuse.
"""

import argparse
import re
import sys
from pathlib import Path

from kernelwright.configs.errors import UserError, one_line
from kernelwright.rewards.backend import installed, load_backend
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.options import BASELINES, VerifierOptions
from kernelwright.rewards.record import to_line
from kernelwright.rewards.task import MODES, Task
from kernelwright.rewards.verdict import Status, Verdict

_FENCED = re.compile(r"^```", re.MULTILINE)
_MARKS = {True: ("ok", "green"), False: ("FAILED", "red"), None: ("-", "dim")}


@one_line
def main(argv: list[str] | None = None) -> int:
    """Parse *argv*, verify, print; the exit status."""
    arguments = _parser().parse_args(argv)
    task = Task(
        id=Path(arguments.task).stem,
        source=_text(arguments.task, "task"),
        mode=arguments.mode,
    )
    text = _text(arguments.answer, "answer")
    # A file of prose with a fenced block is a completion; a bare module is the source itself.
    answer: Candidate | str = text if _FENCED.search(text) else Candidate.from_source(text)
    if arguments.backend not in installed():
        names = ", ".join(sorted(installed()))
        raise UserError(f"no backend {arguments.backend!r}; installed: {names}")
    if reason := load_backend(arguments.backend).missing():
        raise UserError(f"backend {arguments.backend!r} cannot run here: {reason}")
    baselines = tuple(name for name in BASELINES if name in arguments.baselines.split(","))
    if not baselines:
        raise UserError(
            f"no baseline in {arguments.baselines!r}; baselines: {', '.join(BASELINES)}"
        )
    options = VerifierOptions(
        backend=arguments.backend,
        baselines=baselines,
        time=not arguments.no_timing,
        all_gates=arguments.all_gates,
    )
    from kernelwright.rewards.verifier import LocalVerifier

    with LocalVerifier(options) as verifier:
        [verdict] = verifier.verify_all([(task, answer)])
    if arguments.json:
        print(to_line(verdict))
    else:
        _show(verdict, task)
    return 0 if verdict.status is Status.OK else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kernelwright verify",
        description="Judge one kernel, gate by gate. Exit 0: ok; 1: any other verdict; 2: misuse.",
    )
    parser.add_argument("task", help="reference module: Model, get_inputs, get_init_inputs")
    parser.add_argument("answer", help="module that defines ModelNew, or a completion with one")
    parser.add_argument("--backend", default="cpu", help="default: cpu")
    parser.add_argument("--mode", default="eval", choices=MODES, help="default: eval")
    parser.add_argument(
        "--baselines",
        default="eager,compile",
        help="comma-separated, timed beside the candidate (default: eager,compile)",
    )
    parser.add_argument("--no-timing", action="store_true", help="stop after the legality trace")
    parser.add_argument(
        "--all-gates", action="store_true", help="run on after a failed gate; earns nothing more"
    )
    parser.add_argument("--json", action="store_true", help="last line: the verdict as JSON")
    return parser


def _text(path: str, what: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        raise UserError(f"cannot read the {what} {path!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"the {what} {path!r} is not UTF-8 text") from error


def _show(verdict: Verdict, task: Task) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=False)
    table = Table(box=None, pad_edge=False, show_header=False)
    for gate in verdict.gates:
        mark, colour = _MARKS[gate.passed]
        seconds = f"{gate.seconds:.2f} s" if gate.seconds >= 0.005 else ""
        table.add_row(gate.name, f"[{colour}]{mark}[/]", seconds, gate.detail)
    colour = "green" if verdict.status is Status.OK else "red"
    console.print(f"[bold]{task.id}[/] on {verdict.backend} ({verdict.device})")
    console.print(table)
    reward = "none" if verdict.reward is None else f"{verdict.reward:+.3f}"
    console.print(f"[bold {colour}]{verdict.label}[/]  q {verdict.q:.2f}  reward {reward}")
    if verdict.message:
        console.print(verdict.message.rstrip(), style="dim", markup=False)
    latencies = ", ".join(f"{name} {value:.3f} ms" for name, value in verdict.latency_ms.items())
    if latencies:
        console.print(f"median call: {latencies}")
    peak = verdict.peak_memory_bytes / 2**20
    total = verdict.timings_s.get("total", 0.0)
    console.print(f"{total:.1f} s, worker peak {peak:.0f} MiB, held by {_held(verdict)}")


def _held(verdict: Verdict) -> str:
    return ", ".join(verdict.protections) or "nothing: no worker was started"


if __name__ == "__main__":
    sys.exit(main())
