"""The user's mistake, as a type of its own: one line that says what is wrong and what cures it.

Not for a kernel that fails (that is a `Verdict`) and not for our bugs (they show as tracebacks).
"""

import functools
import sys
from collections.abc import Callable


class UserError(Exception):
    """Something the user can put right. Its text is one line and names the cure."""


def one_line(main: Callable[..., int]) -> Callable[..., int]:
    """*main*, with a `UserError` printed as one line and turned into exit status 2.

    Wrap the ``main`` of a module that also runs as ``python -m``; the ``kernelwright`` command
    does the same for every command it starts.
    """

    @functools.wraps(main)
    def guarded(argv: list[str] | None = None) -> int:
        try:
            return main(argv)
        except UserError as error:
            print(f"kernelwright: error: {error}", file=sys.stderr)
            return 2

    return guarded
