"""The trusted process that knows the right answers; started by `oracle.Oracle`.

It certifies tasks, compares outputs that workers wrote, and runs the baselines. It never holds
candidate code and never reads anything from a worker but a bounded file of tensors. Only inputs,
parameters and init arguments are written to disk, for the workers to read; expected outputs,
tolerances and seeds stay in this process's memory.
"""

import signal
import sys
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from kernelwright.rewards import blob, compare
from kernelwright.rewards.certificate import Certificate, Trial, certify
from kernelwright.rewards.channel import Channel, Closed
from kernelwright.rewards.record import from_plain
from kernelwright.rewards.reference import Invalid, Reference
from kernelwright.rewards.task import Task
from kernelwright.rewards.variants import TIMED

MAX_OUTPUT_BYTES = 1 << 31


class Held:
    """What is kept of one certified task."""

    def __init__(self, reference: Reference, trials: list[Trial]) -> None:
        self.reference = reference
        self.trials = trials
        self.baselines: dict[str, Any] = {}
        self.sets: list[list[Any]] = []


class Service:
    """Answers the judge's orders."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, Held] = {}

    def certify(self, order: dict[str, Any]) -> dict[str, Any]:
        """Certify a task and write what workers need under its digest."""
        task = from_plain(Task, order["task"])
        seed = order["seed"]
        try:
            reference = Reference(task)
            trials, dropped, names = certify(reference, seed)
            init = reference.init_arguments()
        except Invalid as invalid:
            return asdict(Certificate(task.digest, (), seed=seed, invalid=str(invalid)))
        held = Held(reference, trials)
        self._held[task.digest] = held
        folder = self._folder / task.digest
        folder.mkdir(parents=True, exist_ok=True)
        package = {"init": init, "mode": task.mode}
        (folder / "init").write_bytes(blob.dump(package))
        size = 0
        for index, trial in enumerate(trials):
            data = blob.dump({"inputs": trial.inputs, "state": trial.state or None})
            (folder / str(index)).write_bytes(data)
            size += len(data)
            size += sum(t.nbytes for t in blob.tensors_in([trial.expected, trial.inputs]))
        return asdict(
            Certificate(
                digest=task.digest,
                trials=tuple(trial.variant for trial in trials),
                dropped=tuple(dropped),
                operators=tuple(sorted(names)),
                seed=seed,
                held_bytes=size,
            )
        )

    def forget(self, order: dict[str, Any]) -> dict[str, Any]:
        """Drop a task's tensors."""
        self._held.pop(order["digest"], None)
        return {}

    def compare(self, order: dict[str, Any]) -> dict[str, Any]:
        """Whether the output in a file is right for a trial, and where it is most wrong."""
        trial = self._held[order["digest"]].trials[order["trial"]]
        path = Path(order["path"])
        if path.stat().st_size > MAX_OUTPUT_BYTES:
            return {"passed": False, "why": "output_too_large"}
        try:
            given = blob.parse(path.read_bytes())
        except ValueError as error:
            return {"passed": False, "why": f"unreadable_output: {error}"[:300]}
        wanted = trial.expected["output"] if order["output_only"] else trial.expected
        count = len(blob.tensors_in(wanted))
        if why := compare.mismatch(wanted, given, trial.dtypes[:count]):
            return {"passed": False, "why": why}
        pairs = zip(
            blob.tensors_in(wanted),
            blob.tensors_in(given),
            trial.tolerances[:count],
            strict=True,
        )
        for position, (expected, got, bound) in enumerate(pairs):
            found = compare.error(expected, got)
            if compare.within(found, bound):
                continue
            return {"passed": False, "why": _explained(position, expected, got, found, bound)}
        return {"passed": True, "why": ""}

    def baseline(self, order: dict[str, Any]) -> dict[str, Any]:
        """Prepare one baseline of a task, compile it if that is what it is, and warm it up.

        A process that did not certify the task itself reads the inputs written for workers.
        """
        task = from_plain(Task, order["task"])
        held = self._held.setdefault(task.digest, Held(Reference(task), []))
        name = order["name"]
        if name not in held.baselines:
            folder = self._folder / task.digest
            sets = [blob.parse((folder / str(index)).read_bytes()) for index in range(TIMED)]
            model = held.reference.model(0)
            if sets[0]["state"] is not None:
                model.load_state_dict(sets[0]["state"])
            held.sets = [each["inputs"] for each in sets]
            runner: Any = model
            if name == "compile":
                torch._dynamo.reset()
                runner = torch.compile(model)
            try:
                for inputs in held.sets:
                    with torch.no_grad():
                        runner(*inputs)
            except Exception as error:  # torch.compile cannot take every module: said, not hidden
                return {"missing": f"{name}: {type(error).__name__}: {error}"[:500]}
            held.baselines[name] = runner
        return {}

    def block(self, order: dict[str, Any]) -> dict[str, Any]:
        """Call a baseline n times, walking through the timing inputs."""
        held = self._held[order["digest"]]
        runner, sets, start = held.baselines[order["name"]], held.sets, order["start"]
        with torch.no_grad():
            for index in range(start, start + order["n"]):
                runner(*sets[index % len(sets)])
        return {}


def _explained(
    position: int,
    expected: torch.Tensor,
    got: torch.Tensor,
    found: compare.Error | None,
    bound: compare.Tolerance,
) -> str:
    if found is None:
        if expected.is_floating_point() and not bool(got.isfinite().all()):
            where = torch.nonzero(got.isfinite() != expected.isfinite())
            first = where[0].tolist() if len(where) else []
            return f"non_finite: output {position} at {first}, {len(where)} elements"
        where = torch.nonzero(got.to(expected.dtype) != expected)
        first = where[0].tolist() if len(where) else []
        return f"values: output {position} first differs at {first}, {len(where)} elements"
    worst = compare.worst_index(expected, got)
    return (
        f"values: output {position} is off by {found.largest:.3g} of its row's size at {worst} "
        f"(at most {bound.largest:.3g}), {found.rms:.3g} on average (at most {bound.rms:.3g})"
    )


def main(argv: list[str]) -> int:
    """Serve on the socket numbered ``argv[0]`` with ``argv[1]`` as the folder for inputs."""
    import socket

    judge = Channel(socket.socket(fileno=int(argv[0])))
    service = Service(Path(argv[1]))
    threads = torch.get_num_threads()
    judge.send({"ready": True, "torch": torch.__version__})
    while True:
        try:
            order, _ = judge.receive()
        except Closed:
            return 0
        started = time.perf_counter()
        # Baselines have the machine to themselves; all else runs beside checks of candidates.
        torch.set_num_threads(threads if order["op"] in ("block", "baseline") else 1)
        try:
            reply = getattr(service, order["op"])(order)
        except Exception:  # our bug or the machine's: the judge reports it as infra
            reply = {"failed": traceback.format_exc()[-4000:]}
        judge.send({**reply, "seconds": time.perf_counter() - started})


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge ends it; Ctrl-C is the judge's
    sys.exit(main(sys.argv[1:]))
