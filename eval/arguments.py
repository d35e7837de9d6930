"""The settings of an evaluation: what the keys of its config file mean."""

from dataclasses import dataclass, field


@dataclass
class EvalArguments:
    """Sample a model on tasks, judge every answer, and write the figures with their intervals."""

    model: str = field(metadata={"help": "a run's final/ folder, or any model folder"})
    tasks: str = field(metadata={"help": "tasks as JSONL, such as eval_tasks.jsonl of synth"})
    output_dir: str = field(metadata={"help": "folder of this run"})
    samples_per_task: int = field(default=8, metadata={"help": "n of Avg@n and Pass@n"})
    temperature: float = field(default=0.7, metadata={"help": "of sampling; 0 is greedy"})
    top_p: float = field(default=0.7, metadata={"help": "nucleus of sampling"})
    max_new_tokens: int = field(default=1024, metadata={"help": "tokens an answer may have"})
    batch_size: int = field(default=32, metadata={"help": "completions sampled at once"})
    backend: str = field(default="cpu", metadata={"help": "reward backend that judges"})
    baselines: list[str] = field(
        default_factory=lambda: ["eager"],
        metadata={"help": "what speed-ups are against: eager, compile"},
    )
    prompt_style: str = field(default="full", metadata={"help": "full or terse"})
    seed: int = field(default=0, metadata={"help": "of sampling and of the bootstrap"})
    workers: int = field(default=2, metadata={"help": "kernels built and checked at once"})
    max_tasks: int = field(default=0, metadata={"help": "only the first so many tasks; 0: all"})
    dtype: str = field(default="auto", metadata={"help": "auto, float32, bfloat16 or float16"})
    resume: bool = field(default=False, metadata={"help": "go on in an existing folder"})
    overwrite: bool = field(default=False, metadata={"help": "delete an existing folder first"})
