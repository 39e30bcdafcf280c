# make setup | demo | serve | test | firefox | lint | bench | soak | planted | clean.  Each sets up what it needs; a second run downloads nothing.
PYTHON ?= python3
BIN := .venv/bin

# Stamps say that a step was done with these very lock and project files.
VENV := .make/venv-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)

.PHONY: setup demo serve test firefox lint bench soak planted clean

setup: $(VENV)
	@$(BIN)/webq8 setup --install-chromium

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit("webq8 needs Python 3.11 or newer: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@rm -rf .make && mkdir .make && touch $@

demo: setup
	$(BIN)/python web/examples/demo.py

serve: setup
	$(BIN)/webq8 serve

lint: $(VENV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: setup lint
	$(BIN)/python tests/machine.py lavapipe
	$(BIN)/python tests/networks.py
	$(BIN)/python tests/wakewords.py
	$(BIN)/pytest

firefox: setup
	$(BIN)/python tests/machine.py lavapipe firefox
	$(BIN)/python tests/networks.py
	$(BIN)/pytest tests/firefox

soak: setup
	$(BIN)/python tests/soak.py

planted: setup
	$(BIN)/python tests/planted.py

bench: setup
	$(BIN)/python tests/bench/bench.py

clean:
	rm -rf .venv .make dist build .mypy_cache .pytest_cache .ruff_cache
