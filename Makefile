# Two commands: `make demo` runs the main job, `make test` passes all tests. Both install and build what is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test build deps clean

demo: build
	$(BIN)/plaq dca run examples/tc_plaquette/demo.toml

test: build
	ctest --test-dir build --output-on-failure
	$(BIN)/python -m pytest -q tests

# Versions stand in pyproject.toml; --no-build-isolation keeps the C++ build in build/ incremental.
install = $(BIN)/pip install -q --no-build-isolation --config-settings=cmake.define.PLAQ_TESTS=ON
requires = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")

build: $(VENV)/installed
	$(install) --no-deps -e .

$(VENV)/installed: pyproject.toml packaging/install-deps.sh
	bash packaging/install-deps.sh
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c '$(requires)' > $(VENV)/requires.txt
	$(BIN)/pip install -q -r $(VENV)/requires.txt
	$(install) -e ".[test]"
	touch $@

clean:
	rm -rf build $(VENV)
