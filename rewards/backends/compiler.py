"""Running the C++ compiler: its flags, its time budget, and what its messages come down to."""

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kernelwright.rewards.backend import BuildError

STANDARD = "-std=c++20"  # what torch itself passes; gnu extensions stay on, as there
BASE = ("-O3", "-fopenmp", STANDARD, "-fPIC", "-fvisibility=hidden", "-w")
MAX_OUTPUT_BYTES = 256 * 1024
MAX_MESSAGE_CHARS = 1500
_ADMITTED = re.compile(
    r"-O[0-3sg]?|-Ofast|-f(no-)?(fast-math|unroll-loops|unroll-all-loops|openmp(-simd)?|math-errno|"
    r"finite-math-only|associative-math|reciprocal-math|signed-zeros|trapping-math|strict-aliasing|"
    r"tree-vectorize|inline-functions|omit-frame-pointer|unsafe-math-optimizations|permissive|"
    r"exceptions|rtti)|-ffp-contract=\w+|-m(no-)?(avx\w*|sse[\w.]*|fma|f16c|bmi2?|lzcnt|popcnt)|"
    r"-m(arch|tune|prefer-vector-width)=[\w.-]+|-W(no-)?[\w=-]+|-w|-std=(c|gnu)\+\+\w+|"
    r"-D\w+(=[\w.+-]*)?|-U\w+|-fPIC|-g\d?"
)
# -ffast-math without the start-up code that turns subnormals off for the whole process.
_FAST_MATH = (
    "-fno-math-errno",
    "-ffinite-math-only",
    "-fno-signed-zeros",
    "-fno-trapping-math",
    "-fassociative-math",
    "-freciprocal-math",
    "-fno-rounding-math",
    "-fcx-limited-range",
)
_FAST = ("-ffast-math", "-Ofast", "-funsafe-math-optimizations")
_IMPLIED = re.compile(
    r"-O3|-fopenmp|-march=native|-fPIC|-W[\w=-]+|-w|-g\d?|-std=(c|gnu)\+\+(11|14|17|20|2a)"
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What one compiler run came to."""

    ok: bool
    output: str


def find_compiler() -> str | None:
    """The C++ compiler: ``CXX`` if set and found, else ``g++``."""
    return shutil.which(os.environ.get("CXX", "g++")) or shutil.which("g++")


def admitted(flags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """*flags* as (passed to the compiler, dropped). What `BASE` says already is in neither."""
    passed: list[str] = []
    dropped: list[str] = []
    for flag in (part for each in flags for part in each.split()):
        if flag in _FAST:
            passed += [each for each in _FAST_MATH if each not in passed]
        elif not _ADMITTED.fullmatch(flag):
            dropped.append(flag)
        elif not _IMPLIED.fullmatch(flag) and flag not in passed:
            passed.append(flag)
    return tuple(passed), tuple(dropped)


def split_macros(flags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """*flags* as (those without macros, lines of ``#define`` and ``#undef``).

    A macro defined in the text, after our header, cannot change what the header means.
    """
    plain: list[str] = []
    lines: list[str] = []
    for flag in flags:
        if flag.startswith("-D"):
            name, _, value = flag[2:].partition("=")
            lines.append(f"#define {name} {value if '=' in flag else 1}")
        elif flag.startswith("-U"):
            lines.append(f"#undef {flag[2:]}")
        else:
            plain.append(flag)
    return tuple(plain), tuple(lines)


def run(command: list[str], cwd: Path, timeout_s: float) -> Compiled:
    """Run *command* in its own process group under *cwd*; ``BuildError`` when it takes too long."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "TMPDIR": str(cwd),
    }
    log = cwd / "compiler.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise BuildError(f"the compiler took longer than {timeout_s:g} s") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    with log.open("rb") as source:
        output = source.read(MAX_OUTPUT_BYTES).decode(errors="replace")
    return Compiled(code == 0, output)


def condensed(output: str) -> str:
    """The error lines of *output*, without paths, short enough to show to a model."""
    lines: list[str] = []
    for line in output.splitlines():
        if not re.search(r"error:|undefined reference|multiple definition", line):
            continue
        line = re.sub(r"(?:/[\w.+@~-]+)+/", "", line.strip())
        if line not in lines:
            lines.append(line)
    text = "\n".join(lines) or re.sub(r"(?:/[\w.+@~-]+)+/", "", output.strip())
    text = text or "the compiler failed without a message"
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 2] + " …"
