# Two commands do everything: `make run` and `make test`. Both set up what they need.

VENV := .venv
PYTHON := $(VENV)/bin/python
PYTHON_BASE ?= python3.11
OPEN_CLIP := $(CURDIR)/.open_clip

.PHONY: run test faults lint screenshots requirements settings-pages prod-check

run: $(VENV)/.installed
	$(PYTHON) -m workers.launcher

test: $(VENV)/.installed-dev $(OPEN_CLIP)/.installed
	$(PYTHON) -m tests.browser_setup
	MEDBOARD_OPEN_CLIP=$(OPEN_CLIP) $(PYTHON) -m tests.in_parts $(COVERAGE_FLOOR)

# Percent of the lines of `evaluation` and of the services that the tests' own process runs; .coverage.txt names the rest.
COVERAGE_FLOOR := 95

# The long form of tests/faults: real processes are broken for an hour or less, on a machine that does nothing else.
faults: $(VENV)/.installed-dev
	MEDBOARD_FAULTS=long $(PYTHON) -m pytest tests/faults

# Every kind of page, light and dark, on a phone and on a desk, to be looked at.
screenshots: $(VENV)/.installed-dev
	$(PYTHON) -m tests.browser_setup
	MEDBOARD_SCREENSHOTS=$(CURDIR)/screenshots $(PYTHON) -m pytest tests/e2e/test_every_page.py

# The whole board from its production settings, without containers: journeys, load, a rolling restart. Needs caddy.
prod-check: $(VENV)/.installed-dev
	$(PYTHON) -m tests.production.prod_check

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/djlint --quiet --lint templates
	$(VENV)/bin/oxlint --quiet --deny-warnings static/*.js
	cp .secrets.baseline $(VENV)/secrets.baseline
	$(VENV)/bin/detect-secrets-hook --baseline $(VENV)/secrets.baseline $$(git ls-files $(SCANNED)) || test $$? -eq $(ONLY_MOVED)
	$(PYTHON) manage.py makemigrations --check --dry-run
	$(PYTHON) manage.py check
	$(PYTHON) -m leaderboard.config.settings_pages --check

# .env.example and docs/settings.md, from leaderboard/config/variable_table.py.
settings-pages: $(VENV)/.installed
	$(PYTHON) -m leaderboard.config.settings_pages

.PHONY: documents docs secrets

# Pages and pictures of docs/ that are made from the code.
documents: $(VENV)/.installed-dev
	$(PYTHON) -m documentation

docs: documents
	$(VENV)/bin/mkdocs build --strict

# .secrets.baseline holds what looks like a secret and is none. The hook ends with 3 where such lines have only moved.
ONLY_MOVED := 3
SCANNED := ':!static/vendor' ':!evaluation/suites/medtec/probes' ':!.secrets.baseline' ':!requirements*.txt'

secrets: $(VENV)/.installed-dev
	$(VENV)/bin/detect-secrets scan $$(git ls-files $(SCANNED)) > .secrets.baseline

# A build label of the machine's own torch (such as +cpu) must not be pinned for others.
COMPILE := $(VENV)/bin/pip-compile --quiet --strip-extras --no-header --annotation-style=line \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options

requirements: $(VENV)/.installed-dev
	$(PYTHON) -m pip install --quiet pip-tools
	$(COMPILE) --output-file requirements.txt requirements.in
	sed -i -E 's/^(torch==[0-9.]+)\+[a-z0-9]+/\1/' requirements.txt
	$(COMPILE) --output-file requirements-dev.txt requirements-dev.in
	cd docker && for part in web worker panel; do \
		../$(COMPILE) --output-file requirements-$$part.txt requirements-$$part.in || exit 1; done
	sed -i -E 's/^(torch==[0-9.]+)\+[a-z0-9]+/\1/' docker/requirements-worker.txt

$(VENV)/bin/python:
	$(PYTHON_BASE) -m venv $(VENV)

$(VENV)/.installed: requirements.txt | $(VENV)/bin/python
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.installed
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

# A reference for tests, in a folder of its own: see requirements-openclip.txt.
$(OPEN_CLIP)/.installed: requirements-openclip.txt | $(VENV)/.installed-dev
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(OPEN_CLIP) -r requirements-openclip.txt
	touch $@
