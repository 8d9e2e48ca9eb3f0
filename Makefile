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

# pip is quick when nothing changed: the C++ build is incremental in build/.
build: $(VENV)/installed
	$(BIN)/pip install -q --no-build-isolation --no-deps -Ccmake.define.PLAQ_TESTS=ON -e .

$(VENV)/installed: pyproject.toml packaging/install-deps.sh
	bash packaging/install-deps.sh
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q "scikit-build-core>=0.10" "nanobind>=2.4" "scipy-openblas32>=0.3.27" pytest hypothesis \
	  numpy scipy h5py "sparse-ir>=2" threadpoolctl typer rich matplotlib
	touch $@

clean:
	rm -rf build $(VENV)
