"""``kernelwright backends``: the reward backends that are installed, and what each still needs."""

import argparse
from collections.abc import Iterator

from kernelwright.rewards.backend import installed, load_backend


def statuses() -> Iterator[tuple[str, str, str | None]]:
    """Name, where it comes from, and why it cannot run here (None where it can)."""
    for name, point in sorted(installed().items()):
        try:
            missing = load_backend(name).missing()
        except ImportError as error:  # one broken plug-in must not hide the others
            missing = f"does not import: {error}"
        yield name, point.value, missing


def main(argv: list[str] | None = None) -> int:
    """Print the table; 0 where at least one backend can run here, else 1."""
    parser = argparse.ArgumentParser(
        "kernelwright backends", description="The installed reward backends, and what each needs."
    )
    parser.parse_args(argv)
    from rich.console import Console
    from rich.table import Table

    rows = list(statuses())
    table = Table("backend", "on this machine", "from", box=None)
    for name, origin, missing in rows:
        table.add_row(name, "ready" if missing is None else missing, origin)
    Console().print(table)
    return 0 if any(missing is None for _, _, missing in rows) else 1
