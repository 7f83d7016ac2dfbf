# Sets everything up on a fresh machine and runs it: `make demo`, `make test`. `make help` lists the rest.
# Needs python3 with venv, a C++17 compiler and make; everything else comes from the package index.

PYTHON ?= python3
VENV ?= .venv
BUILD ?= build/dev
PYTEST_ARGS ?=
QUESTION ?= How does llamaint keep two requests apart?

BIN := $(abspath $(VENV))/bin
PY := $(BIN)/python
export PATH := $(BIN):$(PATH)
export LLAMAINT_LLAMA_BIN := $(abspath $(BUILD))/bin
# Another clone of the same sources finds their objects in ccache.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

NATIVE_SOURCES := $(shell find native cmake -name '*.cpp' -o -name '*.h' -o -name 'CMakeLists.txt' -o -name '*.cmake')
PIN := CMakeLists.txt $(wildcard vendor/*/SOURCE.toml vendor/*/patches/*.patch) vendor/llama.cpp/fetch.py
CPP_FILES := $(shell find native -name '*.cpp' -o -name '*.h')
# The whole program with llama.cpp's own binaries for comparison; those are compiled only when asked for.
CMAKE_OPTIONS := -C cmake.build-type=Release -C cmake.define.LLAMAINT_BUILD_TOOLS=ON -C cmake.define.LLAMAINT_BUILD_TESTS=ON

.DEFAULT_GOAL := help
.PHONY: help setup build models demo test lint format types layering unit cpp-test tools native parity integration \
        adapters abuse docs-test bench asan clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

# ---- set up ----------------------------------------------------------------------------------
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "make: $(PYTHON) is older than 3.10"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { echo "make: $(PYTHON) has no venv module (Debian: apt-get install python3-venv)"; exit 1; }
	$(PY) -m pip install --quiet --upgrade "pip>=25"
	@touch $@

$(VENV)/.dependencies: pyproject.toml tools/requirements.py $(VENV)/.created
	$(PY) tools/requirements.py dev > $(VENV)/requirements.txt
	$(PY) -m pip install --quiet --requirement $(VENV)/requirements.txt
	@touch $@

setup: $(VENV)/.dependencies ## virtual environment with all tools

$(VENV)/.installed: $(VENV)/.dependencies $(NATIVE_SOURCES) $(PIN)
	$(PY) -m pip install --no-build-isolation --no-deps -C build-dir=$(BUILD) $(CMAKE_OPTIONS) --verbose -e .
	@touch $@

build: $(VENV)/.installed ## editable install with the native module; incremental

models: build ## fetch the models of the demo and the tests
	$(BIN)/llamaint pull smollm2-135m minilm-l6

tools: build ## llama.cpp's own server and benchmark of the same source
	cmake --build $(BUILD) --target llama-server llama-bench llamaint_row_noise

# ---- use -------------------------------------------------------------------------------------
demo: models ## a RAG answer through LangChain and through LlamaIndex
	$(BIN)/llamaint demo rag --framework langchain "$(QUESTION)"
	$(BIN)/llamaint demo rag --framework llamaindex "$(QUESTION)"

# ---- check: cheapest first -------------------------------------------------------------------
test: lint types layering unit build cpp-test native parity integration adapters abuse docs-test ## everything

lint: setup ## ruff and clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

format: setup ## rewrite the files as lint wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

types: setup ## mypy
	$(BIN)/mypy

layering: setup ## who may import whom
	$(BIN)/lint-imports
	$(PY) tools/check_includes.py

unit: setup ## tests without the native module
	$(PY) -m pytest tests/unit $(PYTEST_ARGS)

cpp-test: build ## C++ tests without a model
	cmake --build $(BUILD) --target llamaint_tests
	$$(find $(BUILD) -type f -name llamaint_tests -perm -u+x)

native: build ## tests of the native module on tiny models
	$(PY) -m pytest tests/native $(PYTEST_ARGS)

parity: tools models ## the same tokens as llama.cpp's own binary
	$(PY) -m pytest tests/parity $(PYTEST_ARGS)

integration: models ## the public objects on real models
	$(PY) -m pytest tests/integration $(PYTEST_ARGS)

adapters: models ## LangChain and LlamaIndex
	$(PY) -m pytest tests/adapters $(PYTEST_ARGS)

abuse: build ## hostile input, each case in a process of its own
	$(PY) -m pytest tests/abuse $(PYTEST_ARGS)

docs-test: models ## every example of README.md, docs/ and examples/
	$(PY) -m pytest tests/docs tests/examples $(PYTEST_ARGS)

bench: tools models ## speeds beside llama.cpp's own binaries
	$(PY) -m benchmarks.bench_text

asan: setup ## C++ tests under the address and undefined-behaviour sanitizers
	cmake -S . -B build/asan -G Ninja -DCMAKE_BUILD_TYPE=Debug -DLLAMAINT_SANITIZE=address,undefined -DLLAMAINT_BUILD_TESTS=ON
	cmake --build build/asan --target llamaint_tests
	$$(find build/asan -type f -name llamaint_tests -perm -u+x)

clean: ## remove what was built; the models stay in the cache
	rm -rf build $(VENV) dist
