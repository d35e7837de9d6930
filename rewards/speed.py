"""Gate 6: the speed-up of a right and legal candidate over each baseline.

The caller holds the machine: nothing else of the verifier runs meanwhile. In each fresh process the
candidate's blocks alternate with those of every baseline (`timing`), and the output of one drawn
timed call is compared, so that what was timed is also what is right.
"""

import os
import random
import secrets
import time
from collections.abc import Callable
from typing import Any

from kernelwright.rewards import timing
from kernelwright.rewards.backend import Artefact
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.certificate import Certificate
from kernelwright.rewards.channel import Channel, Closed
from kernelwright.rewards.draft import Draft
from kernelwright.rewards.judge import Judge
from kernelwright.rewards.oracle import Oracle
from kernelwright.rewards.record import to_plain
from kernelwright.rewards.task import Task
from kernelwright.rewards.variants import TIMED
from kernelwright.rewards.verdict import Status
from kernelwright.rewards.workers import InfraError, WorkerDied, WorkerTimeout

PREPARE_TIMEOUT_S = 300.0


class Ended(Exception):
    """A peer closed or fell silent inside a timed block."""


async def prepare(task: Task, oracles: dict[str, Oracle]) -> dict[str, str]:
    """Have every baseline of *task* warm; the ones that cannot run, with why."""
    missing = {}
    for name, oracle in oracles.items():
        order = {"op": "baseline", "name": name, "task": to_plain(task)}
        reply = await oracle.ask(order, PREPARE_TIMEOUT_S)
        if "missing" in reply:
            missing[name] = str(reply["missing"])
    return missing


async def gate(
    draft: Draft,
    judge: Judge,
    task: Task,
    candidate: Candidate,
    certificate: Certificate,
    artefacts: list[Artefact],
    oracles: dict[str, Oracle],
) -> None:
    """Time *candidate*; note speed-ups and latencies. Raises `Failed` when it does not hold."""
    began = time.perf_counter()
    ratios: dict[str, list[float]] = {name: [] for name in oracles}
    latencies: dict[str, list[float]] = {}
    calls: dict[str, int] = {}
    deadline = began + judge.options.timing_timeout_s
    with draft.gate("speed"):
        try:
            while not timing.settled(ratios[next(iter(ratios))]):
                if time.perf_counter() > deadline:
                    draft.fail("speed", Status.TIMEOUT, "timing", final=True)
                seconds, why = await _one_process(judge, task, candidate, artefacts, oracles, calls)
                if why:
                    q = len(certificate.trials) / (len(certificate.trials) + 1)
                    draft.note(q=q)
                    text = f"the output of a timed call is wrong: {why}"
                    draft.fail("speed", Status.CORRECTNESS_ERROR, "timed_output", text, final=True)
                for name in oracles:
                    ratios[name].append(seconds[name] / seconds["candidate"])
                for name, value in seconds.items():
                    latencies.setdefault(name, []).append(value * 1e3)
        except WorkerTimeout:
            draft.fail("speed", Status.TIMEOUT, "timing", final=True)
        except WorkerDied as error:
            draft.fail("speed", Status.RUNTIME_ERROR, f"timing_{error}", final=True)
        finally:
            draft.spent("time", time.perf_counter() - began)
        speedup = {name: timing.interval(values) for name, values in ratios.items()}
        medians = {name: round(timing.median(values), 5) for name, values in latencies.items()}
        draft.note(speedup=speedup, latency_ms=medians)
        told = ", ".join(
            f"{each.median:.2f}x of {name} [{each.lower:.2f}, {each.upper:.2f}]"
            for name, each in speedup.items()
        )
        draft.passed("speed", told)


async def _one_process(
    judge: Judge,
    task: Task,
    candidate: Candidate,
    artefacts: list[Artefact],
    oracles: dict[str, Oracle],
    calls: dict[str, int],
) -> tuple[dict[str, float], str]:
    """Seconds a call of each contender in one fresh process; what is wrong with an output."""
    draw = random.Random(secrets.randbits(64))
    timeout_s = judge.options.run_timeout_s
    async with await judge.parent.start(judge.limits) as worker:
        reply = await judge.ready(task, candidate, artefacts, worker)
        if "failed" in reply:
            raise WorkerDied(str(reply["failed"])[:60])
        folder = judge.certificates.folder(task)
        files = [os.open(folder / str(index), os.O_RDONLY) for index in range(TIMED)]
        try:
            reply = await worker.ask({"op": "prepare"}, timeout_s, files)
        finally:
            for fd in files:
                os.close(fd)
        last = [0]

        def run(n: int, start: int) -> None:
            last[0] = start + n - 1
            _block(worker.channel, {"op": "block", "n": n, "start": start}, timeout_s)

        contenders = {"candidate": timing.Contender(run, worker.freeze, worker.thaw)}
        for name, oracle in oracles.items():
            block = _baseline(oracle, name, task, timeout_s)
            contenders[name] = timing.Contender(block, oracle.freeze, oracle.thaw)
        try:
            seconds = timing.measure(contenders, timing.Plan(), draw, calls)
        except Ended as error:
            raise WorkerDied(str(error)) from error
        except TimeoutError as error:
            raise WorkerTimeout("no answer to a timed block") from error
        path = judge.output_path()
        out = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            await worker.ask({"op": "emit"}, timeout_s, [out])
            verdict = await judge.compare(task, last[0] % TIMED, path, output_only=True)
        finally:
            os.close(out)
            path.unlink()
    return seconds, "" if verdict["passed"] else str(verdict["why"])


def _baseline(
    oracle: Oracle, name: str, task: Task, timeout_s: float
) -> Callable[[int, int], None]:
    def run(n: int, start: int) -> None:
        if oracle.channel is None:
            raise InfraError(f"the {name} baseline is gone")
        order = {"op": "block", "name": name, "digest": task.digest, "n": n, "start": start}
        try:
            _block(oracle.channel, order, timeout_s)
        except (Ended, TimeoutError) as error:
            raise InfraError(f"the {name} baseline failed in a timed block: {error}") from error

    return run


def _block(channel: Channel, order: dict[str, Any], timeout_s: float) -> None:
    """Send a block's order and wait on this thread: the event loop would add its own jitter."""
    try:
        channel.send(order)
        reply, _ = channel.receive(timeout_s)
    except Closed as error:
        raise Ended("ended_in_a_timed_block") from error
    if "failed" in reply:
        raise Ended(str(reply["failed"])[:60])
