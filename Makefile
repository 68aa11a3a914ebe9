# Two commands on a fresh machine: `make demo` and `make test`. Everything is installed into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

COLPALI := .venv-colpali
ADAPTERS := .venv-adapters
AUDIT := .venv-audit
KNOWN := https://pypi.org/pypi/pip/24.0/json

# Tests start hundreds of processes: each would compile all that it imports where a machine forbids to keep that.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo locked test test-deep test-citus test-colpali test-adapters coverage lint audit fix bench client docs screenshots axe clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Weftwork needs Python 3.11 or later: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

# Modules are compiled when they are first imported: most that are installed never are.
$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	@$(PIP) install --no-compile --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing what the tests and checks need …"
	@sh scripts/browser.sh & $(PIP) install --no-compile --editable '.[dev]' && touch $(VENV)/.runtime $@; done=$$?; wait; exit $$done

locked: pyproject.toml uv.lock  ## set up .venv for tests with exactly the versions of uv.lock; needs uv
	uv sync --locked --group dev --python $(PYTHON)
	@touch $(VENV)/.runtime $(VENV)/.dev

demo: $(VENV)/.runtime       ## load the sample workspace and print an assembled context
	@$(BIN)/weftwork demo

test: $(VENV)/.dev           ## run all tests
	@sh scripts/browser.sh
	$(BIN)/python -m pytest -n 3 --dist worksteal

test-deep: $(VENV)/.dev      ## run all tests, on three to ten times as many examples, kills, processes and damaged files, and on longer texts
	WEFTWORK_DEEP=1 $(BIN)/python -m pytest -n 3 --dist worksteal

test-citus: $(VENV)/.dev     ## run the tests of stores on the Citus cluster whose coordinator WEFTWORK_TEST_CITUS_URL names
	@test -n "$$WEFTWORK_TEST_CITUS_URL" || { echo "set WEFTWORK_TEST_CITUS_URL=postgresql://postgres@coordinator/database"; exit 1; }
	$(BIN)/python -m pytest -q tests/store/postgres/test_citus.py

# A torchvision that was built for another torch (CUDA's, beside a CPU's) breaks every import of transformers; without
# one, transformers 5.3 still reads pictures by Pillow alone (5.5 does not). What is not compiled is not waited for.
$(COLPALI)/.ready: pyproject.toml
	@echo "setting up $(COLPALI) …"
	@test -x $(COLPALI)/bin/python || $(PYTHON) -m venv $(COLPALI)
	@$(COLPALI)/bin/python -m pip --disable-pip-version-check --quiet install --no-compile \
		--editable '.[colpali,documents]' 'transformers==5.3.*' pytest
	@$(COLPALI)/bin/python -c 'import torchvision' 2>/dev/null || $(COLPALI)/bin/python -m pip --quiet uninstall --yes torchvision
	@touch $@

test-colpali: $(COLPALI)/.ready  ## run the tests of vision models, in a virtual environment of their own
	$(COLPALI)/bin/python -m pytest --noconftest -p no:cacheprovider tests/embed/test_colpali.py

# The frameworks that adapters plug into take minutes to install.
$(ADAPTERS)/.ready: pyproject.toml
	@echo "setting up $(ADAPTERS) …"
	@test -x $(ADAPTERS)/bin/python || $(PYTHON) -m venv $(ADAPTERS)
	@$(ADAPTERS)/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --editable '.[adapters]' pytest
	@touch $@

test-adapters: $(ADAPTERS)/.ready  ## run the tests of adapters with the real frameworks, in a virtual environment of their own
	$(ADAPTERS)/bin/python -m pytest --noconftest -p no:cacheprovider -W ignore -o asyncio_mode=auto \
		-o "addopts=--import-mode=importlib" tests/adapters

coverage: $(VENV)/.dev       ## list the modules with the lines and branches that no test reaches, the least covered first
	$(BIN)/python -m pytest -n 3 --dist worksteal --cov --cov-report=term-missing

lint: $(VENV)/.dev           ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(AUDIT)/.ready:
	@echo "setting up $(AUDIT) …"
	@test -x $(AUDIT)/bin/python || $(PYTHON) -m venv $(AUDIT)
	@$(AUDIT)/bin/python -m pip --disable-pip-version-check --quiet install --no-compile pip-audit uv
	@touch $@

# Strict: a package that the database does not know, or cannot be asked for, would count as one without weaknesses.
audit: $(AUDIT)/.ready       ## look for known weaknesses in the packages of uv.lock; asks pypi.org
	@$(AUDIT)/bin/python -c "from urllib.request import urlopen; urlopen('$(KNOWN)', timeout=30)" 2>/dev/null || { echo "nothing was checked: $(KNOWN), where the known weaknesses are, cannot be reached (a mirror of packages alone does not have them): run  make audit  where it can"; exit 1; }
	@$(AUDIT)/bin/uv export --locked --quiet --all-extras --all-groups --no-emit-project --output-file $(AUDIT)/locked.txt
	$(AUDIT)/bin/pip-audit --strict --disable-pip --progress-spinner off --requirement $(AUDIT)/locked.txt

fix: $(VENV)/.dev            ## repair what can be repaired by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev          ## measure latency and ingestion beside their floors
	$(BIN)/python -m benchmarks latency --passages 10000
	$(BIN)/python -m benchmarks ingest

client: $(VENV)/.dev         ## write the generated files of the TypeScript client anew
	$(BIN)/python scripts/typescript_client.py

$(VENV)/.docs: $(VENV)/.dev
	@$(PIP) install --no-compile --editable '.[docs]' && touch $@

docs: $(VENV)/.docs          ## write the reference anew from the code, build the site into site/, and check its links
	$(BIN)/python -m weftwork.cli.reference > docs/cli.md
	$(BIN)/python scripts/reference.py
	$(BIN)/zensical build --clean
	@cp llms.txt site/llms.txt
	$(BIN)/python scripts/links.py

screenshots: $(VENV)/.dev    ## take pictures of the page, twelve states at three widths, into screenshots/
	@sh scripts/browser.sh
	$(BIN)/python scripts/screenshots.py

axe: $(VENV)/.dev            ## fetch axe-core, with which the tests of the page check its accessibility where it is there
	@cd $(VENV) && npm pack --silent axe-core@4 && tar -xzf axe-core-4*.tgz package/axe.min.js && mv package/axe.min.js . && rm -r package axe-core-4*.tgz

clean:
	rm -rf $(VENV) $(COLPALI) $(ADAPTERS) $(AUDIT) demo build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache
