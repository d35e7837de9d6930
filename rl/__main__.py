"""``python -m kernelwright.rl --config rl.yaml``: reinforcement learning against the verifier."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kernelwright.configs import parse, resolved
from kernelwright.configs.errors import UserError, one_line
from kernelwright.configs.run_folder import RunFolder
from kernelwright.rewards.backend import load_backend
from kernelwright.rewards.prompt import STYLES
from kernelwright.rewards.task_file import read_tasks
from kernelwright.rl.arguments import RLArguments

if TYPE_CHECKING:
    from trl import GRPOConfig, ModelConfig


@one_line
def main(argv: list[str] | None = None) -> int:
    """Run the stage; 0 when ``final/`` is written."""
    own, config, model_config = parse(RLArguments, "trl.GRPOConfig", "trl.ModelConfig", argv=argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    _check(own, config, model_config)
    given = resolved(own, config, model_config)
    tasks = read_tasks(own.tasks)

    from kernelwright.rewards.verifier import LocalVerifier, VerifierOptions
    from kernelwright.rl.train import prepare, train, verdict_file

    try:
        options = VerifierOptions(
            backend=own.backend,
            baselines=tuple(own.baselines),
            time=own.time_kernels,
            workers=own.workers,
            build_timeout_s=own.build_timeout_s,
            run_timeout_s=own.run_timeout_s,
            timing_timeout_s=own.timing_timeout_s,
            reward_lambda=own.reward_lambda,
            reward_nu_max=own.reward_nu_max,
            store=verdict_file(Path(config.output_dir)),
        )
        if reason := load_backend(own.backend).missing():
            raise UserError(f"backend {own.backend!r} cannot run here: {reason}")
    except ValueError as error:  # no such baseline or backend
        raise UserError(str(error)) from None
    setup = prepare(own, config, model_config, tasks)
    run = RunFolder.open(config.output_dir, given, own.resume, own.overwrite)
    with LocalVerifier(options) as verifier:
        train(setup, verifier, run)
    print(run.path / "final")
    return 0


def _check(own: RLArguments, config: "GRPOConfig", model_config: "ModelConfig") -> None:
    """Refuse what this stage would otherwise ignore."""
    if not own.init_from and not model_config.model_name_or_path:
        raise UserError("no policy to start from; set init_from to a folder such as sft/final")
    if own.prompt_style not in STYLES:
        raise UserError(f"no prompt style {own.prompt_style!r}; styles: {', '.join(STYLES)}")
    if config.loss_type != "dapo":
        raise UserError(
            f"loss_type {config.loss_type!r} is not supported: the loss is equation 5, which is "
            "built on 'dapo'; drop the key"
        )
    if config.resume_from_checkpoint:
        raise UserError("resume_from_checkpoint is not supported; use resume: true")
    if config.eval_strategy != "no":
        raise UserError(
            "eval_strategy is not supported; evaluate checkpoints with the eval command"
        )


if __name__ == "__main__":
    sys.exit(main())
