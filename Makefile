# Two commands for a fresh clone: `make demo` and `make test`. Only python3 (3.11 or newer) and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core-installed
DEV := $(VENV)/.dev-installed
TRAIN := $(VENV)/.train-installed

.PHONY: demo sample test test-browser coverage test-long test-golden test-train lint bench bench-commits docs clean

# Without bytecode each test process, and each that a test starts, compiles all modules anew: a fifth of the time.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal

# A Debian python3 may come without venv: then virtualenv from the package index makes the environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: piiloom needs Python 3.11 or newer; name one with make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); $(MAKE) --no-print-directory venv-without-venv; }

.PHONY: venv-without-venv
venv-without-venv:
	@if command -v uv >/dev/null; then uv venv --quiet --seed --python $(PYTHON) $(VENV); \
	elif $(PYTHON) -m virtualenv --version >/dev/null 2>&1; then $(PYTHON) -m virtualenv --quiet $(VENV); \
	else $(PYTHON) -m pip install --quiet --user --break-system-packages virtualenv && $(PYTHON) -m virtualenv --quiet $(VENV); fi

$(CORE): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs,otel,probe,ray,report,spacy,tokenizers]'
	$(BIN)/python -m compileall -q piiloom generation annotation_app
	@touch $@ $(CORE)

$(TRAIN): $(DEV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,presidio,aws,gliner]'
	@touch $@

# 200 records by the embedded composer (no key, no network, no model), as JSON lines and as a Hugging Face folder, and the page about them.
demo: $(CORE)
	@rm -rf outputs/demo && mkdir -p outputs/demo
	$(BIN)/piiloom generate --samples 200 --seed 7 --store outputs/demo/piiloom.duckdb --preview 8
	$(BIN)/piiloom release --name demo --test-size 40 --store outputs/demo/piiloom.duckdb
	$(BIN)/piiloom export --release demo --format native --out outputs/demo --force --store outputs/demo/piiloom.duckdb
	$(BIN)/piiloom export --release demo --format huggingface --out outputs/demo/huggingface --store outputs/demo/piiloom.duckdb
	$(BIN)/piiloom report --release demo --out outputs/demo/report --store outputs/demo/piiloom.duckdb > outputs/demo/report.txt
	@ls -l outputs/demo outputs/demo/huggingface
	@echo "the page about this data set: outputs/demo/report/index.html"
	@echo "to call piiloom: $(BIN)/piiloom --help, or once in this shell: . $(BIN)/activate"

# The committed sample, outputs/sample, anew: the same bytes until generation, release or report change on purpose.
sample: $(DEV)
	$(BIN)/python -m docs.making.sample outputs/sample

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(DEV)
	$(PYTEST) -m "not long and not browser and not train and not golden"

# The quick ones that drive Chromium: the editor, the app as a person sees it, and the dataset page.
test-browser: $(DEV)
	$(BIN)/python -m pytest -n 3 --dist worksteal tests/annotation_app tests/evaluation -m "browser and not long"

# All quick tests with a report of the lines that none of them runs.
coverage: $(DEV)
	$(PYTEST) -m "not long and not train and not golden" --cov --cov-report=term

# Some of their time they wait for processes, pauses and polls, so more of them are at work at once than there are cores.
test-long: $(DEV)
	$(BIN)/python -m pytest -m "long and not alone and not train" -n 4 --dist worksteal
	$(BIN)/python -m pytest -m "long and alone and not train" -n 2

# The bytes of outputs are those of the goldens. PIILOOM_RENEW_GOLDENS=1 make test-golden writes the goldens anew (see CONTRIBUTING.md).
test-golden: $(DEV)
	$(PYTEST) -m golden

# One step of each training on the processor, and the detectors that load models.
# With one thread each, since several work side by side.
test-train: $(TRAIN)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m train -n 2 --dist loadfile

bench: $(CORE)
	$(BIN)/python benchmarks/composer_runs.py

# No slower and no larger than the commit before? BEFORE and AFTER may be any commits; AFTER=. is the working tree as it is.
BEFORE ?= HEAD~1
AFTER ?= HEAD
bench-commits: $(CORE)
	$(BIN)/python -m benchmarks.commits $(BEFORE) $(AFTER)

# What is made from the code, then the site: offline, a warning is an error, and each link and asset is looked at.
docs: $(DEV)
	$(BIN)/python -m docs.making
	@rm -rf outputs/site
	$(BIN)/python -m sphinx -b html -c docs -d outputs/.site-cache -E -W --keep-going -q . outputs/site
	$(BIN)/python -m docs.making.site_check outputs/site
	@echo "outputs/site/index.html"

clean:
	rm -rf $(VENV) outputs/demo
