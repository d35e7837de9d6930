"""The settings of reinforcement learning that are ours; the rest is TRL's GRPOConfig."""

from dataclasses import dataclass, field

from kernelwright.rewards.reward import LAMBDA, NU_MAX


@dataclass
class RLArguments:
    """Reinforcement learning (GRPO) whose reward is the kernel's own behaviour."""

    tasks: str = field(metadata={"help": "tasks as JSONL, such as tasks.jsonl of synth"})
    init_from: str = field(
        default="", metadata={"help": "policy to start from; else model_name_or_path"}
    )
    backend: str = field(default="cpu", metadata={"help": "reward backend that judges"})
    baselines: list[str] = field(
        default_factory=lambda: ["eager"],
        metadata={"help": "timed beside a kernel: eager, compile; the fastest one counts"},
    )
    prompt_style: str = field(default="full", metadata={"help": "full or terse"})
    reward_lambda: float = field(default=LAMBDA, metadata={"help": "weight of speed"})
    reward_nu_max: float = field(default=NU_MAX, metadata={"help": "speed-up beyond 1 that counts"})
    workers: int = field(default=2, metadata={"help": "kernels built and checked at once"})
    time_kernels: bool = field(
        default=True, metadata={"help": "false: correctness only, and no reward for speed"}
    )
    build_timeout_s: float = field(default=90.0, metadata={"help": "seconds to compile a kernel"})
    run_timeout_s: float = field(default=20.0, metadata={"help": "seconds for all its trials"})
    timing_timeout_s: float = field(default=60.0, metadata={"help": "seconds to time it"})
    random_reward: bool = field(
        default=False,
        metadata={"help": "control: train on rewards drawn at random; verdicts are still logged"},
    )
    resume: bool = field(default=False, metadata={"help": "go on from the last checkpoint"})
    overwrite: bool = field(default=False, metadata={"help": "delete an existing folder first"})
