"""Verdicts kept on disk, so that a resumed run repeats them instead of measuring again.

One JSON line a verdict, keyed by task, source, machine, versions and what was asked for. An infra
error is never kept. A line torn by a killed process is dropped.
"""

import json
from pathlib import Path

from kernelwright.rewards.record import from_line, to_line
from kernelwright.rewards.verdict import Status, Verdict


class VerdictStore:
    """The verdicts of one verifier set-up; without a path it lives in memory."""

    def __init__(self, path: Path | None, asked: str) -> None:
        self._path, self._asked = path, asked
        self._known: dict[str, Verdict] = {}
        if path is None or not path.exists():
            return
        lines = path.read_text().split("\n")
        if lines and lines[-1]:  # torn by a kill: cut it, so that the next append starts a line
            path.write_text("".join(line + "\n" for line in lines[:-1]))
        for line in lines[:-1]:
            row = json.loads(line)
            self._known[row["key"]] = from_line(Verdict, json.dumps(row["verdict"]))

    def key(self, task_digest: str, source_digest: str) -> str:
        """What identifies a verdict."""
        return f"{task_digest}/{source_digest}/{self._asked}"

    def get(self, key: str) -> Verdict | None:
        return self._known.get(key)

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep *verdict* under *key*."""
        if verdict.status is Status.INFRA_ERROR or key in self._known:
            return
        self._known[key] = verdict
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as stream:
                stream.write(json.dumps({"key": key, "verdict": json.loads(to_line(verdict))}))
                stream.write("\n")
