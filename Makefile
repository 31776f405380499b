# The recipes of vscodelm; CI runs the same ones. `make` alone lists them.

# The first Python that is new enough and can make environments. Each is tried, not only looked up:
# a version manager's shim can be on PATH with nothing behind it.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c $(NEW_ENOUGH) 2>/dev/null && echo $$python && break; done)
NEW_ENOUGH := 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'

VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m
PIP := $(RUN) pip --disable-pip-version-check -qq
# Stamps: an environment is as new as the file that says what is in it. `make chat` needs only the
# runtime; the tools are installed by the first recipe that uses them.
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev

CODE := bridge agents actors vscodelm tests benchmarks docs tooling
# The cheap ones first.
CHECKS := check-format check-lint check-words check-project check-imports check-types check-docs \
	check-coverage
WORKERS ?= 2
FAST := -m "not slow and not agents and not faults and not long"
COVERED := --cov --cov-report=
# Not empty: the tests were run with $(COVERED) already, and are not run again for it.
MEASURED ?=
NODE_RUN = $(CURDIR)/$(BIN)/python $(CURDIR)/tooling/node.py
NPM = cd extension && $(NODE_RUN) npm
# As new as the lock file that says which packages the extension is built with.
PACKAGES := extension/node_modules/.package-lock.json
# Not empty: without what tests/README.md says.
SHORT ?=
# What the short form of `make test-agents` installs.
SHORT_AGENTS := npm python-sdk fast-agent
# Not empty: a person has signed off the release, and its commit is tagged.
SIGNED ?=
# Options for the command that a recipe runs, as in: make test ARGS="-k history"
ARGS ?=

# Pyright would ask the network for a newer release at every run.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help chat test test-slow test-faults test-agents test-http bench check $(CHECKS) format docs golden clean \
	test-extension test-vscode test-agent-host check-extension vsix screenshots pins test-wheel \
	release

help:
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

##@ Use

chat: $(RUNTIME) ## Talk to Eliza in the terminal
	@$(BIN)/vscodelm chat $(ARGS)

##@ Test

test: $(DEV) ## Run the fast tests
	$(RUN) pytest $(FAST) -n $(WORKERS) $(ARGS)

test-faults: $(DEV) ## Plant each known fault and see a test fail; run what takes long
	$(RUN) pytest -m "faults or long" -n $(WORKERS) $(ARGS)

test-slow: $(DEV) ## Run the slow tests: real processes, many examples
	$(RUN) pytest -m slow -n $(WORKERS) $(ARGS)

test-agents: $(DEV) ## Install real ACP agents into .agents (4 GB), and talk to them
	$(RUN) tooling.real_agents $(if $(SHORT),$(SHORT_AGENTS))
	$(RUN) pytest -m "agents$(if $(SHORT), and not thorough)" -n $(WORKERS) --dist loadgroup $(ARGS)

test-http: $(DEV) ## Install clients of others into .agents/http, and let them talk to `serve-http`
	$(RUN) tooling.http_clients
	VSCODELM_CLIENTS=$(CURDIR)/.agents/http $(RUN) pytest tests/clients -n $(WORKERS) $(ARGS)

bench: $(DEV) ## Measure the numbers we hold
	$(RUN) benchmarks $(ARGS)

##@ The VS Code extension

test-extension: $(PACKAGES) ## Run the extension's fast tests
	$(NPM) test -- $(ARGS)

check-extension: $(PACKAGES) ## Do the extension's types and rules hold? (tsc, biome)
	$(NPM) run check

test-vscode: vsix ## Try the extension in a real VS Code, in a real browser, with a real agent
	$(RUN) tooling.real_agents npm
	$(NPM) run test:vscode -- $(ARGS)

test-agent-host: vsix ## Try the extension in a real VS Code whose agent runs in the Agent Host
	$(NPM) run test:vscode -- --agent-host $(ARGS)

vsix: $(PACKAGES) ## Package the extension, with vscodelm inside
	rm -rf extension/dist
	$(RUN) pip --disable-pip-version-check -qq wheel --no-deps --wheel-dir extension/dist .
	$(RUN) tooling.pins seal extension/dist
	$(NPM) run build
	cp LICENSE CHANGELOG.md extension/
	$(RUN) tooling.release readme
	flags=$$($(RUN) tooling.release flags) && $(NPM) run package -- $$flags
	@ls -l extension/dist/*.vsix

##@ Release

test-wheel: $(DEV) ## Run the fast tests against the wheel, without the sources
	$(RUN) tooling.wheel $(ARGS)

release: $(DEV) ## Build a release, and list what a person signs off; SIGNED=yes tags it
	$(RUN) tooling.release check
	$(MAKE) vsix
	$(RUN) tooling.release collect
	$(RUN) tooling.release $(if $(SIGNED),tag,sign-off)

##@ Check

check: $(CHECKS) ## Run everything below

check-format: $(DEV) ## Is the code formatted? (ruff)
	$(BIN)/ruff format --check $(CODE)

check-lint: $(DEV) ## Are the rules kept? (ruff)
	$(BIN)/ruff check $(CODE)

check-words: $(DEV) ## Is it spelled right? (codespell)
	$(BIN)/codespell

check-project: $(DEV) ## Are pyproject.toml and the news fragments well formed?
	$(BIN)/validate-pyproject pyproject.toml
	@news=$$($(BIN)/towncrier build --draft 2>&1) || { echo "$$news" >&2; exit 1; }

check-imports: $(DEV) ## Do imports go down, and are pure modules pure? (import-linter)
	$(BIN)/lint-imports --no-logo

check-types: $(DEV) ## Do the types hold? (pyright, strict)
	$(BIN)/pyright

check-docs: $(DEV) ## Are the generated pages those of the code?
	$(BIN)/python docs/generate.py --check

# Pure modules have no excuse; of the rest the report only tells.
check-coverage: $(DEV) ## Do the fast tests cover the pure modules completely?
	$(if $(MEASURED),,$(RUN) pytest $(FAST) -n $(WORKERS) $(COVERED) $(ARGS))
	$(RUN) coverage report --include="$$($(RUN) tooling.pure)" --fail-under=100
	$(RUN) coverage report --omit="$$($(RUN) tooling.pure)"

##@ Write

format: $(DEV) ## Format the code, and repair what can be repaired
	$(BIN)/ruff check --fix --exit-zero --quiet $(CODE)
	$(BIN)/ruff format $(CODE)

docs: $(DEV) ## Generate the pages that come from the code
	$(BIN)/python docs/generate.py

screenshots: $(DEV) ## Take over the pictures that `make test-vscode` has taken; review the diff
	$(RUN) tooling.screenshots

pins: $(DEV) ## Choose anew which packages the extension installs; review the diff
	$(RUN) tooling.pins

golden: $(DEV) ## Record the golden transcripts anew; review the diff
	$(RUN) pytest tests/test_transcripts.py tests/recordings tests/agents/acp/test_render_golden.py \
		tests/agents/acp/test_transcripts.py \
		tests/vscodelm/doctor/test_view.py tests/vscodelm/registry/test_view.py --update-golden $(ARGS)

##@ Clean

clean: ## Remove the environment, the real agents, the caches and the reports
	rm -rf $(VENV) .agents .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* \
		build dist htmlcov extension/dist extension/node_modules extension/e2e/node_modules \
		extension/e2e/editions/*/node_modules extension/e2e/output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment.

$(BIN)/python:
	@$(or $(PYTHON),false) -c $(NEW_ENOUGH) 2>/dev/null || { \
		echo 'vscodelm needs Python 3.11 or newer, with venv.' >&2; \
		echo '$(or $(PYTHON),None was found on PATH)$(if $(PYTHON), is not that)' \
			'- name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Order-only: that the interpreter is there matters, not how old it is.
$(RUNTIME): pyproject.toml | $(BIN)/python
	@echo "Installing vscodelm into $(VENV) ..."
	@$(PIP) install --editable .
	@touch $@

# Not `npm ci`: it wants programs for every other platform in the lock file, too, and a mirror may have
# none. Install scripts aren't run: nothing here needs them.
$(PACKAGES): extension/package-lock.json | $(DEV)
	@echo "Installing the extension's tools ..."
	@$(NPM) install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@echo "Installing vscodelm and its tools into $(VENV) ..."
	@$(PIP) install --editable '.[dev]'
	@touch $(RUNTIME) $@
