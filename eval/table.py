"""Evaluations side by side: one row each, every figure with its interval.

Reads ``summary.json`` files; measures nothing. Also ``python -m kernelwright.eval.table RUN ...``.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwright.configs.errors import UserError, one_line
from kernelwright.eval.intervals import Estimate

SUMMARY = "summary.json"


@one_line
def main(argv: list[str] | None = None) -> int:
    """Print the table of the evaluation runs named by *argv*."""
    parser = argparse.ArgumentParser(description="Compare evaluation runs.", allow_abbrev=False)
    parser.add_argument("runs", nargs="+", type=Path, help="folders of eval runs")
    parser.add_argument("--markdown", action="store_true", help="plain markdown, for a file")
    args = parser.parse_args(argv)
    summaries = {str(path): read_summary(path) for path in args.runs}
    if args.markdown:
        print(markdown(summaries))
    else:
        show(summaries)
    return 0


def read_summary(run: Path) -> dict[str, Any]:
    """The summary in folder *run*; a `UserError` where there is none."""
    try:
        return dict(json.loads((run / SUMMARY).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UserError(f"{run} holds no {SUMMARY}; has its evaluation finished?") from None


def rows(summaries: dict[str, dict[str, Any]]) -> list[list[str]]:
    """A header, then a row for each of *summaries* by name; a figure one lacks is ``-``."""
    keys = list(dict.fromkeys(key for each in summaries.values() for key in each["metrics"]))
    table = [["run", "scored", "infra", *keys]]
    for name, each in summaries.items():
        counts = each["counts"]
        found = [str(Estimate(**each["metrics"].get(key, {"value": None}))) for key in keys]
        table.append([name, str(counts["scored"]), str(counts["infra_error"]), *found])
    return table


def markdown(summaries: dict[str, dict[str, Any]]) -> str:
    """The table as markdown."""
    return markdown_of(rows(summaries))


def markdown_of(table: Sequence[Sequence[str]]) -> str:
    """*table*, its header first, as markdown."""
    header, *body = table
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def show(summaries: dict[str, dict[str, Any]]) -> None:
    """Print the table, turned on its side: a column for each run fits a terminal."""
    from rich.console import Console
    from rich.table import Table

    header, *body = rows(summaries)
    table = Table(caption="value [95 % interval, bootstrap over tasks]")
    for title in ("", *(line[0] for line in body)):
        table.add_column(title, overflow="fold")
    for place, key in enumerate(header[1:], start=1):
        table.add_row(key, *(line[place] for line in body))
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
