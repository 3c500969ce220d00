# Everything runs in .venv, which the first target makes; stamp files there make a second run quick.
# Needs Python 3.11 or later: `make PYTHON=python3.13 test` names another than python3.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# $(1): the extras to install. One line, so that each stamp below is one install of the package in place.
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(1)]' && touch $@

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-kinds fuzz outside scripts lint bench clean snapshots docs serve-docs test-site test-package test-lowest test-docs versions notebooks

help:
	@echo "make demo   k-means on handwritten digits, plain and staged; then a network that learns them"
	@echo "make test   style, types and all tests"
	@echo "make test-all  the same with every combination of the widest tests of the library"
	@echo "make test-kinds  the programs of the contract and NumPy's functions with jax.Arrays and with other floats"
	@echo "make fuzz   random programs: N of them (300), from seed FROM on, of a KIND or all, made small where they differ"
	@echo "make outside  NumPy's own tests, each call staged and on lazy tensors beside the plain one, and what became of them"
	@echo "make scripts  the whole programs of examples/scripts, and the table of what became of them"
	@echo "make bench  the measurements of docs/benchmarks.md"
	@echo "make lint   style and types"
	@echo "make docs   the documentation site, built strictly, in build/site; make serve-docs shows it while you write"
	@echo "make test-site  every page of the site and its search in headless Chromium, if there is one; pictures in build/screenshots"
	@echo "make test-docs  every snippet of the README and the docs, the long ones too"
	@echo "make test-package  the wheel and the source distribution, built, checked and tried outside the checkout"
	@echo "make test-lowest  tests of each part with the lowest versions of all dependencies"
	@echo "make notebooks  the tutorials and some examples as notebooks, run from the first cell to the last, in build/notebooks"
	@echo "make versions  a smoke set under each combination of Python, JAX and NumPy that can be installed: docs/versions.md"

demo: $(VENV)/.installed-examples
	$(BIN)/python examples/kmeans_digits.py
	$(BIN)/python examples/train_digits.py

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-all: lint
	PYSTAGE_ALL_TESTS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test-kinds: $(VENV)/.installed-test
	PYSTAGE_ALL_TESTS=1 $(BIN)/python -m pytest -n 2 tests/kinds

N ?= 300
FROM ?= 1000
fuzz: $(VENV)/.installed-test
	PYTHONPATH=tests $(BIN)/python -m programs.fuzz $(N) $(FROM) $(KIND)

outside: $(VENV)/.installed-test
	PYTHONPATH=tests $(BIN)/python -m outside
	PYTHONPATH=tests $(BIN)/python -m outside --lazy

scripts: $(VENV)/.installed-test
	PYTHONPATH=tests $(BIN)/python -m programs.scripts -w

lint: $(VENV)/.installed-test
	$(BIN)/ruff check --no-cache
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

test-site: docs $(VENV)/.installed-site
	$(BIN)/python docs/test_site.py

serve-docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

test-docs: $(VENV)/.installed-test
	PYSTAGE_ALL_TESTS=1 $(BIN)/python -m pytest tests/test_docs.py

test-package: $(VENV)/.installed-package
	.ci/test-package

test-lowest: $(VENV)/.installed-package
	.ci/test-package lowest

versions:
	.ci/versions

notebooks: $(VENV)/.installed-notebooks
	$(BIN)/python docs/notebooks.py

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV)

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pystage needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed-%: $(VENV)/.made pyproject.toml
	$(call install,$*)

TO ?= snapshots
snapshots: $(VENV)/.installed-test
	PYTHONPATH=tests $(BIN)/python -m snapshots write $(TO)
