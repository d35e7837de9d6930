"""The stages of a run, read back from its folder: what each was made of, cost and wrote.

A stage is known by the keys of its ``config.yaml``, never by the name of its folder. Nothing is
invented: what a stage did not write is None or empty here.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import CONFIG, RunFolder

LEDGER = "pipeline.json"
_MARKS = {
    "rl": {"reward_lambda", "reward_nu_max"},
    "eval": {"samples_per_task", "max_new_tokens"},
    "sft": {"plateau_patience", "vocab_size"},
    "synth": {"eval_share", "answers_per_task"},
}
"""Keys of a stage's own settings that no other stage has."""


@dataclass(frozen=True)
class Stage:
    """One stage's folder."""

    path: Path
    kind: str
    """A command: ``synth``, ``sft``, ``rl`` or ``eval``; ``rft`` for an sft that samples."""
    config: dict[str, Any] = field(repr=False)
    wall_s: float | None = None
    peak_rss_mb: float | None = None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def label(self) -> str:
        """What an evaluation is called in a table: the model's name."""
        name = self.name.removeprefix("eval").lstrip("_-") or self.name
        return name.upper() if name in ("sft", "rft", "rl") else name

    @property
    def command(self) -> str:
        return "sft" if self.kind == "rft" else self.kind

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        return RunFolder(self.path).read("metrics.jsonl")

    @cached_property
    def samples(self) -> list[dict[str, Any]]:
        return RunFolder(self.path).read("samples.jsonl")

    def json(self, name: str) -> dict[str, Any]:
        """The object in file *name*; empty where there is none."""
        try:
            return dict(json.loads((self.path / name).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except ValueError:
            raise UserError(f"{self.path / name} is damaged; run its stage again") from None

    @property
    def finished(self) -> bool:
        """Whether it wrote what it is run for."""
        wanted = {"synth": "card.json", "eval": "summary.json"}.get(self.kind, "final")
        return (self.path / wanted).exists()

    @property
    def tokens(self) -> int | None:
        """Tokens trained on, or sampled where nothing is trained."""
        seen = [row["num_tokens"] for row in self.metrics if row.get("num_tokens")]
        sampled = sum(row.get("tokens", 0) for row in self.samples)
        return int(seen[-1]) if seen else sampled or None

    @property
    def verifications(self) -> int | None:
        """Answers judged, those judged twice from memory included."""
        verdicts = self.json("card.json").get("verdicts", {})
        judged = sum(
            n for kinds in verdicts.values() for each in kinds.values() for n in each.values()
        )
        return len(self.samples) or judged or None


def read_stages(run: Path) -> list[Stage]:
    """The stages in folder *run* in the order they ran; *run* may also be a single stage's."""
    if not run.is_dir():
        raise UserError(f"no such run: {run}; name a folder such as runs/quickstart")
    costs = _costs(run)
    folders = (
        [run] if (run / CONFIG).is_file() else [path.parent for path in run.glob(f"*/{CONFIG}")]
    )
    order = {name: place for place, name in enumerate(costs)}
    folders.sort(
        key=lambda path: (order.get(path.name, len(order)), (path / CONFIG).stat().st_mtime)
    )
    stages = []
    for folder in folders:
        config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8")) or {}
        kind = next((kind for kind, keys in _MARKS.items() if keys <= set(config)), None)
        if kind:
            kind = "rft" if kind == "sft" and config.get("samples_per_prompt") else kind
            stages.append(Stage(folder, kind, config, *costs.get(folder.name, (None, None))))
    if not stages:
        raise UserError(f"{run} holds no stage's folder; name a run such as runs/quickstart")
    return stages


def _costs(run: Path) -> dict[str, tuple[float, float]]:
    file = run / LEDGER
    if not file.is_file():
        return {}
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))["stages"]
        return {name: (row["wall_s"], row["peak_rss_mb"]) for name, row in rows.items()}
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{file} is damaged; `kernelwright run` writes it anew") from None
