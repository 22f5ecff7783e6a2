# Every target works as the first command after a clone; Rust and Python 3.11 or newer are all that is needed.
# All Rust checks share one target directory, one profile and one set of settings (CARGO_CHECKED), so that each crate is compiled once for `make test`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
TARGET := $(or $(CARGO_TARGET_DIR),target)
PYTHON_FILES := scripts tests examples
PACKAGE_FILES := python/sogar python/tests
# The extension module as cargo calls it, and as the package does.
EXTENSION := lib_native.$(if $(filter Darwin,$(shell uname)),dylib,so)
NATIVE := python/sogar/_native.abi3.so
NEXTEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo yes)

# Support for GPUs is built into everything that is tested, so that nothing is compiled twice.
FEATURES := --features sogar-cli/gpu,sogar-lab/gpu,sogar-python/gpu

# Clippy checks our crates while they are compiled: `cargo clippy` would go through all dependencies a second time. What incremental compiling writes pays
# from the second run on: CARGO_INCREMENTAL=1 make test. Debug information is left out: it takes time to write and link, and a failed test
# names its line without it (backtraces with lines: CARGO_PROFILE_DEV_DEBUG=line-tables-only make test).
CARGO_INCREMENTAL ?= 0
CARGO_PROFILE_DEV_DEBUG ?= false
# Clippy's driver notes CLIPPY_ARGS as an input of what it compiles. Cargo must see the same value, or it compiles programs and tests anew in each call.
CARGO_CHECKED := env -u MAKEFLAGS -u MFLAGS CARGO_INCREMENTAL=$(CARGO_INCREMENTAL) CARGO_PROFILE_DEV_DEBUG=$(CARGO_PROFILE_DEV_DEBUG) \
	CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ \
	RUSTC_WORKSPACE_WRAPPER="$(abspath scripts/lint_while_compiling.sh)" cargo

# Four processes: many tests wait for workers or a browser. Tests of a file share what they
# prepare. Files come in the order that is given here, the longest of all first (tests/python/conftest.py).
PYTEST = SOGAR_BIN="$(abspath $(TARGET))/debug/sogar" PYTHONPATH=$(abspath python) \
	$(VENV)/bin/python -m pytest -q -rs -W error -n 4 --dist loadfile --no-loadscope-reorder

heading = @printf '\n== %s\n' "$(1)"

.PHONY: help demo test beside-python test-full fuzz bench bench-run experiments fmt clean machine rust-lint rust-test rust-options rust-doc-test rust-test-full python-lint \
	python-test references-test browser-test python-tests package package-test gpu-test miri wheel bench-python bench-scale docs

help:
	@echo 'make demo       solve the German Credit example; results and an interactive report in demo-out/'
	@echo 'make test       everything that guards correctness: format, lints, Rust and Python tests'
	@echo 'make test-full  the same and the long campaigns, in release mode'
	@echo 'make gpu-test   the tests of GPU kernels alone, on a software adapter where there is no GPU'
	@echo 'make miri       undefined behaviour in the portable paths, where the toolchain has Miri'
	@echo 'make fuzz       a minute of fuzzing for every reader of files'
	@echo 'make bench      data sets and generated tables, timed beside a plain program and the libraries of the models'
	@echo 'make experiments  the published evaluation beside the published figures (EXPERIMENT="table1 --quick")'
	@echo 'make bench-scale  up to a million affected people'
	@echo 'make wheel      the Python package as a wheel and an sdist in dist/, tried in an empty environment'
	@echo 'make fmt        format Rust and Python'
	@echo 'make docs       write docs/python/API.md anew'
	@echo 'make clean      remove everything that the other targets made'

demo:
	cargo run --quiet --locked --release -p sogar-cli --no-default-features -- demo -o demo-out

# What the machine lacks is downloaded, and Python's lints run, while Rust compiles. Python's suites wait for workers and browsers now and then:
# what else there is runs beside them. (It calls cargo one after the other: two calls at once would wait for the same lock.)
test:
	@$(MAKE) -j2 rust-lint machine
	@$(MAKE) rust-test
	@$(MAKE) -j2 python-tests beside-python
	$(call heading,all tests passed)

beside-python:
	@$(MAKE) references-test
	@$(MAKE) rust-doc-test
	@$(MAKE) rust-options

test-full: test rust-test-full
	$(call heading,all long campaigns passed)

machine: python-lint
	@scripts/lavapipe.sh
	@scripts/chromium.sh

rust-lint:
	$(call heading,cargo fmt)
	@cargo fmt --all --check
	$(call heading,clippy while everything is compiled (the first run compiles all dependencies: some minutes))
	@$(CARGO_CHECKED) build --quiet --locked --workspace --all-targets $(FEATURES)

# The demo's build, which has no optional parts. Clippy has seen nearly all of it; here the compiler looks for what nothing uses.
rust-options:
	$(call heading,without optional parts)
	@$(CARGO_CHECKED) check --quiet --locked -p sogar-cli --no-default-features

rust-test:
	@scripts/lavapipe.sh
	$(call heading,Rust tests)
ifeq ($(NEXTEST),yes)
	@$(CARGO_CHECKED) nextest run --cargo-quiet --locked --workspace $(FEATURES) --status-level fail --final-status-level slow
else
	@$(CARGO_CHECKED) test --quiet --locked --workspace $(FEATURES) --lib --bins --tests
endif

rust-doc-test:
	$(call heading,Rust documentation tests)
	@$(CARGO_CHECKED) test --quiet --locked --workspace $(FEATURES) --doc

# What `rust-test` also runs. Skipped tests say so.
gpu-test:
	@scripts/lavapipe.sh
	$(call heading,GPU kernels beside the CPU)
	@$(CARGO_CHECKED) test --quiet --locked --workspace $(FEATURES) --test gpu -- --nocapture
	@$(CARGO_CHECKED) test --quiet --locked --workspace $(FEATURES) --lib -- --nocapture devices gpu
	@$(CARGO_CHECKED) test --quiet --locked --workspace $(FEATURES) --test cli -- --nocapture devices

# Tests marked `#[ignore]` are the long campaigns.
rust-test-full:
	$(call heading,long Rust campaigns)
	@cargo test --quiet --locked --release --workspace -- --include-ignored

# Undefined behaviour in the portable paths of the solver and of outcomes. Miri is a part of nightly toolchains.
miri:
	@if cargo miri --version >/dev/null 2>&1; then \
		MIRIFLAGS=-Zmiri-disable-isolation cargo miri test --locked -p sogar-solver -p sogar-prepare --lib; \
	else \
		printf '\nNOTHING WAS RUN: this toolchain has no Miri. With rustup: rustup +nightly component add miri, then cargo +nightly miri.\n\n'; \
	fi

# FUZZ names the targets, all by default: make fuzz FUZZ=xgboost_ubj SECONDS_EACH=600
FUZZ ?=

fuzz:
	@scripts/fuzz.sh $(FUZZ)

# Python compiles a module when it is first imported; most never are.
$(VENV)/ready: tests/python/requirements.txt
	$(call heading,Python environment in $(VENV))
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	@touch $@

python-lint: $(VENV)/ready
	$(call heading,ruff and mypy)
	@$(VENV)/bin/ruff check --quiet $(PYTHON_FILES) $(PACKAGE_FILES)
	@$(VENV)/bin/ruff format --quiet --check $(PYTHON_FILES) $(PACKAGE_FILES)
	@$(VENV)/bin/mypy --no-error-summary $(PYTHON_FILES)
	@$(VENV)/bin/mypy --no-error-summary $(PACKAGE_FILES)

python-test: $(VENV)/ready package
	$(call heading,end-to-end tests against the original libraries)
	@$(PYTEST) tests/python

# The three suites at once: one start, and no core waits for the last test of a suite.
python-tests: $(VENV)/ready package
	$(call heading,the Python package; report and studio in a browser; whole runs beside the original libraries)
	@scripts/chromium.sh
	@$(PYTEST) python/tests tests/browser tests/python

# Two folds of two data sets, trained in seconds; SOGAR_FOLDS=10 takes all of them (train those first).
references-test: $(VENV)/ready
	$(call heading,competing methods beside their reference results)
	@if [[ -d "$(SOGAR_DATA)" ]]; then \
		$(VENV)/bin/python scripts/paper_models.py --data "$(SOGAR_DATA)" --out $(PAPER) --folds 1,2 german attrition && \
		SOGAR_PAPER="$(abspath $(PAPER))" $(CARGO_CHECKED) test --quiet --locked --workspace $(FEATURES) --test references -- \
			--include-ignored --nocapture; \
	else \
		printf '\nSKIPPED: there is no directory %s; SOGAR_DATA names the tables of the published protocol.\n\n' "$(SOGAR_DATA)"; \
	fi

browser-test: $(VENV)/ready package
	$(call heading,the report and the studio in a browser)
	@scripts/chromium.sh
	@$(PYTEST) tests/browser

# The package of this clone, with the extension module that the other Rust checks compile as well.
package:
	@$(CARGO_CHECKED) build --quiet --locked --workspace $(FEATURES)
	@cp $(TARGET)/debug/$(EXTENSION) $(NATIVE).new && mv $(NATIVE).new $(NATIVE)

package-test: $(VENV)/ready package
	$(call heading,the Python package)
	@$(PYTEST) python/tests

wheel: $(VENV)/ready
	$(call heading,wheel and sdist in dist/ (an optimised build: some minutes))
	@rm -f dist/sogar-*
	@$(VENV)/bin/maturin sdist --manifest-path python/Cargo.toml --out dist
	@$(VENV)/bin/maturin build --quiet --locked --release --manifest-path python/Cargo.toml --out dist
	@ls -l dist
	@scripts/try_wheel.sh $(abspath $(VENV))/bin/python

# Data of the published protocol, and further flags of the benchmark: make bench BENCH='--quick --datasets numeric12,mixed'.
# With --growth, --anytime, --ceiling, --network, --outcomes, --python or --report in BENCH only that part runs.
SOGAR_DATA ?= ../shared/data
BENCH ?=
PAPER := $(TARGET)/paper
GENERATED := $(TARGET)/generated
BENCH_PART := $(filter --growth --anytime --ceiling --network --outcomes --python --report,$(BENCH))
BENCH_QUICK := $(filter --quick,$(BENCH))
BENCH_BIN := "$(abspath $(TARGET))/release/sogar-lab" bench --paper $(PAPER) --generated $(GENERATED)
# XGBoost and the network are trained where the tables are; what is missing is said to be skipped.
BENCH_OUTCOMES = if [[ -d "$(SOGAR_DATA)" ]]; then \
	$(VENV)/bin/python scripts/paper_models.py --data "$(SOGAR_DATA)" --out $(PAPER) --folds 1 --models all \
		german $(if $(BENCH_QUICK),,attrition bank adult); fi; \
	$(VENV)/bin/python scripts/bench_outcomes.py --paper $(PAPER) \
	--sogar "$(abspath $(TARGET))/release/sogar" $(BENCH_QUICK)

BENCH_REPORT = $(VENV)/bin/python scripts/bench_report.py --paper $(PAPER) \
	--sogar "$(abspath $(TARGET))/release/sogar" $(BENCH_QUICK)

BENCH_PYTHON = PYTHONPATH=$(abspath python) $(VENV)/bin/python scripts/bench_python.py \
	--sogar "$(abspath $(TARGET))/release/sogar" $(BENCH_QUICK)

bench: $(GENERATED)/ready
	@if [[ -d "$(SOGAR_DATA)" ]]; then \
		$(MAKE) $(PAPER)/ready; \
	elif [[ ! -e $(PAPER)/ready ]]; then \
		printf '\nThe data sets of the published protocol are left out: there is no directory %s.\n' "$(SOGAR_DATA)"; \
		printf 'Set SOGAR_DATA to the directory with the tables that scripts/paper_models.py names.\n\n'; \
	fi
	@$(MAKE) bench-run

bench-run:
	$(call heading,benchmark (see docs/BENCHMARKS.md))
	@cargo build --quiet --locked --release -p sogar-lab -p sogar-cli --features sogar-lab/gpu,sogar-cli/gpu
ifeq ($(BENCH_PART),)
	@$(BENCH_BIN) $(BENCH)
	@$(BENCH_BIN) --network $(BENCH_QUICK)
	@$(BENCH_OUTCOMES)
	@if [[ -e $(PAPER)/ready ]]; then $(BENCH_REPORT); fi
	@$(MAKE) bench-python
else ifeq ($(BENCH_PART),--outcomes)
	@$(BENCH_OUTCOMES)
else ifeq ($(BENCH_PART),--report)
	@if [[ -e $(PAPER)/ready ]]; then $(BENCH_REPORT); fi
else ifeq ($(BENCH_PART),--python)
	@$(MAKE) bench-python
else
	@$(BENCH_BIN) $(BENCH)
endif

$(GENERATED)/ready: scripts/bench_tables.py | $(VENV)/ready
	$(call heading,generated tables and their models)
	@$(VENV)/bin/python $< --out $(GENERATED)
	@touch $@

# An experiment with its flags, e.g. make experiments EXPERIMENT='depth --folds 1-10'. Models that are missing are trained first:
# with --quick those of one fold of two data sets. A full run adds the cells that are missing to lab/cells; a quick one runs all of
# its cells and keeps them in the target directory.
EXPERIMENT ?= table1 --quick
EXPERIMENT_MODELS = $(if $(filter --quick,$(EXPERIMENT)),--folds 1 attrition german,--folds 1-10 attrition german bank adult)
EXPERIMENT_CELLS = $(if $(filter --quick,$(EXPERIMENT)),--cells $(TARGET)/experiments/cells)

experiments: $(VENV)/ready
	$(call heading,models of the published protocol)
	@$(VENV)/bin/python scripts/paper_models.py --data "$(SOGAR_DATA)" --out $(PAPER) --models every $(EXPERIMENT_MODELS)
	$(call heading,experiment $(EXPERIMENT) (see docs/EXPERIMENTS.md))
	@cargo build --quiet --locked --release -p sogar-lab
	@"$(abspath $(TARGET))/release/sogar-lab" experiment $(EXPERIMENT) $(EXPERIMENT_CELLS) --paper $(PAPER) --out $(TARGET)/experiments

# SCALE has further flags: make bench-scale SCALE='--rows 1000000'.
SCALE ?=

bench-scale: $(PAPER)/ready
	$(call heading,large populations (see docs/SCALE.md))
	@cargo build --quiet --locked --release -p sogar-cli
	@$(VENV)/bin/python scripts/bench_scale.py --paper $(PAPER) --sogar "$(abspath $(TARGET))/release/sogar" $(SCALE)
	$(call heading,two workers of Dask)
	@cargo build --quiet --locked --release -p sogar-python
	@cp $(TARGET)/release/$(EXTENSION) $(NATIVE).new && mv $(NATIVE).new $(NATIVE)
	@PYTHONPATH=$(abspath python) $(VENV)/bin/python scripts/bench_dask.py --paper $(PAPER)

# A release build of the extension module stands in the package for the measurement.
bench-python: $(VENV)/ready
	@cargo build --quiet --locked --release -p sogar-cli -p sogar-python
	@cp $(TARGET)/release/$(EXTENSION) $(NATIVE).new && mv $(NATIVE).new $(NATIVE)
	@$(BENCH_PYTHON)

$(PAPER)/ready: scripts/paper_models.py | $(VENV)/ready
	$(call heading,models of the published protocol)
	@$(VENV)/bin/python $< --data "$(SOGAR_DATA)" --out $(PAPER) --folds 1
	@touch $@

# The reference of the Python package; the tests compare it with the docstrings.
docs: $(VENV)/ready package
	@PYTHONPATH=python $(VENV)/bin/python scripts/python_api.py

fmt: $(VENV)/ready
	@cargo fmt --all
	@$(VENV)/bin/ruff check --quiet --fix $(PYTHON_FILES) $(PACKAGE_FILES)
	@$(VENV)/bin/ruff format --quiet $(PYTHON_FILES) $(PACKAGE_FILES)

clean:
	cargo clean --quiet
	rm -rf fuzz/target fuzz/corpus fuzz/artifacts
	rm -rf $(VENV) $(NATIVE) dist demo-out .pytest_cache .mypy_cache .ruff_cache
	find tests scripts examples python -name __pycache__ -type d -prune -exec rm -rf {} +
