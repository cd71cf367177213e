# Set-up, then thin calls of scons. Everything slow is done once; `make` without a target says what there is.
BOARD ?= nucleo-n657
MODEL ?= miniresnet
PROFILE ?= extflash
PROBE ?= virtual
JOBS ?= $(shell nproc)
# For .venv: 3.11 or later.
PYTHON ?= python3

SCONS = .venv/bin/scons -Q -j$(JOBS) board=$(BOARD) model=$(MODEL) profile=$(PROFILE)

# Whether there is nothing to do is known before anything is started (docs/build-folder.md); what set-up reads counts as well.
ASKED = .venv/bin/python -I -S site_scons/n6build/engine/ask.py

.PHONY: help wheel docs pictures lock setup setup-tests try-setup build flash matrix quick test test-all prove fuzz lint bench doctor clean

help:
	@echo "make flash BOARD=$(BOARD) MODEL=$(MODEL)   set-up, build, program and boot (PROBE=$(PROBE))"
	@echo "make build | matrix | quick | test | test-all | prove | fuzz | lint | bench | docs | pictures | wheel | lock | doctor | setup | clean"

setup:
	@$(PYTHON) tools/setup.py

# The report page is looked at in a real browser, the same C is not compiled again for every copy of the project, and caches are
# talked to.
setup-tests:
	@$(PYTHON) tools/setup.py --tests

build:
	@$(ASKED) $(SCONS) build 2>/dev/null || ($(MAKE) --no-print-directory setup && $(SCONS) build)

flash: setup
	@$(SCONS) probe=$(PROBE) flash run

# CACHE=folder shares what is built with other checkouts and machines.
matrix: setup
	@.venv/bin/scons -Q -j$(JOBS) $(if $(CACHE),cache=$(CACHE)) matrix

# After every edit: lint, and the tests that what differs from the last commit can reach, as far as half a minute goes.
quick:
	@test -x .venv/bin/pytest || $(MAKE) --no-print-directory setup-tests
	@.venv/bin/python tools/quick.py --jobs $(JOBS) $(if $(SINCE),--since $(SINCE))

test: setup-tests lint
	@.venv/bin/pytest -n $(JOBS) --dist worksteal tests

# With the tests that are left out above: more of the same kind.
test-all: setup-tests lint
	@.venv/bin/pytest -n $(JOBS) --dist worksteal -m "slow or not slow" tests

# Random edits, each built incrementally and from nothing: docs/prove.md. SEED, EDITS, MINUTES.
prove: setup
	@.venv/bin/n6build prove $(if $(SEED),--seed $(SEED)) $(if $(EDITS),--edits $(EDITS)) $(if $(MINUTES),--minutes $(MINUTES))

# Damaged input for every parser. TARGET=part of a name, SECONDS or INPUTS for each, SEEDS=folder, KEEP=folder, GUIDED=1 for coverage;
# docs/security.md has what came of it.
fuzz: setup-tests
	@.venv/bin/python tools/fuzz_parsers.py $(TARGET) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(INPUTS),--inputs $(INPUTS)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(KEEP),--keep $(KEEP)) $(if $(GUIDED),--guided)

# Tests misspell names on purpose: codespell does not read them.
lint: setup
	@.venv/bin/ruff check SConstruct site_scons tests tools models
	@.venv/bin/ruff format --check --quiet SConstruct site_scons tests tools models || (echo "hint: .venv/bin/ruff format SConstruct site_scons tests tools models" && false)
	@.venv/bin/mypy
	@.venv/bin/mypy tools SConstruct
	@.venv/bin/python tools/dead_code.py
	@.venv/bin/codespell *.md Makefile SConstruct boards docs examples firmware models site_scons tools
	@said=$$(PYTHONPATH=site_scons .venv/bin/lint-imports --no-cache --no-logo 2>&1) || (echo "$$said" && false)

# Everything in one file, dist/n6build-*.whl, to be installed anywhere with pip.
wheel: setup
	@.venv/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

# The documentation as a site, build/docs/index.html. A link that leads nowhere is an error.
docs: setup
	@.venv/bin/mkdocs build --quiet --strict
	@echo "build/docs/index.html"

# The pictures of README and documentation, docs/pictures, from a real build; needs a browser. AGAIN=1 takes the last build.
pictures: setup-tests
	@.venv/bin/python tools/reference_docs/pictures.py $(if $(AGAIN),--again)

# requirements/*.lock, after a change of pyproject.toml; UPGRADE=1 takes the newest versions within its ranges.
lock:
	@$(PYTHON) tools/lock.py $(if $(UPGRADE),--upgrade)

# What the README tells a newcomer, in a fresh system of this release: needs root, debootstrap and the network.
try-setup:
	@$(PYTHON) tools/try_setup.py $(RELEASE)

bench: setup
	@.venv/bin/python tools/bench.py

doctor: setup
	@.venv/bin/scons -Q doctor

clean:
	rm -rf build
