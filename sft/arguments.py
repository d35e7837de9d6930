"""The settings of supervised and rejection fine-tuning that are ours; the rest is TRL's."""

from dataclasses import dataclass, field


@dataclass
class SFTArguments:
    """Supervised fine-tuning on verified pairs; with samples_per_prompt, rejection fine-tuning.

    The model is model_name_or_path: a folder, a hub name, or scratch:SIZE (1m, 3m, 6m or
    HIDDENxLAYERS) for a new small model whose tokenizer is trained on the pairs.
    """

    data: str = field(default="", metadata={"help": "verified pairs, such as pairs.jsonl of synth"})
    vocab_size: int = field(default=2048, metadata={"help": "scratch models: tokens at most"})
    plateau_patience: int = field(
        default=0,
        metadata={"help": "stop after so many evaluations without a better eval_loss; 0: never"},
    )
    plateau_delta: float = field(
        default=0.0, metadata={"help": "by how much a better eval_loss must be lower"}
    )
    samples_per_prompt: int = field(
        default=0, metadata={"help": "rejection fine-tuning: answers sampled for each task"}
    )
    tasks: str = field(default="", metadata={"help": "rejection: tasks as JSONL to sample on"})
    max_tasks: int = field(
        default=0, metadata={"help": "rejection: only the first so many tasks; 0: all"}
    )
    backend: str = field(default="cpu", metadata={"help": "rejection: backend that judges"})
    prompt_style: str = field(default="full", metadata={"help": "rejection: full or terse"})
    temperature: float = field(default=1.0, metadata={"help": "rejection: of the sampling"})
    top_p: float = field(default=1.0, metadata={"help": "rejection: of the sampling"})
    max_new_tokens: int = field(default=4096, metadata={"help": "rejection: longest answer"})
    sample_batch_size: int = field(
        default=64, metadata={"help": "rejection: answers sampled together"}
    )
    representatives: int = field(
        default=6, metadata={"help": "rejection: diverse verified answers kept for each task"}
    )
    valid_share: float = field(
        default=0.1, metadata={"help": "rejection: share of the tasks held out for eval_loss"}
    )
    entropy_prompts: int = field(
        default=32, metadata={"help": "rejection: tasks on which entropy is measured"}
    )
    entropy_low: float = field(
        default=0.5, metadata={"help": "rejection: warn if entropy falls below this ratio"}
    )
    entropy_high: float = field(
        default=2.0, metadata={"help": "rejection: warn if entropy rises above this ratio"}
    )
    workers: int = field(default=2, metadata={"help": "rejection: kernels checked at once"})
    resume: bool = field(default=False, metadata={"help": "go on from where the run stopped"})
    overwrite: bool = field(default=False, metadata={"help": "delete an existing folder first"})
