# `make demo` and `make test` are all a new machine needs: Python 3.11+, pip, make and git.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(sort $(wildcard plugins/*))
CONTRIB := $(sort $(wildcard plugins-contrib/*/pyproject.toml))
STANDARD := $(filter-out plugins/inspect plugins/litellm plugins/pytest,$(PLUGINS))
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL_DOCS := $(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(VENV)/docs/constraints.txt
LIBRARIES := core/stats core/kernel core/measuring core/authoring core/chat core/interchange
CORE := $(LIBRARIES) core/testing
MANIFESTS := pyproject.toml constraints.txt $(addsuffix /pyproject.toml,$(CORE)) $(wildcard plugins/*/pyproject.toml) $(CONTRIB)
comma := ,
space := $(subst ,, )
DEMO_DIR ?= runs/demo

# One worker per core, each of which needs up to 1 GB. A worker that is done takes tests from the other's end of the list.
JOBS ?= auto
PARALLEL := --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo quick test test-extras test-ray browser lint types architecture compiled check campaigns studies bench schemas dist version golden pythons docs picture screenshots pyproject reference times clean

# Every target that a person calls has a line here: what follows `##` behind its name.
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/standard ## run the demo; needs no key
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jrh run examples/demo.yaml --run-dir $(DEMO_DIR)

# Before every commit: the files whose tests are cheap, of every distribution, by tests/times.txt.
quick: export OPENBLAS_NUM_THREADS ?= 1
quick: $(VENV)/development lint ## lint and the cheap tests, about a minute: before every commit
	$(BIN)/python -m pytest --quiet --quick -m "not slow and not browser" $(PARALLEL) --hypothesis-profile quick --timeout 60

# What needs no test is checked two at a time. While mypy takes one core for a minute, the other compiles, once for all workers.
test: $(VENV)/development ## lint, types, imports and all tests but the long studies: before every pull request
	$(MAKE) --jobs=2 --output-sync types lint architecture compiled
	$(MAKE) check

# Sentence embeddings, an extra of some hundred megabytes: therefore no part of `make test`. A file stays in one worker, since
# torch takes seconds to import.
test-extras: $(VENV)/extras ## tests of embeddings, classifiers, MLflow and wandb; installs torch
	$(BIN)/python -m pytest $(PARALLEL) --dist loadfile plugins/validators/tests/test_embeddings.py plugins/synthetic-ordinal/tests/test_encoder.py \
		plugins/reward/tests/test_classifier.py plugins/export/tests

# The tests of pages need Chromium, and skip without it. Debian's and Ubuntu's is installed where it is missing.
browser: ## install Debian's Chromium, as root, for the tests of pages
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null; } || \
		{ echo "chromium is not here and cannot be installed: run 'apt-get install chromium' as root" >&2; exit 1; }
	@command -v chromium >/dev/null || { apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium >/dev/null; } || \
		{ echo "chromium could not be installed: apt-get failed, see above" >&2; exit 1; }
	@chromium --version 2>/dev/null

# A Ray cluster of two nodes on this machine, nodes and workers that are killed. Ray is 240 MB, and no part of `make test`.
test-ray: $(VENV)/ray ## runs on a Ray cluster whose workers and nodes are killed
	$(BIN)/python -m pytest tests/test_ray_cluster.py

lint: ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: ## mypy
	$(BIN)/mypy

architecture: ## import-linter
	$(BIN)/lint-imports

# Byte code once: of the tests, and of what the hundreds of programs import that they start.
compiled: ## byte code of the source and the tests
	$(BIN)/python -m compileall -q core plugins plugins-contrib
	$(BIN)/python -m pytest --collect-only --quiet > /dev/null || true # what cannot be collected fails below, with its reason

# One thread of linear algebra for each worker.
check: export OPENBLAS_NUM_THREADS ?= 1
check: ## the tests alone
	$(BIN)/python tests/canary.py $(BIN)/python -m pytest $(PARALLEL)

# After tests came or went, or cost more or less than they did.
times: export OPENBLAS_NUM_THREADS ?= 1
times: $(VENV)/development ## TESTS=plugins/format: write to tests/times.txt what test files cost, by default all
	PYTHONPATH=tests $(BIN)/python -m pytest --quiet -p support.times $(PARALLEL) $(TESTS)

# Random kills, damage and edits: prints a table, exits with 1 if anything failed, and keeps what failed with its seed.
SECONDS ?= 600
SEED ?= 1
campaigns: $(VENV)/development ## SECONDS=600 SEED=1: kills, damage, faults, secrets and imports, one table; then the studies
	cd tests && ../$(BIN)/python -m campaigns $(SECONDS) $(SEED)
	$(MAKE) studies

# Simulation studies whose small relatives are part of `make test`.
studies: $(VENV)/development ## the long simulation studies
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --studies -m study $(PARALLEL)

bench: $(VENV)/development ## benchmarks: before and after a change to a hot path
	$(BIN)/python -m tests.benchmarks $(BENCHMARKS)

schemas: $(VENV)/development ## write schemas/, after options or result types changed
	$(BIN)/jrh schema --output schemas --plugins $(subst $(space),$(comma),$(patsubst plugins/%,jrh-%,$(filter-out plugins/pytest,$(PLUGINS))))

# Build, check, install into an empty environment, and use outside of the repository. For a release: JRH_REPOSITORY=https://...
dist: $(VENV)/release ## build a release, install it into an empty environment and use it
	$(BIN)/python tools/dist.py

# One version for all distributions: make version VERSION=0.2.0
version: ## VERSION=0.2.0: set the version of all distributions
	$(PYTHON) tools/manifests.py --set-version $(VERSION)

# What the demo and the examples print, rewritten where it has changed; tests/test_golden.py compares it.
golden: $(VENV)/development ## write tests/golden, what the demo and the examples print
	cd tests && ../$(BIN)/python -m support.golden

# The quick tests on every supported Python that is installed.
pythons: $(VENV)/development ## the quick tests on every supported Python that is installed
	$(INSTALL) nox
	$(BIN)/nox

# The site, as build/site/index.html; a warning, or a link that leads nowhere, is an error. Its tools need another docutils than twine does.
docs: $(VENV)/docs/installed ## the site, build/site/index.html
	$(VENV)/docs/bin/python tools/pages.py

$(VENV)/docs/installed: constraints.txt constraints-docs.txt $(MANIFESTS) | $(VENV)/python
	$(PYTHON) -m venv $(VENV)/docs
	grep -v '^docutils=' constraints.txt | cat - constraints-docs.txt > $(VENV)/docs/constraints.txt
	$(INSTALL_DOCS) setuptools wheel
	$(INSTALL_DOCS) --no-build-isolation $(foreach path,$(CORE) $(STANDARD),-e ./$(path)) -e ".[docs]"
	@touch $@

# The picture in the README.
picture: demo $(VENV)/development ## the picture of the README
	$(BIN)/python tools/picture.py $(DEMO_DIR)

# The pictures of docs/gallery.md.
screenshots: $(VENV)/development ## the pictures of docs/gallery.md
	$(BIN)/python tools/screenshots.py

# The lists of plugins in pyproject.toml, and what all manifests share.
pyproject: ## write the lists of plugins in pyproject.toml, and what all manifests share
	$(BIN)/python tools/manifests.py

# docs/reference.md, measures.md and errors.md, from docstrings and declarations.
reference: $(VENV)/development ## write docs/reference.md, measures.md and errors.md
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/catalogue.py

# Builds are not isolated: setuptools is fetched once, and not once per distribution.
$(VENV)/python: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("jrh needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) setuptools wheel uv
	@touch $@

$(VENV)/standard: $(VENV)/python $(MANIFESTS)
	$(BIN)/python tools/develop.py $(LIBRARIES) $(STANDARD) .
	@touch $@

$(VENV)/development: $(VENV)/standard
	$(BIN)/python tools/develop.py core/testing plugins/inspect plugins/litellm plugins/pytest $(dir $(CONTRIB)) ".[dev]"
	@touch $@

$(VENV)/extras: $(VENV)/development constraints-extras.txt
	$(BIN)/python tools/develop.py "plugins/export[mlflow,wandb]" "plugins/validators[embeddings]" "plugins/synthetic-ordinal[embeddings]" "plugins/reward[classifier]"
	@touch $@

$(VENV)/ray: $(VENV)/development constraints-extras.txt
	$(INSTALL) --constraint constraints-extras.txt --no-build-isolation -e "./plugins/ray[ray]"
	@touch $@

$(VENV)/release: $(VENV)/standard
	$(INSTALL) --no-build-isolation -e ".[release]"
	@touch $@

clean: ## remove environments, runs and builds
	rm -rf $(VENV) runs build dist
