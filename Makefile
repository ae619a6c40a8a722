# A machine with Python and make needs two commands: make demo, make test. pip installs into .venv
# only; nothing is installed on the machine itself.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
# Some machines forbid bytecode files: then every command that a test runs compiles ctxembed again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: site demo test test-spark browser fuzz lint format man corpora everyday english dictionary clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(STAMP)
	$(BIN)/ctxembed demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

# Apache Spark needs Java 17 or later (on Debian: openjdk-17-jre-headless) and 500 MB of packages.
test-spark: $(STAMP)
	@command -v java >/dev/null || { echo "Java is missing: install Java 17 or later."; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[spark]'
	$(BIN)/python -m pytest tests/training/test_train_on_spark.py tests/text/test_sampling.py

# Playwright for the tests in tests/browser. They also need chromium, on PATH or named by $$CHROMIUM;
# without either they are skipped.
browser: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'

# Hostile input for ten minutes. SEED=N repeats a campaign, MINUTES=N sets its length.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz.campaign $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES))

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The documentation, as files that open from disk: build/site/index.html.
site: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

man: $(STAMP)
	$(BIN)/python -m ctxembed.cli.man man

corpora: $(STAMP)
	$(BIN)/python corpora/build.py

everyday: $(STAMP)
	$(BIN)/ctxembed train corpora/everyday.txt --lines --engine gensim --dim 64 --epochs 30 --rate 0.025 \
		--min-count 5 --sample 0.0001 --workers 1 -o corpora/models/everyday --force
	$(BIN)/ctxembed learn --layer recurrent -m corpora/models/everyday
	$(BIN)/ctxembed learn --layer encoder --layers 1 -m corpora/models/everyday
	$(BIN)/ctxembed senses apple bank bark cat date java mouse python seal server --save \
		-m corpora/models/everyday

english: $(STAMP)
	$(BIN)/python -m corpora.english $(CORPUS)

# WordNet and SemCor: DATA holds wordnet/wordnet-3.0.tar.xz and wsd/semcor.tsv.xz. Needed again for
# the labelled senses of a new model english; MODELS names other models, or their directories.
dictionary: $(STAMP)
	$(BIN)/python -m corpora.dictionary $(DATA) $(if $(MODELS),--models $(MODELS))

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache
