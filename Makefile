# `make` lists the targets. PYTHON=… names the interpreter that .venv is made with.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

python := .venv/bin/python
# For commands that keep every core busy already, where more threads would only compete.
one_blas_thread := OPENBLAS_NUM_THREADS=1
# Tests start Python hundreds of times. Containers often tell it to compile all modules each time.
keep_bytecode := PYTHONDONTWRITEBYTECODE=
run_if_changed := $(python) tools/run_if_changed.py
PORT ?= 8000

# The inputs of each target. A change in any of them makes the target again.
environment_inputs := requirements.txt pyproject.toml
# The book describes the exercises. Learners edit exercises/, so the book depends on solutions/.
book_inputs := book attn_lib _config.yml _toc.yml $(wildcard solutions) $(environment_inputs)
# PDF and EPUB are made from the built book, whose inputs are in its stamp.
edition_inputs := _build/.made-from tools/editions $(environment_inputs) _config.yml _toc.yml
class_inputs := solutions grader attn_lib tests/sample_class nbgrader_config.py \
	$(environment_inputs)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: course
course: book exercises class ## Make everything: environment, book, exercises, graded sample class.
	@$(python) tools/closing_report.py

.PHONY: environment
environment: ## Make .venv from the lock, unless it is up to date.
	@tools/environment

# Starts from an empty _build: with an old one, jupyter-book ignores a cell that failed before.
.PHONY: book
book: environment ## Build the book, warnings as errors, unless it is up to date.
	@$(run_if_changed) _build --makes _build/html/index.html --from $(book_inputs) \
		-- .venv/bin/jupyter-book build . -W --keep-going -n

.PHONY: exercises
exercises: environment ## Release the learners' notebooks from solutions/, keeping work in them.
	@$(python) -m grader release

.PHONY: pdf
pdf: book ## Make one PDF of the whole course, in _editions/pdf/; needs Chromium.
	@tools/system_packages pdf
	@$(run_if_changed) _editions/pdf --makes _editions/pdf/attention-course.pdf \
		--from $(edition_inputs) \
		-- $(python) -m tools.editions _build/html _editions/pdf/attention-course.pdf

.PHONY: epub
epub: book ## Make one EPUB of the whole course, in _editions/epub/.
	@$(run_if_changed) _editions/epub --makes _editions/epub/attention-course.epub \
		--from $(edition_inputs) \
		-- $(python) -m tools.editions _build/html _editions/epub/attention-course.epub

# Without Chromium the archive has no PDF, and above all no old one.
.PHONY: release
release: epub ## Make the learners' archive in dist/: book, PDF, EPUB, exercises, library.
	@tools/system_packages pdf
	@if command -v chromium >/dev/null; \
		then $(MAKE) --no-print-directory pdf; else rm -rf _editions/pdf; fi
	@$(python) -m grader bundle

.PHONY: class
class: environment ## Grade the sample class, unless it is up to date or no sandbox can be here.
	@$(run_if_changed) _class --makes _class/summary.json --skips-with 3 --from $(class_inputs) \
		-- $(python) -m grader sample-class --skip-without-sandbox

.PHONY: lab
lab: environment ## Open the exercises in JupyterLab, with links to them in the order of the course.
	@tools/lab exercises --LabApp.default_url=/lab/tree/start.ipynb

.PHONY: serve
serve: book ## Serve the book on this machine; PORT=8000.
	@echo "The book: http://127.0.0.1:$(PORT)/ (stop with Ctrl-C)"
	@$(python) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

.PHONY: test
test: environment ## Run all tests; PYTEST=… adds options.
	@tools/system_packages test
	@$(one_blas_thread) $(keep_bytecode) $(python) -m pytest --numprocesses=auto --dist=loadgroup \
		--no-loadscope-reorder $(PYTEST)

.PHONY: lint
lint: environment ## Check style, types, spelling, prose, and that notebooks hold no outputs.
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/codespell
	@$(python) tools/prose.py book *.md
	@.venv/bin/nbstripout --verify --keep-id exercises/*/*.ipynb solutions/*/*.ipynb

.PHONY: lock
lock: ## Remake requirements.txt from pyproject.toml; UPGRADE=--upgrade raises the pins.
	@tools/lock $(UPGRADE)

.PHONY: clean
clean: ## Remove everything that make has made, including .venv.
	rm -rf .venv _build _class _editions dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
