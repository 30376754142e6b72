# One door for every chore. Each target does all it needs on a machine with Python 3.11+, pip and make.
# Another Python: make PYTHON=python3.12 test

PYTHON = python3
VENV = .venv
BIN = $(VENV)/bin
USER_STAMP = $(VENV)/.installed-user
STAMP = $(VENV)/.installed
DOCS_STAMP = $(VENV)/.installed-docs
# What the demo uses, and what the tests and benchmarks do besides: a new need adds its name here.
USER_EXTRAS = plot,view,fit,logs,symbolic
EXTRAS = $(USER_EXTRAS),xacro,online,gym,cluster,oracle,dev
# How much make fuzz tries.
INPUTS = 20000
MINUTES = 30
# Of this the tests read the MJCF files alone, so nothing that it would need to run (renderers, mazes) is installed;
# an extra cannot say that.
MJCF_FILES = 'dm_control>=1.0.20'
# PyTorch without the packages of CUDA, several GB: a build for the CPU alone, with what it imports. Where none can be had,
# its tests are skipped.
TORCH = 'torch==2.13.0+cpu' filelock fsspec networkx

.PHONY: help install demo test test-full fuzz soak stress mutate lint bench docs clean

## help     this list
help:
	@sed -n 's/^## /make /p' Makefile

## install  create .venv with everything, the peers of the tests included
install: $(STAMP)

## demo     reproduce the five papers: prints paper against ours, writes out/report.html with every table and figure
demo: $(USER_STAMP)
	$(BIN)/appell reproduce all

## test     run the tests that take seconds each; about ten minutes on two cores
test: $(STAMP)
	$(BIN)/python -m pytest

## test-full run the slow tests too
test-full: $(STAMP)
	$(BIN)/python -m pytest -m "slow or not slow"

## mutate   change the arithmetic in 200 places, one at a time, and list the changes that no test notices; about an hour
mutate: $(STAMP)
	$(BIN)/python -m tests.mutation.mutate

## soak     ten minutes of loads, calls, compiles, simulations and exports; fails where memory or mappings grow
soak: $(STAMP)
	$(BIN)/python tests/soak.py

## stress   new processes whose 8 threads make everything at once: make stress MINUTES=20; fails on faults and lost warnings
stress: $(STAMP)
	$(BIN)/python -m tests.stress --minutes $(MINUTES)

## fuzz     try mutated files, arrays and command lines: make fuzz INPUTS=200000 MINUTES=60; table, failures in out/fuzz
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz.run --inputs $(INPUTS) --minutes $(MINUTES)

## lint     ruff, mypy, import-linter and the word check
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.words

## bench    measure against the peers; prints a table, writes out/bench.json
bench: $(STAMP)
	$(BIN)/appell bench

## docs     build the documentation into out/site; opens from disk: out/site/index.html
docs: $(DOCS_STAMP)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env -d out/doctrees docs out/site

## clean    remove what was built; .venv stays
clean:
	rm -rf out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

# Debian's Python may lack ensurepip: then the machine's own pip fills the environment.
$(USER_STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "appell needs Python 3.11 or newer, $(PYTHON) is %d.%d; name another: make PYTHON=python3.12" % sys.version_info[:2])'
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { \
	    $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -qq pip; }
	@echo "installing appell[$(USER_EXTRAS)] into $(VENV); the first time takes a minute or two"
	$(BIN)/python -m pip install -qq --editable '.[$(USER_EXTRAS)]'
	@touch $@

$(STAMP): $(USER_STAMP)
	@echo "installing what the tests compare with; the first time takes some minutes"
	$(BIN)/python -m pip install -qq --editable '.[$(EXTRAS)]'
	$(BIN)/python -m pip install -qq --no-deps $(MJCF_FILES)
	$(BIN)/python -m pip install -qq --no-deps $(TORCH) 2>/dev/null || echo "no CPU build of PyTorch: its tests are skipped"
	@touch $@

$(DOCS_STAMP): $(USER_STAMP)
	$(BIN)/python -m pip install -qq --editable '.[docs]'
	@touch $@
