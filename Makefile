# The README names two commands, `make demo` and `make test`. `make help` lists all commands.
# Packages are installed in .venv, and installed again only when pyproject.toml or constraints.txt changes.

PYTHON ?= python3
WORKERS ?= 2
JOBS ?= 2
HALF := $(shell expr \( $(WORKERS) + 1 \) / 2)
MORE := $(shell expr $(WORKERS) + 1)
ARGS ?=
CONFIG ?= selfplay_duel

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
# Most installed modules are never imported, so Python compiles a module when it is first imported.
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# Each process begins with neighbouring tests, which need the same kernels.
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist worksteal --durations=30 --durations-min=5
# Only the files with tests marked 'modes' are collected: the other files would import torch and many other modules.
MODES := -m 'modes and not long' $(shell grep -l 'mark\.modes' tests/test_*.py)
# Kernels that only tests use are not compiled here: their tests run compiled in `make long`.
INTERPRETED := -m '(modes or interpreted) and not long' $(shell grep -lE 'mark\.(modes|interpreted)' tests/test_*.py)
# These tests play single games, so few kernels are compiled.
BOUNDS_TESTS := tests/test_modes.py tests/test_reference.py tests/test_rules_in_play.py tests/test_star_games.py tests/test_safe_positions.py
PLAIN_TESTS := tests/test_modes.py tests/test_vectors.py tests/test_thread_pool.py tests/test_reference.py tests/test_batch.py
MADE := $(VENV)/.made
CORE := $(VENV)/.installed-core
DEV := $(VENV)/.installed-dev
QUICK := $(VENV)/.installed-quick

# Each run of the tests chooses its own mode. Without .pyc files, imports of a process take twice as long.
unexport NUMBA_DISABLE_JIT NUMBA_BOUNDSCHECK RISK_ENV_PLAIN_NUMBA PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo train test browser lint lint-and-kernels lint-while-compiling nojit-while-compiling kernels compiled-while-compiling modes-compiled bounds-kernels modes-nojit bounds-games modes-bounds modes-plain long quick coverage wheel-check lowest newest clients hub golden docs site bench bench-check clean distclean pythons release
.NOTPARALLEL:

help: ## list all commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

$(MADE):
	@echo "== Making the virtual environment $(VENV) with $(PYTHON)"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("risk_env needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.11 ..." % sys.version_info[:2])'
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(CORE): pyproject.toml constraints.txt | $(MADE)
	@echo "== Installing risk_env and the extras 'tournament', 'train' into $(VENV) (a few minutes: torch is large)"
	@$(INSTALL) -e '.[tournament,train]'
	@touch $@

$(QUICK): pyproject.toml constraints.txt | $(MADE)
	@echo "== Installing risk_env and pytest into $(VENV)"
	@$(INSTALL) -e '.[quick]'
	@touch $@

# While pip works on one core, `warmup` compiles kernels on another core. `warmup` needs only the few dependencies of
# `risk_env`, and is stopped when pip ends. The target `kernels` compiles the remaining kernels.
$(DEV): pyproject.toml constraints.txt | $(MADE)
	@echo "== Installing risk_env and the extras 'dev', 'docs' and 'all' into $(VENV) (a few minutes: torch is large)"
	@$(INSTALL) -e .
	@$(PY) -m risk_env warmup --bots --workers 1 >/dev/null 2>&1 & kernels=$$!; \
	$(INSTALL) -e '.[dev,docs,all]'; status=$$?; kill $$kernels 2>/dev/null; wait $$kernels; exit $$status
	@touch $@ $(CORE) $(QUICK)

demo: $(CORE) ## install the packages, watch a game, train an agent for two minutes, play tournaments of two and of six players
	@echo "== Compiling the rules and the bots (once)"
	@$(PY) -m risk_env warmup --bots --workers $(JOBS)
	@echo "== Playing"
	@$(PY) -m risk_env demo $(ARGS)

train: $(CORE) ## train the agent for two players in full (twenty minutes on one core); CONFIG=duel for MaskablePPO
	@$(PY) -m risk_env train --config $(CONFIG) $(ARGS)

test: export OMP_NUM_THREADS = 1
test: $(DEV) lint-and-kernels compiled-while-compiling bounds-games ## install all packages, check lint and types, and run the tests in three modes
	@echo "== All checks passed"

browser:
	@.ci/browser
	@.ci/bubblewrap

# While types are checked on one core, kernels are compiled on the other. While the last kernels are compiled on one
# core, tests with the JIT off run on the other. The installation of the browser, which is mostly waiting time, runs at
# the same time.
lint-and-kernels: $(DEV)
	@mkdir -p build
	@$(MAKE) --no-print-directory browser >build/browser.log 2>&1 & browser=$$!; \
	$(MAKE) --no-print-directory lint-while-compiling nojit-while-compiling; status=$$?; \
	wait $$browser; cat build/browser.log; exit $$status

lint-while-compiling: $(DEV)
	@$(PY) -m risk_env warmup --bots --workers 1 >/dev/null 2>&1 & kernels=$$!; \
	$(MAKE) --no-print-directory lint; status=$$?; kill $$kernels 2>/dev/null; wait $$kernels; exit $$status

nojit-while-compiling: $(DEV)
	@mkdir -p build
	@$(MAKE) --no-print-directory modes-nojit WORKERS=$(HALF) >build/nojit.log 2>&1 & others=$$!; \
	$(MAKE) --no-print-directory kernels; status=$$?; \
	wait $$others || status=$$?; cat build/nojit.log; exit $$status

kernels: $(DEV)
	@echo "== Compiling the rules and the bots"
	@$(PY) -m risk_env warmup --bots --workers $(JOBS)

# Types are checked on another core at the same time.
lint: $(DEV) ## check lint, format, types and import contracts
	@echo "== Lint, types, import contracts"
	@$(BIN)/mypy & types=$$!; \
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports; \
	status=$$?; wait $$types && exit $$status

# The tests leave two cores idle for a fifth of the time. Meanwhile, the kernels with bounds checks are compiled at low
# priority.
compiled-while-compiling: $(DEV)
	@nice -n 19 $(MAKE) --no-print-directory bounds-kernels >/dev/null 2>&1 & kernels=$$!; \
	$(MAKE) --no-print-directory modes-compiled; status=$$?; wait $$kernels; exit $$status

# Some tests wait for processes and browsers, so one additional worker keeps the cores busy.
modes-compiled: $(DEV)
	@echo "== Tests, compiled"
	@$(PYTEST) -n $(MORE) -m 'not long and not interpreted' $(ARGS)

modes-nojit: $(DEV)
	@echo "== Tests marked 'modes' or 'interpreted', JIT off"
	@NUMBA_DISABLE_JIT=1 $(PYTEST) $(INTERPRETED) $(ARGS)

# With less optimisation, the same checks compile faster.
bounds-kernels bounds-games modes-bounds: export NUMBA_BOUNDSCHECK = 1
bounds-kernels bounds-games modes-bounds: export NUMBA_OPT = 1
bounds-kernels: $(DEV)
	@$(PY) -c 'from risk_env.compiling import compile_part; compile_part("games")'

bounds-games: $(DEV) bounds-kernels
	@echo "== Tests of games marked 'modes', compiled with bounds checks"
	@$(PYTEST) -m 'modes and not long' $(BOUNDS_TESTS) $(ARGS)

modes-bounds: $(DEV)
	@echo "== Tests marked 'modes', compiled with bounds checks"
	@$(PY) -m risk_env warmup --workers $(JOBS)
	@$(PYTEST) $(MODES) $(ARGS)

# Kernels compile slowly without the pipeline of risk_env.compiler, so they are not optimised, and each process runs
# whole test files.
modes-plain: $(DEV)
	@echo "== Some of the tests marked 'modes', compiled by Numba's public interface alone"
	@RISK_ENV_PLAIN_NUMBA=1 NUMBA_OPT=0 $(PY) -W ignore -m pytest -n $(WORKERS) --dist loadfile -m modes $(PLAIN_TESTS) $(ARGS)

long: $(DEV) lowest newest modes-plain modes-bounds ## run further checks that `make test` leaves out: long tests, plain Numba, bounds checks of batches and bots, lowest and newest dependencies
	@$(PYTEST) -m 'long or interpreted' $(ARGS)

# With the JIT off, nothing is compiled.
quick: $(QUICK) ## install the core and pytest, and test the rules and the environments (two minutes from a fresh clone)
	@NUMBA_DISABLE_JIT=1 $(PYTEST) $(MODES) $(ARGS)

pythons: ## run the quick tests on each Python version that pyproject.toml names; ARGS=3.13 for one
	@$(PYTHON) -m tests.pythons $(ARGS)

coverage: $(DEV) ## measure the coverage of lines and branches by the tests marked 'modes', JIT off
	@$(INSTALL) -e '.[coverage]'
	@NUMBA_DISABLE_JIT=1 $(PYTEST) $(MODES) --cov $(ARGS)

wheel-check: $(DEV) ## build sdist and wheel, and use the wheel in an empty environment outside the clone
	@$(PY) -m tests.wheel_check $(ARGS)

release: $(DEV) ## check version, changelog and citation; build and check sdist and wheel; write them and the release notes to dist/
	@$(PY) -m tests.wheel_check --release

lowest: $(DEV) ## install the core with its lowest dependencies into an empty environment, and use it
	@$(PY) -m tests.dependency_check lowest

newest: $(DEV) ## install the core with its newest dependencies, if they differ from constraints.txt, and use it
	@$(PY) -m tests.dependency_check newest

clients: $(CORE) ## run the scripts of tests/clients that need other libraries, each in a separate environment; ARGS=trl for one
	@$(PY) -m tests.clients $(ARGS)

hub: $(CORE) ## write the folder for a hub into build/hubs; ARGS=kaggle, openenv or verifiers
	@$(PY) examples/hubs/bundle.py $(ARGS)

golden: $(CORE) ## write tests/golden again (then review the difference)
	@$(PY) -m tests.golden $(ARGS)

docs: $(CORE) ## write the generated pages of docs/ again, from the code and the recorded results
	@PYTHONPATH=. $(PY) docs/generate.py

site: $(DEV) ## build the documentation site into build/site
	@$(PY) docs/site.py

bench: $(CORE) ## measure speed on this machine
	@$(PY) -m risk_env bench $(ARGS)

bench-check: $(CORE) ## count instructions of fixed pieces of work, and compare with the last record (needs valgrind)
	@$(PY) -m benchmarks.instructions --check $(ARGS)

clean: ## remove caches and build products
	@rm -rf build dist .cache *.egg-info htmlcov .coverage .coverage.* .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .benchmarks
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## remove caches, build products and .venv
	@rm -rf $(VENV)
