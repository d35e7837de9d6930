"""``kernelwright COMMAND ...``: find the command, run its ``main``, turn failures into a status.

Status 0 is success, 2 the user's mistake (one line), 130 an interrupt; a bug shows as a traceback.
What a command does, and its own flags, are in its module.
"""

import difflib
import importlib
import logging
import os
import sys
from importlib.metadata import version

from kernelwright.cli.commands import COMMANDS, find
from kernelwright.configs.errors import UserError

USAGE = """\
usage: kernelwright COMMAND [--key value ...]

Train language models that write GPU kernels, with a reward you can trust.

commands:
{commands}

`kernelwright COMMAND --help` tells the rest; `kernelwright --version` the version."""


def main(argv: list[str] | None = None) -> int:
    """Run the command named by *argv*; the exit status."""
    name, *rest = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help", "help"):
        print(USAGE.format(commands="\n".join(f"  {each.name:9} {each.help}" for each in COMMANDS)))
        return 0
    if name == "--version":
        print(f"kernelwright {version('kernelwright')}")
        return 0
    command = find(name)
    if command is None:
        return _failed(f"no command {name!r}; {_cure(name, [each.name for each in COMMANDS])}")
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("kernelwright").setLevel(logging.INFO)
    sys.argv[0] = f"kernelwright {name}"  # what parsers call the program in usage and errors
    try:
        status: int = importlib.import_module(command.module).main(rest)
    except UserError as error:
        return _failed(str(error))
    except BrokenPipeError:  # `kernelwright ... | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("kernelwright: interrupted", file=sys.stderr)
        return 130
    return status


def _cure(name: str, names: list[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"commands: {', '.join(names)}"


def _failed(message: str) -> int:
    print(f"kernelwright: error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
