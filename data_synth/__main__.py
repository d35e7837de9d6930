"""``kernelwright synth``: draw tasks, verify the teacher's answers, keep what is right and legal.

Speed is measured only if asked for. The folder holds ``tasks.jsonl``, ``practice_tasks.jsonl``,
``eval_tasks.jsonl``, ``pairs.jsonl`` and ``card.json``; overlap with public benchmarks is not
examined.
"""

import json
import logging
import sys
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.configs import parse, resolved
from kernelwright.configs.errors import UserError, one_line
from kernelwright.configs.run_folder import RunFolder
from kernelwright.data_synth.card import card
from kernelwright.data_synth.catalogue import FAMILIES
from kernelwright.data_synth.draw import Drawn, chosen, draw
from kernelwright.data_synth.keep import EVAL_ANSWERS, PAIRS, Question, remaining, verify
from kernelwright.data_synth.split import validation
from kernelwright.rewards.prompt import STYLES
from kernelwright.rewards.record import to_line

logger = logging.getLogger(__name__)
TASKS, PRACTICE, EVAL_TASKS = "tasks.jsonl", "practice_tasks.jsonl", "eval_tasks.jsonl"
CARD = "card.json"


@dataclass
class SynthArguments:
    """Make tasks and verified answers."""

    output_dir: str = field(default="runs/synth", metadata={"help": "folder to write"})
    seed: int = field(default=0, metadata={"help": "of every draw"})
    families: list[str] = field(
        default_factory=lambda: list(FAMILIES), metadata={"help": "operator families to draw from"}
    )
    tasks: int = field(default=300, metadata={"help": "training tasks"})
    practice_tasks: int = field(
        default=0,
        metadata={"help": "more tasks of the same draw, without answers: for RFT and RL"},
    )
    eval_tasks: int = field(default=24, metadata={"help": "tasks of held-out compositions"})
    eval_share: float = field(
        default=0.15, metadata={"help": "share of compositions that are held out"}
    )
    mechanisms: list[str] = field(
        default_factory=list, metadata={"help": "kinds of answer to keep; none named: all"}
    )
    answers_per_task: int = field(
        default=3, metadata={"help": "answers verified for each task, drawn from its kinds; 0: all"}
    )
    valid_share: float = field(
        default=0.05, metadata={"help": "share of training tasks whose answers only validate"}
    )
    backend: str = field(default="cpu", metadata={"help": "language and device of the answers"})
    prompt_style: str = field(
        default="terse", metadata={"help": f"how tasks are asked: {' or '.join(STYLES)}"}
    )
    workers: int = field(default=2, metadata={"help": "answers verified at once"})
    time: bool = field(default=False, metadata={"help": "measure the speed of right answers too"})
    resume: bool = field(default=False, metadata={"help": "go on in an existing folder"})
    overwrite: bool = field(default=False, metadata={"help": "delete an existing folder first"})

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.families) - set(FAMILIES)):
            raise ValueError(f"no family {unknown[0]!r}; families: {', '.join(FAMILIES)}")
        if self.prompt_style not in STYLES:
            raise ValueError(f"no prompt style {self.prompt_style!r}; styles: {', '.join(STYLES)}")
        for name in ("eval_share", "valid_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1")


@one_line
def main(argv: list[str] | None = None) -> int:
    """Run the stage; 0 when every answer has a verdict, 1 when some have none."""
    (arguments,) = parse(SynthArguments, argv=argv)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    train, held = draw(
        arguments.families,
        arguments.seed,
        arguments.tasks + arguments.practice_tasks,
        arguments.eval_tasks,
        arguments.eval_share,
    )
    train, practice = train[: arguments.tasks], train[arguments.tasks :]
    questions = [each for drawn in train for each in _questions(drawn, arguments, False)]
    questions += [each for drawn in held for each in _questions(drawn, arguments, True)]
    folder = RunFolder.open(
        arguments.output_dir, resolved(arguments), arguments.resume, arguments.overwrite
    )
    _refuse_strangers(folder, train)
    open_questions = remaining(folder, questions)
    unscored = _verify(folder, open_questions, arguments) if open_questions else 0
    kept = [_solvable(folder, train, PAIRS), _solvable(folder, held, EVAL_ANSWERS)]
    for name, drawn in zip((TASKS, EVAL_TASKS, PRACTICE), (*kept, practice), strict=True):
        _replace(folder.path / name, "".join(f"{to_line(each.task)}\n" for each in drawn))
    about = card(folder, arguments.seed, len(kept[0]), len(kept[1]), unscored)
    _replace(folder.path / CARD, json.dumps(about, indent=1) + "\n")
    print(
        f"{folder.path}: {len(kept[0])} tasks, {len(kept[1])} eval tasks, "
        f"{sum(about['pairs'].values())} pairs, {about['rejected']} rejected"
    )
    if unscored:
        logger.warning("%d answers have no verdict yet; --resume true tries them again", unscored)
    return 1 if unscored else 0


def _questions(drawn: Drawn, arguments: SynthArguments, held: bool) -> list[Question]:
    split = "valid" if validation(drawn.task.id, arguments.valid_share) else "train"
    most = 1 if held else arguments.answers_per_task  # one answer shows that a task has one
    answers = chosen(drawn.answers, arguments.mechanisms, most, drawn.task.id)
    return [
        Question(drawn.task, mechanism, source, "eval" if held else split)
        for mechanism, source in answers.items()
    ]


def _verify(folder: RunFolder, questions: list[Question], arguments: SynthArguments) -> int:
    from kernelwright.rewards.verifier import LocalVerifier, VerifierOptions

    options = VerifierOptions(
        backend=arguments.backend, time=arguments.time, workers=arguments.workers
    )
    try:
        verifier = LocalVerifier(options)
    except ValueError as error:
        raise UserError(str(error)) from None
    with verifier:
        return verify(folder, questions, verifier, arguments.backend, arguments.prompt_style)


def _refuse_strangers(folder: RunFolder, train: list[Drawn]) -> None:
    """A pair kept under other settings may be of a task that is held out now."""
    known = {each.task.id for each in train}
    if strangers := [line for line in folder.read(PAIRS) if line["task_id"] not in known]:
        raise UserError(
            f"{folder.path / PAIRS} holds {strangers[0]['task_id']}, which these settings do not "
            "draw; use --overwrite true or another output_dir"
        )


def _solvable(folder: RunFolder, drawn: list[Drawn], name: str) -> list[Drawn]:
    solved = {line["task_id"] for line in folder.read(name)}
    return [each for each in drawn if each.task.id in solved]


def _replace(file: Path, text: str) -> None:
    part = file.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


if __name__ == "__main__":
    sys.exit(main())
