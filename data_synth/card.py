"""The data card: what a synthesis run kept, what it rejected, and where it all came from."""

from collections import Counter, defaultdict
from typing import Any

from kernelwright.configs.run_folder import RunFolder
from kernelwright.data_synth.draw import LICENCE, PROVENANCE
from kernelwright.data_synth.keep import EVAL_ANSWERS, FILES, PAIRS, REJECTED, status

EXAMPLES = 20
MESSAGE_CHARS = 500


def card(
    folder: RunFolder, seed: int, tasks: int, eval_tasks: int, unscored: int
) -> dict[str, Any]:
    """Counts by family, mechanism and status; splits; the first rejected answers."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    rows = {name: folder.read(name) for name in FILES}
    for name in FILES:
        for line in rows[name]:
            counts[line["family"]][line["mechanism"]][status(line)] += 1
    return {
        "provenance": PROVENANCE,
        "licence": LICENCE,
        "seed": seed,
        "tasks": tasks,
        "eval_tasks": eval_tasks,
        "pairs": dict(Counter(line["split"] for line in rows[PAIRS])),
        "eval_answers": len(rows[EVAL_ANSWERS]),
        "unscored": unscored,
        "verdicts": counts,
        "rejected": len(rows[REJECTED]),
        "rejected_examples": [_example(line) for line in rows[REJECTED][:EXAMPLES]],
    }


def _example(line: dict[str, Any]) -> dict[str, str]:
    return {
        "task_id": line["task_id"],
        "mechanism": line["mechanism"],
        "status": status(line),
        "source": line["source"],
    }
