"""The package: ./rl installs as kernelwright.rl, nothing is forgotten and nothing generic leaks."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from kernelwright.cli.commands import COMMANDS, Command

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NO_PACKAGES = {"tests", "build", "dist", "docs", "examples"}


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300
    )


def test_every_folder_of_code_is_listed_as_a_package() -> None:
    folders = {
        folder.relative_to(ROOT).parts
        for folder in (path.parent for path in ROOT.glob("[!.]*/**/__init__.py"))
    }
    found = {".".join(("kernelwright", *parts)) for parts in folders if parts[0] not in NO_PACKAGES}
    assert found == set(PROJECT["tool"]["setuptools"]["packages"])


def test_no_module_lies_at_the_root() -> None:
    assert list(ROOT.glob("*.py")) == []


def test_constraints_pin_every_direct_dependency() -> None:
    pinned = {
        line.split("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {requirement.split(">=")[0].strip().lower() for requirement in wanted}
    assert names <= pinned


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel was installed, alone and away from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy: a build leaves build/ and egg-info behind, and a stale one would leak into the wheel.
    skipped = shutil.ignore_patterns(".*", "runs", "build", "dist", "*.egg-info", "__pycache__")
    source = shutil.copytree(ROOT, folder / "source", ignore=skipped)
    command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", "../dist", "."]
    built = python(*command, cwd=source)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_one_package_and_its_data(site: Path) -> None:
    (info,) = site.glob("*.dist-info")
    assert {path.name for path in site.iterdir()} == {"kernelwright", info.name}
    wanted = [
        *ROOT.glob("configs/**/*.yaml"),
        *ROOT.glob("eval/templates/*.html"),
        *(path for path in ROOT.glob("rewards/backends/slim/**/*") if path.is_file()),
        *ROOT.glob("[!.]*/py.typed"),
    ]
    names = [path.relative_to(ROOT) for path in wanted if "build" not in path.parts]
    assert [str(name) for name in names if not (site / "kernelwright" / name).is_file()] == []
    assert (info / "licenses" / "LICENSE").read_text().lstrip().startswith("Apache License")


def test_the_installed_command_answers_at_once_without_torch(site: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time; start = time.monotonic(); "
        f"sys.path.insert(0, {str(site)!r}); from kernelwright.cli.__main__ import main; "
        "status = main(['--help']); "
        "heavy = {'torch', 'transformers', 'trl', 'numpy'} & set(sys.modules); "
        "sys.exit(f'{status} {heavy}' if status or heavy else time.monotonic() - start > 1)"
    )
    # -I -S: neither the current folder nor the editable install can lend a module
    done = python("-I", "-S", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(command.name in done.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_helps_without_torch(command: Command, tmp_path: Path) -> None:
    code = (
        "import sys; from kernelwright.cli.__main__ import main\n"
        "try: status = main([sys.argv[1], '--help'])\n"
        "except SystemExit as ended: status = ended.code or 0\n"
        "heavy = {'torch', 'transformers'} & set(sys.modules)\n"
        "sys.exit(f'{status} {heavy}' if status or heavy else 0)"
    )
    done = python("-c", code, command.name, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "usage: kernelwright" in done.stdout
