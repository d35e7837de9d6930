"""What happens beside the training: a line of metrics at each log, and the stop at a plateau."""

import time
from typing import Any

from transformers import TrainerCallback

from kernelwright.configs.run_folder import RunFolder

METRICS = "metrics.jsonl"


class MetricsCallback(TrainerCallback):
    """Appends every scalar that the trainer logs; its clock goes on over a resume."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self.time_s = 0.0

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        earlier = self._run.read(METRICS)
        self._before_s = earlier[-1]["time_s"] if earlier else 0.0
        self._began = time.perf_counter()

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        logs: dict[str, Any] = kwargs["logs"]
        self.time_s = round(self._before_s + time.perf_counter() - self._began, 3)
        if not state.is_world_process_zero or "train_runtime" in logs:  # the latter: no step's
            return
        scalars = {key: value for key, value in logs.items() if isinstance(value, int | float)}
        self._run.append(METRICS, {"step": state.global_step, "time_s": self.time_s, **scalars})


class PlateauCallback(TrainerCallback):
    """Stops once *patience* evaluations in a row did not lower eval_loss by *delta*.

    It counts in the trainer's own log, which a checkpoint holds, so that a resumed run stops at the
    same step.
    """

    def __init__(self, patience: int, delta: float) -> None:
        self._patience, self._delta = patience, delta

    def on_evaluate(
        self,
        args: Any,  # noqa: ARG002
        state: Any,
        control: Any,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        losses = [row["eval_loss"] for row in state.log_history if "eval_loss" in row]
        best, waited = float("inf"), 0
        for loss in losses:
            if loss < best - self._delta:
                best, waited = loss, 0
            else:
                waited += 1
        if waited >= self._patience:
            control.should_training_stop = True
