# Every target sets up what it needs: a fresh clone needs Python 3.11+, make and a package index.
PYTHON ?= python3
DEVICE ?= cpu
PROGRAMS ?= 10000
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo demo-plan test test-all lint bench bench-models mutants attack fuzz measure docs site pictures wheel clean

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)  ## a minute, on the CPU: observe, rank, review, prove, measure and undo on a small bundled project
	$(BIN)/python scripts/demo.py

demo-plan: $(STAMP)  ## the whole plan on a bigger bundled project, minutes; DEVICE=cuda for a GPU
	DEVICE=$(DEVICE) $(BIN)/python scripts/demo_plan.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

test: lint  ## all that a usual change needs; proofs whose bytes have not changed are known, and a tenth is made again
	$(PYTEST)

test-all: lint  ## everything: every proof, all of torch's own code, a tenth of the faults
	$(PYTEST) --everything
	$(BIN)/python scripts/mutants.py --tenth "$$(git rev-parse HEAD)"
	$(BIN)/python scripts/which_tests.py --passed

bench: $(STAMP)  ## fullgraph against ruff, ast-grep, torchfix and LibCST's runner on the installed torch
	$(BIN)/python scripts/bench.py
	$(BIN)/python scripts/bench_editor.py

mutants: $(STAMP)  ## faults put in one at a time: the tests next to the code must notice
	$(BIN)/python scripts/mutants.py

attack: $(STAMP)  ## wrong rewrites, no-ops and right rewrites: no verdict may be undeserved
	$(BIN)/python scripts/attack.py

fuzz: $(STAMP)  ## made-up programs, rewritten, run and compared; goes on where it was stopped; PROGRAMS=500 for fewer
	$(BIN)/python scripts/fuzz.py $(PROGRAMS)

bench-models: $(STAMP)  ## seven models of Hugging Face's before and after fullgraph, in environments of their own
	$(BIN)/python scripts/bench_models.py

measure: $(STAMP)  ## prove the fixtures and examine the patterns whose bytes have changed, and store what came of it
	$(BIN)/python scripts/measure.py

docs: $(STAMP)  ## the page of each codemod and each command, from the code
	$(BIN)/python scripts/docs.py

site: docs  ## docs/ as a site in build/site; a link that leads nowhere is an error
	$(BIN)/python scripts/site_build.py

pictures: $(STAMP)  ## the pictures of the README, from real runs; needs Chromium
	$(BIN)/python scripts/pictures.py

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) .bench dist build
