# Two commands: `make quickstart` runs the whole pipeline on this machine, `make test` checks it.
# Each sets up what it needs in .venv, once. Settings: PYTHON=python3.12, and TORCH_INDEX=URL for a
# package index to take torch from (by default yours; on Linux that is a CUDA build of some GB).

PYTHON ?= python3
TORCH_INDEX ?=
RUN ?= runs/quickstart

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: quickstart test compiler clean

quickstart: compiler $(VENV)/.installed
	$(BIN)/kernelwright run configs/quickstart --output_dir $(RUN)

test: compiler $(VENV)/.installed-dev .types/kernelwright
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not gpu"

compiler:
	@command -v g++ >/dev/null || { echo "g++ is missing: install a C++17 compiler" \
	  "(Debian, Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++)" >&2; exit 2; }

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v < (3, 14) or sys.exit(f"Python 3.11, 3.12 or 3.13 is needed, this is {v[0]}.{v[1]}: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# torch goes first, so that the rest finds it there and does not choose a build of its own.
$(VENV)/.torch: constraints.txt | $(VENV)/.created
	$(PIP) install -c constraints.txt $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.torch
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

# mypy reads ./rl as kernelwright.rl through this link.
.types/kernelwright:
	mkdir -p .types && ln -sfn .. $@

# The virtual environment and the runs stay: delete .venv and runs/ by hand.
clean:
	rm -rf build dist *.egg-info .types .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
