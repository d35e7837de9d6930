"""``kernelwright doctor``: what this machine can do, and what is missing, each with its cure."""

import argparse
import json
from dataclasses import asdict

from kernelwright.cli.machine import Finding, findings


def main(argv: list[str] | None = None) -> int:
    """Print the findings; 1 where something that every stage needs is missing."""
    parser = argparse.ArgumentParser(
        "kernelwright doctor",
        description="What this machine can do, and what is missing.",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="one JSON list instead of a table")
    args = parser.parse_args(argv)
    found = list(findings())
    if args.json:
        print(json.dumps([asdict(each) for each in found], indent=2))
    else:
        _print(found)
    return 1 if any(each.needed and each.cure is not None for each in found) else 0


def _print(found: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "what", "found", "cure", box=None)
    for each in found:
        mark = "ok" if each.cure is None else "MISSING" if each.needed else "-"
        table.add_row(mark, each.name, each.value, each.cure or "")
    Console().print(table)
