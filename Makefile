# SPDX-License-Identifier: Apache-2.0
# The front door: a recipe calls one tool or one script. Bare `make` lists the targets.

PYTHON ?= python3.11
DEVICE ?= auto
VARIANT ?= both
export PYTHON NPU_ARCH VARIANT

VARIANTS := pybind lib
MAKEFLAGS += --no-builtin-rules -j$(shell nproc)
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
ifneq ($(filter clean distclean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
.DEFAULT_GOAL := help

ifneq ($(words $(filter both $(VARIANTS),$(VARIANT)) $(VARIANT)),2)
$(error VARIANT: expected both, pybind or lib, got '$(VARIANT)')
endif
ifneq ($(and $(filter test,$(MAKECMDGOALS)),$(filter-out both,$(VARIANT))),)
$(error VARIANT: make test covers both, got '$(VARIANT)'; use make matrix VARIANT=$(VARIANT))
endif
CHOSEN := $(if $(filter both,$(VARIANT)),$(VARIANTS),$(VARIANT))

# The device is decided once, after the prerequisites are known to be there, and said first.
ifneq ($(filter hostcann hostcann-ops hostcann-ops-test build install matrix test lint,$(MAKECMDGOALS)),)
# make 4.3 does not export to $(shell).
SAID := PYTHON='$(PYTHON)' DEVICE='$(DEVICE)' NPU_ARCH='$(NPU_ARCH)'
DEVICE_LINE := $(shell export $(SAID); ci/bootstrap.sh --check && "$$PYTHON" ci/device.py print)
ifeq ($(DEVICE_LINE),)
$(error stopped before anything was built)
endif
$(info $(DEVICE_LINE))
override DEVICE := $(word 2,$(DEVICE_LINE))
override NPU_ARCH := $(lastword $(DEVICE_LINE))
endif
export DEVICE

VENV := .venv/bin
ON_DEVICE := $(VENV)/python ci/device.py exec --
STEP := ci/step.sh
DONE := build/done
files = $(shell find $(1) -type f -not -name '*.pyc' -not -path '*/tests/*' 2>/dev/null)

TOOLKIT := $(if $(filter host,$(DEVICE)),$(DONE)/hostcann)
# The wheels are built against the toolkit's headers and driver; its run-time sources are no input of theirs.
TOOLKIT_INPUTS := $(if $(TOOLKIT),$(call files,hostcann/include hostcann/cmake hostcann/bin))
WHEEL_INPUTS := CMakeLists.txt versions.toml $(call files,kernels csrc) $(wildcard python/*.*)

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | expand -t 19
	@echo 'variables: DEVICE=auto|host|npu, NPU_ARCH=<from the chip>, VARIANT=both|pybind|lib, PYTHON=python3.11'

.PHONY: env
env: .venv/installed ## create or update .venv from the hash-locked requirements

.PHONY: hostcann
hostcann: $(DONE)/hostcann ## build and install hostcann to build/hostcann

.PHONY: hostcann-ops
hostcann-ops: $(DONE)/hostcann ## list the operators hostcann implements, with a count
	@$(ON_DEVICE) $(VENV)/python ci/hostcann_ops.py

.PHONY: hostcann-ops-test
hostcann-ops-test: $(DONE)/hostcann ## compare every operator with torch on the CPU
	@$(ON_DEVICE) $(VENV)/python -m pytest -q -n $(shell nproc) hostcann/tests/operators

.PHONY: build
build: $(CHOSEN:%=$(DONE)/wheel-%) ## build the wheels to build/wheels

.PHONY: install
install: $(CHOSEN:%=$(DONE)/install-%) ## install the wheels into .venv

.PHONY: matrix
matrix: forget install ## run the precision and rejection matrix; report in build/report
	@$(VENV)/python tests/matrix/run.py --variant $(VARIANT)

.PHONY: test
test: forget install ## run the matrix and the rest of the suite
	@ci/test.sh

# A report must not outlive a run that stopped before it.
.PHONY: forget
forget:
	@rm -f build/report/matrix.json build/report/matrix.xml build/report/matrix.html

.PHONY: lint
lint: build ## run every linter
	@$(VENV)/python ci/lint.py

.PHONY: format
format: .venv/installed ## fix what formatters can fix
	@$(VENV)/python ci/lint.py --fix

.PHONY: lock
lock: .venv/installed ## regenerate what is derived from versions.toml
	@$(VENV)/python ci/lock.py

.PHONY: lock-check
lock-check: ## prove that what is derived from versions.toml matches it
	@$(PYTHON) ci/lock.py --check

.PHONY: clean
clean: ## remove build/
	rm -rf build

.PHONY: distclean
distclean: clean ## remove build/ and .venv; the download cache stays
	rm -rf .venv

.PHONY: always
always:

# Has its own stamp and decides within milliseconds; make then looks at the file's time.
.venv/installed: always
	@ci/bootstrap.sh

# Changes when the device does, so that nothing built for another one is reused.
$(DONE)/device: always
	@mkdir -p $(@D)
	@echo '$(DEVICE) $(NPU_ARCH) $(if $(TOOLKIT),,$(ASCEND_HOME_PATH))' | cmp -s - $@ || \
	    echo '$(DEVICE) $(NPU_ARCH) $(if $(TOOLKIT),,$(ASCEND_HOME_PATH))' >$@

$(DONE)/hostcann: $(call files,hostcann) .venv/installed
	@$(STEP) hostcann ci/hostcann.sh
	@touch $@

$(DONE)/wheel-%: $(WHEEL_INPUTS) $(TOOLKIT_INPUTS) $(DONE)/device .venv/installed | $(TOOLKIT)
	@$(STEP) 'wheel $*' $(ON_DEVICE) ci/wheel.sh $*
	@touch $@

# The variants share one CMake tree, so that what they share is compiled once: one after the other.
$(DONE)/wheel-lib: | $(if $(filter both,$(VARIANT)),$(DONE)/wheel-pybind)

# One folder per distribution; make has no pattern for "every file below", so the rule is said per variant.
$(foreach v,$(VARIANTS),$(eval $(DONE)/wheel-$(v): $(call files,python/ascendc-ops-$(v))))

$(DONE)/install-%: $(DONE)/wheel-%
	@$(STEP) 'install $*' $(VENV)/uv --no-config pip install --python $(VENV)/python --no-deps --no-index \
	    --reinstall build/wheels/$*/*.whl
	@touch $@
