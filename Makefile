# The two commands are `make run` and `make test`; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEV := $(VENV)/.dev
DOCS := $(VENV)/.docs

.DEFAULT_GOAL := help
.PHONY: help run test check format bench docs clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */  make \1\t/' | expand -t 18

run: $(VENV)/.run  ## set up, and take the tour of attention in the terminal
	$(BIN)/regard demo

test: $(DEV)  ## set up, and run every test
	$(BIN)/pytest

check: $(DEV)  ## format, lint, types, and the floors of the house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)  ## put the code into the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench  ## compare with the peers, in one run: ratios, best and median
	$(BIN)/python -m bench

docs: $(DOCS)  ## build the documentation into docs/_build
	$(BIN)/sphinx-build -W -q docs docs/_build

clean:  ## forget the environment and everything built
	rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.pip: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("regard needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; say make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.run: $(VENV)/.pip pyproject.toml
	$(BIN)/pip install -q -c constraints.txt -e .
	@touch $@

$(DEV): $(VENV)/.run
	$(BIN)/pip install -q -c constraints.txt --group dev
	@touch $@

$(VENV)/.bench: $(DEV)
	$(BIN)/pip install -q -c constraints.txt --group bench
	@touch $@

$(DOCS): $(VENV)/.run
	$(BIN)/pip install -q -c constraints.txt --group docs
	@touch $@
