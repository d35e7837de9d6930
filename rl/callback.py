"""What is written to ``metrics.jsonl``: every scalar the trainer logs, a line a logging step."""

import time
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback

from kernelwright.configs.run_folder import RunFolder


class MetricsCallback(TrainerCallback):
    """Appends a line at each log; *waited_s* tells the seconds waited for verdicts so far."""

    def __init__(self, run: RunFolder, waited_s: Callable[[], float]) -> None:
        self._run, self._waited_s = run, waited_s

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        earlier = self._run.read("metrics.jsonl")
        self._before_s = earlier[-1]["time_s"] if earlier else 0.0
        self._began = self._last = time.perf_counter()
        self._waited = self._waited_s()

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        logs: dict[str, Any] = given["logs"]
        if not state.is_world_process_zero or "train_runtime" in logs:  # the latter: no step's
            return
        now, waited = time.perf_counter(), self._waited_s()
        scalars = {key: value for key, value in logs.items() if isinstance(value, int | float)}
        scalars["verify_share"] = (waited - self._waited) / max(now - self._last, 1e-9)
        self._last, self._waited = now, waited
        time_s = round(self._before_s + now - self._began, 3)
        self._run.append("metrics.jsonl", {"step": state.global_step, "time_s": time_s, **scalars})
