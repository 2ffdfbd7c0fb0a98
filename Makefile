# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= assay-out
# The processes for the ordinary tests. They wait for brokers a third of their time, so that 3 fit on two cores.
AT_ONCE ?= 3
# What has to have been done before a container is tried.
READY ?= true

# The tests start hundreds of processes, each of which would otherwise compile the same modules.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test coverage pages lint mypy pyright bench bench-broker crash fuzz interop tck model clean

demo: $(VENV)/.base ## the suite against the in-process reference broker, and where its report lies
	$(BIN)/assay run --out $(OUT)

test: $(VENV)/.dev lint ## everything that the tests need, then all tests
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -m exhaustive --numprocesses=2
	$(READY)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -m "not exhaustive and not proof" --numprocesses=$(AT_ONCE)

coverage: $(VENV)/.dev ## the lines that no test runs
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/coverage run -m pytest -m "not exhaustive and not proof" --numprocesses=2
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --skip-empty --sort=cover

model: $(VENV)/.dev ## the core beside a model of it: ten times as much as `make test` tries, and something else each time
	$(BIN)/python -m pytest tests/broker/model --hypothesis-profile=thorough --numprocesses=2 -rP

pages: $(VENV)/.dev ## the pages of docs/ that are made from the code
	$(BIN)/python -m tools.pages

lint: $(VENV)/.dev ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MAKE) --jobs=2 --output-sync mypy pyright

mypy: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/mypy tests/typing  # not with the packages: mypy takes either packages or files

pyright: $(VENV)/.dev
	$(BIN)/pyright --pythonpath $(BIN)/python

interop: $(VENV)/.dev ## clients of other languages: proven on Artemis, then judges of our server; Artemis behind broken proxies
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest tests/interop tests/wire

tck: $(VENV)/.dev ## the delay tests of the Jakarta Messaging TCK beside our scenarios, on our server with ten defects
	$(BIN)/python -m tests.interop.tck

crash: $(VENV)/.dev ## the reference broker under load, killed 300 times, and judged
	$(BIN)/assay crash --kills 300 --out crash-out

SEED ?= 1
SECONDS ?= 600
fuzz: $(VENV)/.dev ## ten minutes of hostile peers for the AMQP server, and how much of its parsing they reach; then ten for the STOMP reader
	$(BIN)/python -m tests.broker.amqp.fuzzing --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.sdk.stomp.fuzzing --seconds $(SECONDS) --seed $(SEED)

bench: $(VENV)/.dev ## measurements, as ratios in one run
	for bench in $(filter-out bench/broker.py,$(wildcard bench/*.py)); do $(BIN)/python $$bench || exit 1; done

bench-broker: $(VENV)/.dev ## this broker beside RabbitMQ, Artemis and a plain one: half an hour, docs/benchmarks.md
	$(BIN)/python bench/broker.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt .ci/system-packages | $(VENV)/bin/python
	.ci/system-packages
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) $(OUT) crash-out
