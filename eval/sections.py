"""The tables of a report as plain rows; the template only lays them out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kernelwright.eval import plots
from kernelwright.eval.headline import Evaluation
from kernelwright.eval.intervals import Estimate
from kernelwright.rewards.verdict import Status

Row = dict[str, Any]


def figures_table(
    evaluations: Sequence[Evaluation],
) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    """Titles of figures with what they are over, and a row an evaluation.

    A row is a label, the counts, and value and interval of each figure.
    """
    keys = list(dict.fromkeys(key for each in evaluations for key in each.summary["metrics"]))
    keys = [key for key in keys if key != "pass@1"]  # Avg@n is the same share
    body = [
        [each.label, each.summary["counts"], [_cell(key, each.figure(key)) for key in keys]]
        for each in evaluations
    ]
    return [_title(key) for key in keys], body


def _title(key: str) -> tuple[str, str]:
    name, _, baseline = key.partition("/")
    name = {"faster": "Faster Rate", "speedup": "Median speed-up"}.get(name, name.capitalize())
    return name, f"over {baseline}" if baseline else ""


def _cell(key: str, estimate: Estimate) -> tuple[str, str]:
    if estimate.value is None:
        return "–", ""
    bounds = [each for each in (estimate.lower, estimate.upper) if each is not None]
    if key == "reward" or key.startswith("speedup/"):
        unit = "×" if key.startswith("speedup/") else ""
        value, inner = f"{estimate.value:.2f}{unit}", [f"{each:.2f}" for each in bounds]
    else:
        value, inner = f"{100 * estimate.value:.0f} %", [f"{100 * each:.0f}" for each in bounds]
    return tuple(text.replace("-", "−") for text in (value, ", ".join(inner)))  # type: ignore


def family_table(evaluations: Sequence[Evaluation]) -> list[tuple[str, list[Row]]]:
    """Each family with the figures of every evaluation, under the same names for all."""
    names = sorted({name for each in evaluations for name in each.summary["families"]})
    return [
        (name, [_family(each.summary, each.summary["families"].get(name)) for each in evaluations])
        for name in names
    ]


def _family(summary: Row, found: Row | None) -> Row:
    found, n = found or {}, summary["samples_per_task"]
    baseline = next(iter(summary["baselines"]), "")
    return {
        "tasks": found.get("tasks", 0),
        "correct": found.get(f"avg@{n}"),
        "faster": found.get(f"faster/{baseline}"),
    }


def status_table(columns: Mapping[str, Sequence[Row]]) -> tuple[list[Row], list[Row]]:
    """Shares of statuses, then of the classes of cheating, by column; only what occurs."""
    statuses = {
        name: Counter(r["verdict"]["status"] for r in rows) for name, rows in columns.items()
    }
    cheats = {
        name: Counter(
            r["verdict"]["detail"].split(":")[0] or "other"
            for r in rows
            if r["verdict"]["status"] == Status.CHEATING
        )
        for name, rows in columns.items()
    }
    order = [str(status) for status in plots.STATUS]
    return _counted(statuses, columns, order), _counted(cheats, columns, None)


def _counted(
    counts: dict[str, Counter[str]], columns: Mapping[str, Sequence[Row]], order: list[str] | None
) -> list[Row]:
    seen = sum(counts.values(), Counter())
    names = (
        [name for name in order if name in seen] if order else [k for k, _ in seen.most_common()]
    )
    return [
        {
            "name": name,
            "colour": plots.css(plots.STATUS.get(name, "")),
            "counts": [counts[each][name] for each in columns],
            "shares": [counts[each][name] / max(len(columns[each]), 1) for each in columns],
        }
        for name in names
    ]
