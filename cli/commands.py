"""The commands of ``kernelwright``: a name, the module whose ``main`` it runs, one line of help.

Plain data: nothing is imported until a command is chosen.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command."""

    name: str
    module: str
    """Where ``main(argv) -> int`` is."""
    help: str
    schema: str = ""
    """Of a stage: the dotted name of its own settings; empty where there is no config file."""
    trainers: tuple[str, ...] = ()
    """Of a stage: the trainer classes whose fields it also takes."""


COMMANDS = (
    Command("run", "kernelwright.cli.run", "every stage of a recipe in order; resumes"),
    Command(
        "synth",
        "kernelwright.data_synth.__main__",
        "make tasks and verified answers",
        "kernelwright.data_synth.__main__.SynthArguments",
    ),
    Command(
        "sft",
        "kernelwright.sft.__main__",
        "fine-tune on verified or on sampled answers",
        "kernelwright.sft.__main__.SFTArguments",
        ("trl.SFTConfig", "trl.ModelConfig"),
    ),
    Command(
        "rl",
        "kernelwright.rl.__main__",
        "reinforcement learning against the verifier",
        "kernelwright.rl.__main__.RLArguments",
        ("trl.GRPOConfig", "trl.ModelConfig"),
    ),
    Command(
        "eval",
        "kernelwright.eval.__main__",
        "sample a model on tasks and score it",
        "kernelwright.eval.__main__.EvalArguments",
    ),
    Command("verify", "kernelwright.rewards.__main__", "judge one kernel, gate by gate"),
    Command("report", "kernelwright.eval.report", "one HTML page about a run"),
    Command("bench", "kernelwright.rewards.bench", "verified kernels a minute on this machine"),
    Command("backends", "kernelwright.cli.backends", "the installed reward backends"),
    Command("doctor", "kernelwright.cli.doctor", "what this machine can do, and what is missing"),
)


def find(name: str) -> Command | None:
    """The command called *name*, or None."""
    return next((each for each in COMMANDS if each.name == name), None)
