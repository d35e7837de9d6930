"""The README's promises: its backend builds and loads, its commands and files exist."""

import re
import subprocess
import sys
from pathlib import Path

from kernelwright.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()

TRY = """
from pathlib import Path
from kernelwright.rewards.backend import BuildError, Sources
backend, folder = PlainBackend(), Path(sys.argv[1])
assert backend.missing() is None
good = Sources("good", ("int twice(int x) { return 2 * x; }",), functions=(("twice", ""),))
assert backend.load(backend.build(good, folder)).twice(21) == 42
try:
    backend.build(Sources("bad", ("#error wrong",)), folder)
except BuildError as error:
    print("refused:", error)
"""


def test_the_backend_of_the_readme_builds_loads_and_refuses(tmp_path: Path) -> None:
    (code,) = (block for block in blocks("python") if "class PlainBackend" in block)
    # pybind11 alone: the full torch headers take most of a minute and are tested by the cpu backend
    code = code.replace("torch/extension.h", "pybind11/pybind11.h").replace("-O3", "-O0")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{TRY}", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "refused:" in done.stdout and "wrong" in done.stdout


def test_the_readme_names_only_commands_and_configs_that_exist() -> None:
    shell = "\n".join(blocks("sh"))
    used = set(re.findall(r"^kernelwright (\w+)", shell, flags=re.MULTILINE))
    assert used and used <= {each.name for each in COMMANDS}
    for name in re.findall(r"configs/\S+", shell):
        assert (ROOT / name).exists(), name


def test_the_readme_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
