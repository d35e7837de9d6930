"""TRL's GRPOTrainer with three small overrides, and the rule that an idle step moves nothing.

What TRL does not have: a sample without a score leaves the loss altogether (TRL gives it advantage
0, but keeps its tokens in the normaliser and in the KL term); equation 5's normaliser; a step in
which there is nothing to learn leaves weights and optimiser alone. Generation, advantage, clipping,
KL, logging and checkpoints are TRL's. The learning-rate schedule counts idle steps too. Under
DeepSpeed, whose engine steps by itself, an idle step still decays the weights.
"""

from collections.abc import Callable
from typing import Any

import torch
from transformers import TrainerCallback
from trl import GRPOTrainer

from kernelwright.rl.advantage import kept, varied
from kernelwright.rl.loss import group_weights

OnAdvantages = Callable[[list[float | None]], None]


class KernelGRPOTrainer(GRPOTrainer):
    """GRPO whose unscored samples leave the batch; *on_advantages* gets each sample's advantage.

    A None advantage is that of a sample that left.
    """

    def __init__(self, *args: Any, on_advantages: OnAdvantages, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._on_advantages = on_advantages
        self._learns = False
        self.add_callback(_SkipIdleStep(self))

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Keeps the rewards of all ranks: the caller hands on advantages only, where a 0 may be
        an average reward or no reward at all.
        """
        rewards = super()._calculate_rewards(*args, **kwargs)
        self._rewards_P_G = rewards[:, 0].view(-1, self.num_generations)
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Takes samples that left out of the mask that loss, KL and normaliser share, and weighs
        the advantages by group (`group_weights`).
        """
        batch = super()._generate_and_score_completions(inputs)
        mask_B_T = batch.get("tool_mask", torch.ones_like(batch["completion_mask"]))
        tokens_B = (mask_B_T * batch["completion_mask"]).sum(1)
        tokens_P_G = self.accelerator.gather(tokens_B).view(-1, self.num_generations)
        kept_P_G = kept(self._rewards_P_G)
        factor_P_G = kept_P_G * varied(self._rewards_P_G)
        weights_P_1 = group_weights(tokens_P_G, kept_P_G)

        first = self.accelerator.process_index * len(inputs)
        here = slice(first, first + len(inputs))
        kept_B = kept_P_G.flatten()[here]
        advantages_B = batch["advantages"] * factor_P_G.flatten()[here]
        self._on_advantages(
            [
                each if stays else None
                for each, stays in zip(advantages_B.tolist(), kept_B.tolist(), strict=True)
            ]
        )
        weights_B = weights_P_1.expand_as(kept_P_G).flatten()[here]
        batch["advantages"] = advantages_B * weights_B
        batch["tool_mask"] = mask_B_T * kept_B.unsqueeze(1).to(mask_B_T.dtype)
        batch["num_items_in_batch"] = (tokens_P_G * kept_P_G).sum()
        return batch

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Notes whether this part of the step has anything to teach: an advantage that is not 0.

        A pull towards the reference alone is no reason for a step.
        """
        self._learns = self._learns or bool((inputs["advantages"] != 0).any())
        return super()._compute_loss(model, inputs)

    def idle(self) -> bool:
        """Whether no rank has anything to learn in the step that ends now; begins the next."""
        mine = torch.tensor(float(self._learns), device=self.accelerator.device)
        self._learns = False
        idle = float(self.accelerator.reduce(mine, reduction="sum")) == 0.0
        self._metrics["train"]["idle_step"].append(float(idle))
        return idle


class _SkipIdleStep(TrainerCallback):
    """Takes the gradients away: a zero gradient would still move AdamW's weights by momentum and
    decay, no gradient does not.
    """

    def __init__(self, trainer: KernelGRPOTrainer) -> None:
        self._trainer = trainer

    def on_pre_optimizer_step(self, *_: Any, **given: Any) -> None:
        if self._trainer.idle():
            given["model"].zero_grad(set_to_none=True)
