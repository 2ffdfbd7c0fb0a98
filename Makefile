# Two commands do all the set-up: `make demo` and `make test`. `make help` lists all commands.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= assay-out
# The processes for the ordinary tests. They wait for brokers a third of their time, so that 3 fit on two cores.
AT_ONCE ?= 3
# A command that ends when the brokers' images are built; the tests with containers run after it (.ci/run sets it).
WAIT_FOR_IMAGES ?= true

# The tests start hundreds of processes, each of which would otherwise compile the same modules.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test help coverage pages lint mypy pyright bench bench-broker crash fuzz interop tck model clean

demo: $(VENV)/.base ## run the suite against the in-process reference broker, and write a report
	$(BIN)/assay run --out $(OUT)

test: $(VENV)/.dev lint ## install what the tests need, check style, types and layers, and run all tests that are not marked proof
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -m exhaustive --numprocesses=2
	$(WAIT_FOR_IMAGES)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -m "not exhaustive and not proof" --numprocesses=$(AT_ONCE)

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

coverage: $(VENV)/.dev ## run the tests, and list the lines that no test runs
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/coverage run -m pytest -m "not exhaustive and not proof" --numprocesses=2
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --skip-empty --sort=cover

model: $(VENV)/.dev ## compare the broker's core with a simple model on 2,000 new random programs
	$(BIN)/python -m pytest tests/broker/model --hypothesis-profile=thorough --numprocesses=2 -rP

pages: $(VENV)/.dev ## write the pages of docs/ that are made from the code
	$(BIN)/python -m tools.pages

lint: $(VENV)/.dev ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MAKE) --jobs=2 --output-sync mypy pyright

mypy: $(VENV)/.dev ## check types with mypy
	$(BIN)/mypy
	$(BIN)/mypy tests/typing  # not with the packages: mypy takes either packages or files

pyright: $(VENV)/.dev ## check types with pyright
	$(BIN)/pyright --pythonpath $(BIN)/python

interop: $(VENV)/.dev ## test the reference broker with clients of other projects, and prove these tests on Artemis (Docker)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest tests/interop tests/wire

tck: $(VENV)/.dev ## compare our scenarios with the delay tests of the Jakarta Messaging TCK, on ten defects
	$(BIN)/python -m tests.interop.tck

crash: $(VENV)/.dev ## kill the reference broker 300 times under load, and judge it
	$(BIN)/assay crash --kills 300 --out crash-out

SEED ?= 1
SECONDS ?= 600
fuzz: $(VENV)/.dev ## send malformed input to the AMQP server, then to the STOMP reader, each for SECONDS=600 (SEED=1)
	$(BIN)/python -m tests.broker.amqp.fuzzing --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.sdk.stomp.fuzzing --seconds $(SECONDS) --seed $(SEED)

bench: $(VENV)/.dev ## measure the speed of the SDK over STOMP, the journal, `assay judge`, selectors, the store and the suite
	for bench in $(filter-out bench/broker.py,$(wildcard bench/*.py)); do $(BIN)/python $$bench || exit 1; done

bench-broker: $(VENV)/.dev ## compare the speed of the reference broker, RabbitMQ, Artemis and a plain broker (half an hour)
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

clean: ## delete the virtual environment, and the results of demo and crash
	rm -rf $(VENV) $(OUT) crash-out
