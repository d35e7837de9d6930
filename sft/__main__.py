"""``python -m kernelwright.sft --config sft.yaml`` or ``rft.yaml``: learn from verified answers."""

import logging
import sys
from typing import TYPE_CHECKING

from kernelwright.configs import parse, resolved
from kernelwright.configs.errors import UserError, one_line
from kernelwright.rewards.prompt import STYLES
from kernelwright.sft.arguments import SFTArguments

if TYPE_CHECKING:
    from trl import ModelConfig, SFTConfig


@one_line
def main(argv: list[str] | None = None) -> int:
    """Run the stage; 0 when ``final/`` is written."""
    own, config, model_config = parse(SFTArguments, "trl.SFTConfig", "trl.ModelConfig", argv=argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    _check(own, config, model_config)
    given = resolved(own, config, model_config)
    if own.samples_per_prompt:
        from kernelwright.sft.rejection import rejection

        run = rejection(own, config, model_config, given)
    else:
        from kernelwright.sft.supervised import supervised

        run = supervised(own, config, model_config, given)
    print(run.path / "final")
    return 0


def _check(own: SFTArguments, config: "SFTConfig", model_config: "ModelConfig") -> None:
    """Refuse what this stage cannot do or would otherwise ignore."""
    name = model_config.model_name_or_path
    if not name:
        raise UserError("no model to train; set model_name_or_path: a folder, or scratch:1m")
    if config.resume_from_checkpoint:
        raise UserError("resume_from_checkpoint is not supported; use resume: true")
    if not own.samples_per_prompt:
        if not own.data:
            raise UserError("no pairs to train on; set data, or samples_per_prompt and tasks")
        if own.tasks:
            raise UserError("tasks is only for rejection fine-tuning; set samples_per_prompt too")
        return
    if own.data:
        raise UserError("data is not used in rejection fine-tuning; drop it or samples_per_prompt")
    if not own.tasks:
        raise UserError("rejection fine-tuning samples on tasks; set tasks")
    if name.startswith("scratch:"):
        raise UserError("rejection fine-tuning needs a trained model, such as sft/final")
    if own.prompt_style not in STYLES:
        raise UserError(f"no prompt style {own.prompt_style!r}; styles: {', '.join(STYLES)}")
    if own.temperature <= 0:
        raise UserError("rejection fine-tuning needs different answers; set temperature above 0")
    if own.representatives < 1 or own.samples_per_prompt < 1:
        raise UserError("representatives and samples_per_prompt must be at least 1")


if __name__ == "__main__":
    sys.exit(main())
