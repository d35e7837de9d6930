"""``python -m kernelwright.eval --config eval.yaml``: sample a model on tasks and score it."""

import json
import logging
import sys
from typing import Any

from kernelwright.configs import parse, resolved
from kernelwright.configs.errors import UserError, one_line
from kernelwright.configs.run_folder import RunFolder
from kernelwright.eval.arguments import EvalArguments
from kernelwright.eval.summary import summarise
from kernelwright.eval.table import SUMMARY, show
from kernelwright.rewards.prompt import STYLES
from kernelwright.rewards.task_file import read_tasks


@one_line
def main(argv: list[str] | None = None) -> int:
    """Run the stage; 0 when ``summary.json`` is written."""
    (own,) = parse(EvalArguments, argv=argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    _check(own)
    tasks = read_tasks(own.tasks)[: own.max_tasks or None]

    from kernelwright.eval.run import evaluate
    from kernelwright.policy.load import load_policy
    from kernelwright.rewards.verifier import LocalVerifier, VerifierOptions

    model, tokenizer = load_policy(own.model, dtype=own.dtype)
    try:
        options = VerifierOptions(own.backend, tuple(own.baselines), workers=own.workers)
        verifier = LocalVerifier(options)
    except ValueError as error:  # an unknown backend or baseline, or one that cannot run here
        raise UserError(str(error)) from None
    with verifier:
        run = RunFolder.open(own.output_dir, resolved(own), own.resume, own.overwrite)
        rows = evaluate(own, _on_device(model), tokenizer, tasks, verifier, run)
    summary = summarise(rows, own.model, own.samples_per_task, own.baselines, own.seed)
    part = run.path / f"{SUMMARY}.part"
    part.write_text(json.dumps(summary, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(run.path / SUMMARY)
    show({own.model: summary})
    return 0


def _check(own: EvalArguments) -> None:
    if own.prompt_style not in STYLES:
        raise UserError(f"no prompt style {own.prompt_style!r}; styles: {', '.join(STYLES)}")
    for key in ("samples_per_task", "max_new_tokens", "batch_size", "workers"):
        if getattr(own, key) < 1:
            raise UserError(f"{key} must be at least 1, not {getattr(own, key)}")
    if own.max_tasks < 0:
        raise UserError(f"max_tasks must not be negative; 0 means all, not {own.max_tasks}")
    if not own.baselines:
        raise UserError("baselines is empty; name eager, compile or both")


def _on_device(model: Any) -> Any:
    import torch

    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return model.to(device) if device else model


if __name__ == "__main__":
    sys.exit(main())
