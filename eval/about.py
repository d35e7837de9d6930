"""What a run was: model, machine, versions, seeds and date, as far as its files say.

The machine and the versions are those of the verdicts, so those that judged.
"""

import json
import struct
import time
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

from kernelwright.configs.run_folder import CONFIG
from kernelwright.eval.stages import LEDGER, Stage


def about(run: Path, stages: Sequence[Stage]) -> list[tuple[str, str]]:
    """What the run is, as far as its files say."""
    verdict: dict[str, Any] = next(
        (s.samples[-1]["verdict"] for s in reversed(stages) if s.samples), {}
    )
    versions = dict(verdict.get("versions", {}))
    model = ""
    for stage in stages:
        config = stage.json("final/config.json")
        if config:
            size = _parameters(stage.path / "final")
            model = str(config.get("model_type", "")) + (f", {size:,} parameters" if size else "")
            versions |= {"transformers": str(config.get("transformers_version", "?"))}
    seeds = sorted({str(s.config["seed"]) for s in stages if s.config.get("seed") is not None})
    start = next((s.config.get("model_name_or_path") for s in stages if s.kind == "sft"), None)
    file = run / LEDGER if (run / LEDGER).is_file() else stages[-1].path / CONFIG
    found = {
        "stages": " → ".join(stage.name for stage in stages),
        "model": ", from ".join(filter(None, (model, start))),
        "machine": verdict.get("device", ""),
        "backend": verdict.get("backend", ""),
        "versions": ", ".join(f"{name} {value}" for name, value in versions.items()),
        "seeds": ", ".join(seeds),
        "sandbox": ", ".join(verdict.get("protections", ())),
        "date": time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(file.stat().st_mtime)),
    }
    return [(name, value) for name, value in found.items() if value]


def _parameters(folder: Path) -> int | None:
    """Numbers in the model saved in *folder*, from the heads of its files; None without any."""
    total = 0
    for file in folder.glob("model*.safetensors"):
        with file.open("rb") as opened:
            size = struct.unpack("<Q", opened.read(8))[0]
            head = json.loads(opened.read(size))
        head.pop("__metadata__", None)
        total += sum(prod(each["shape"]) for each in head.values())
    return total or None
