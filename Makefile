# Two commands: `make demo` runs the main job, `make test` passes all tests. Both install and build what is missing.
ifeq ($(origin PYTHON), undefined)  # the first that is new enough
PYTHON := $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do $$python -c \
  'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && exit; done; echo python3)
endif
VENV := .venv
BIN := $(VENV)/bin
export PYTHON
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test test-installed test-oldest build build-tests gpu test-gpu sanitize format site wheel cross clean

demo: build
	$(BIN)/plaq dca run examples/tc_plaquette/demo.toml

test: test-installed
	ctest --test-dir build --output-on-failure --parallel $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 8 ? cores : 8)))
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder --durations=10 tests --ignore tests/installed

# Of a wheel made of that build, in an environment that has nothing else. For another: packaging/test-installed.sh WHEEL.
test-installed: build-tests
	packaging/test-installed.sh

# The same with the oldest packages that pyproject.toml allows. Python 3.11 and 3.12 have wheels of them.
test-oldest: build-tests
	$(BIN)/python packaging/requirements.py oldest > $(VENV)/oldest.txt
	PIP_CONSTRAINT=$(CURDIR)/$(VENV)/oldest.txt packaging/test-installed.sh

# --no-build-isolation keeps the C++ build in build/ incremental. All options exist in the pip of Debian 12.
step = packaging/step.sh
install = $(BIN)/pip install -v --no-build-isolation --no-deps

build: $(VENV)/installed
	@$(step) "compiling" $(install) -e .

build-tests: $(VENV)/installed-tests
	@$(step) "compiling, with tests" $(install) --config-settings=cmake.define.PLAQ_TESTS=ON -e .

# Versions are in pyproject.toml. CMake, Ninja and MPI come as wheels if the machine has none.
$(VENV)/installed: pyproject.toml packaging/install-deps.sh packaging/requirements.py
	@$(step) "checking compiler, Python and libraries" packaging/install-deps.sh build
	@test -x $(BIN)/python || $(step) "creating the environment $(VENV)" $(PYTHON) -m venv $(VENV)
	@$(BIN)/python packaging/requirements.py build > $(VENV)/requirements.txt
	@$(step) "fetching Python packages" $(BIN)/pip install -r $(VENV)/requirements.txt
	@touch $@

$(VENV)/installed-tests: $(VENV)/installed
	@$(step) "checking requirements of the tests" packaging/install-deps.sh test
	@$(BIN)/python packaging/requirements.py test > $(VENV)/requirements.txt
	@$(step) "fetching Python packages for tests" $(BIN)/pip install -r $(VENV)/requirements.txt
	@touch $@

# Kernels for NVIDIA GPUs too; the machine need not have one. Without CUDA the compiler comes as wheels, 0.4 GB.
gpu: $(VENV)/installed-gpu
	@$(step) "compiling, with kernels for GPUs" $(install) --config-settings=cmake.define.PLAQ_GPU=cuda -e .

# Without a GPU those kernels run on teams of the host only, and tests of a device are skipped.
test-gpu: $(VENV)/installed-gpu $(VENV)/installed-tests
	@$(step) "compiling, with tests and kernels for GPUs" $(install) --config-settings=cmake.define.PLAQ_GPU=cuda \
	  --config-settings=cmake.define.PLAQ_TESTS=ON -e .
	ctest --test-dir build -L gpu --output-on-failure
	$(BIN)/python -m pytest -q tests/dca/test_devices.py

$(VENV)/installed-gpu: $(VENV)/installed
	@$(BIN)/python packaging/requirements.py gpu > $(VENV)/requirements.txt
	@$(step) "fetching the compiler for GPUs" $(BIN)/pip install -r $(VENV)/requirements.txt
	@touch $@

# The C++ tests under the sanitizers of addresses, of undefined behaviour and of threads, each in a build of its own.
sanitize: build-tests
	cmake --workflow --preset address
	cmake --workflow --preset thread

# Formats C++ by .clang-format, and sorts imports in Python. Lines of Python are broken by hand.
format: $(VENV)/installed-tests
	git ls-files '*.cpp' '*.hpp' | xargs $(BIN)/clang-format -i
	$(BIN)/ruff check --fix --quiet .

# The documentation as a site, in dist/site.
site: $(VENV)/installed-tests
	$(BIN)/python packaging/site dist/site

# Wheels and the source archive, in dist/. PYTHONS names the Pythons to build with.
wheel:
	@$(step) "checking compiler, Python and libraries" packaging/install-deps.sh build
	@$(step) "building wheels" packaging/wheel.sh

# plaq for another machine, ARCH=aarch64 or ppc64le: its wheel, its C++ tests and each application under QEMU.
cross:
	packaging/cross.sh $(ARCH)

clean:
	rm -rf build build-address build-thread build-wheel build-cross dist $(VENV)
