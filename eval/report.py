"""``kernelwright report RUN``: one HTML page about a run, complete in itself.

Reads what the stages wrote; measures nothing and invents nothing: a stage that is missing is said
to be missing. The page makes no request and runs no script. Completions in it are untrusted text
and are escaped.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwright.configs.errors import UserError, one_line
from kernelwright.configs.run_folder import disk_error
from kernelwright.eval import curves, gallery, headline, sections
from kernelwright.eval.about import about
from kernelwright.eval.headline import Evaluation
from kernelwright.eval.highlight import highlight
from kernelwright.eval.metrics import FASTER
from kernelwright.eval.stages import Stage, read_stages
from kernelwright.eval.table import SUMMARY
from kernelwright.rewards.task import Task
from kernelwright.rewards.task_file import read_tasks

REPORT = "report.html"
TEMPLATES = Path(__file__).parent / "templates"
NOTES = {
    "synth": "tasks and answers were not made in this run",
    "sft": "no supervised fine-tuning",
    "rft": "no rejection fine-tuning",
    "rl": "no reinforcement learning",
    "eval": "no finished evaluation, so there are no results",
}


@one_line
def main(argv: list[str] | None = None) -> int:
    """Write the page; print where it is."""
    parser = argparse.ArgumentParser(
        "kernelwright report", description="One HTML page about a run.", allow_abbrev=False
    )
    parser.add_argument("run", type=Path, help="a run's folder, or that of one stage")
    parser.add_argument("--output", type=Path, help=f"the page (default: RUN/{REPORT})")
    args = parser.parse_args(argv)
    output: Path = args.output or args.run / REPORT
    text = page(args.run)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise disk_error(error, output) from error
    print(output)
    return 0


def page(run: Path) -> str:
    """The whole page about *run*."""
    import jinja2

    stages = read_stages(run)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": _percent,
        "duration": _duration,
        "highlight": highlight,
        "interval": headline.percent,
        "points": headline.points,
    }
    return environment.get_template(REPORT).render(**_context(run, stages))


def _context(run: Path, stages: Sequence[Stage]) -> dict[str, Any]:
    evaluations = _evaluations(stages)
    trained = [stage for stage in stages if stage.kind == "rl"]
    judged = {each.label: each.rows for each in evaluations}
    judged |= {
        f"{stage.name}, in training": stage.samples
        for stage in stages
        if stage.kind in ("rft", "rl") and stage.samples
    }
    statuses, cheats = sections.status_table(judged)
    kinds = {stage.kind for stage in stages}
    titles, figures = sections.figures_table(evaluations)
    last = evaluations[-1].rows if evaluations else trained[-1].samples if trained else []
    return {
        "name": run.resolve().name,
        "run": run,
        "about": about(run, stages),
        "changes": headline.changes(evaluations),
        "evaluations": evaluations,
        "faster": FASTER,
        "titles": titles,
        "figures": figures,
        "families": sections.family_table(evaluations),
        "judged": list(judged),
        "totals": [len(rows) for rows in judged.values()],
        "statuses": statuses,
        "cheats": cheats,
        "fast_p": curves.fast_p(evaluations),
        "losses": [f for s in stages if s.kind in ("sft", "rft") for f in curves.losses(s)],
        "trained": [(s, curves.rl_curves(s), curves.rl_small(s)) for s in trained],
        "exhibits": gallery.exhibits(evaluations, _tasks(run, stages)),
        "failures": gallery.failures(last),
        "stages": stages,
        "missing": [note for kind, note in NOTES.items() if kind not in kinds],
        "unfinished": [stage.name for stage in stages if not stage.finished],
    }


def _evaluations(stages: Sequence[Stage]) -> list[Evaluation]:
    found = [(s, summary) for s in stages if s.kind == "eval" and (summary := s.json(SUMMARY))]
    clear = len({stage.label for stage, _ in found}) == len(found)
    return [Evaluation(s.label if clear else s.name, each, s.samples) for s, each in found]


def _tasks(run: Path, stages: Sequence[Stage]) -> dict[str, Task]:
    """Held-out tasks by id, from where the evaluations say or where they lie in this run."""
    named = [Path(s.config["tasks"]) for s in stages if s.kind == "eval" and s.config.get("tasks")]
    for file in (*named, *sorted(run.glob("*/eval_tasks.jsonl"))):
        try:
            return {task.id: task for task in read_tasks(file)}
        except UserError:  # moved or made elsewhere: the page goes without references
            continue
    return {}


def _percent(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


if __name__ == "__main__":
    sys.exit(main())
