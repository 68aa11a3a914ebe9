# Two commands on a fresh machine: `make demo` and `make test`. Everything is installed into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint fix bench docs clean

$(VENV)/.runtime: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Weft needs Python 3.11 or later: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "setting up $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "installing what the tests and checks need …"
	@$(PIP) install --editable '.[dev]'
	@touch $@

demo: $(VENV)/.runtime       ## load the sample workspace and print an assembled context
	@$(BIN)/weft demo

test: $(VENV)/.dev           ## run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev           ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fix: $(VENV)/.dev            ## repair what can be repaired by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev          ## measure latency and ingestion beside their floors
	$(BIN)/python -m benchmarks latency --passages 10000
	$(BIN)/python -m benchmarks ingest

docs: $(VENV)/.dev           ## write docs/cli.md anew from the commands' own help
	$(BIN)/python -m weft.cli.reference > docs/cli.md

clean:
	rm -rf $(VENV) demo build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
