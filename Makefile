# SPDX-License-Identifier: Apache-2.0
# The front door: a recipe calls one tool or one script. Bare `make` lists the targets.

PYTHON ?= python3.11
DEVICE ?= auto
VARIANT ?= both
ENGINE ?= docker
export PYTHON NPU_ARCH VARIANT ENGINE

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

# What is only built needs no NPU on this machine.
BUILDING := $(if $(filter hostcann-ops hostcann-ops-test hostcann-test hostcann-kernels-test sanitize long-runs matrix fuzz mutants bench bench-compare test,$(MAKECMDGOALS)),,1)
export BUILDING

# The device is decided once, after the prerequisites are known to be there, and said first.
ifneq ($(filter hostcann hostcann-% build install sanitize long-runs matrix fuzz mutants bench bench-compare doctor test lint evidence artifacts,$(MAKECMDGOALS)),)
# make 4.3 does not export to $(shell).
SAID := PYTHON='$(PYTHON)' DEVICE='$(DEVICE)' NPU_ARCH='$(NPU_ARCH)' BUILDING='$(BUILDING)'
DEVICE_LINE := $(shell export $(SAID); ci/bootstrap.sh --check && "$$PYTHON" ci/device.py print)
ifeq ($(DEVICE_LINE),)
$(error stopped before anything was built)
endif
$(info $(DEVICE_LINE))
override DEVICE := $(word 2,$(DEVICE_LINE))
override NPU_ARCH := $(lastword $(DEVICE_LINE))
endif
export DEVICE

ifneq ($(filter docker-% wheelhouse lock-check,$(MAKECMDGOALS)),)
ifeq ($(shell command -v '$(PYTHON)'),)
$(error PYTHON: expected Python 3.11 or later, got '$(PYTHON)', which is not there; install python3.11)
endif
endif

# Evidence is of the checkout as it is: what another state of it has built is built again.
ifneq ($(filter evidence artifacts,$(MAKECMDGOALS)),)
# A dry run leaves it.
ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)
$(shell '$(PYTHON)' ci/built.py --forget)
endif
endif

VENV := .venv/bin
ON_DEVICE := $(VENV)/python ci/device.py exec --
STEP := ci/step.sh
DONE := build/done
files = $(shell find $(1) -type f -not -name '*.pyc' -not -path '*/tests/*' 2>/dev/null)

TOOLKIT := $(if $(filter host,$(DEVICE)),$(DONE)/hostcann)
# The wheels are built against the toolkit's headers and driver; its run-time sources are no input of theirs.
TOOLKIT_INPUTS := $(if $(TOOLKIT),$(call files,hostcann/include hostcann/cmake hostcann/bin))
WHEEL_INPUTS := CMakeLists.txt versions.toml $(call files,kernels csrc) $(wildcard python/*.*) ci/wheel.sh ci/tree.sh
# The sentences that CMake and the packages share with the doctor.
WHEEL_INPUTS += $(addprefix python/ascendc-env/ascendc_env/,__init__.py mismatch.py versions.py)

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | expand -t 19
	@echo 'variables of docker-*: CHIP=910b|a3|310p|950, STACK=default, ENGINE=docker|podman, NPUS=0,1, ALLOW_UNPINNED=1, BASE_IMAGE='
	@echo 'variables of bench*: BASE=<revision>, ONLY=calls|kernels|imports|builds|growth'
	@echo 'variables: DEVICE=auto|host|npu, NPU_ARCH=<from the chip>, VARIANT=both|pybind|lib, PYTHON=python3.11'

.PHONY: env
env: .venv/installed ## create or update .venv from the hash-locked requirements

.PHONY: hostcann
hostcann: $(DONE)/hostcann ## build and install hostcann to build/hostcann

.PHONY: hostcann-wheel
hostcann-wheel: $(DONE)/wheel-hostcann ## build hostcann's own wheel, for any project, to build/wheels/hostcann

.PHONY: hostcann-ops
hostcann-ops: $(DONE)/hostcann ## list the operators hostcann implements, with a count
	@$(ON_DEVICE) $(VENV)/python ci/hostcann_ops.py

.PHONY: hostcann-ops-test
hostcann-ops-test: $(DONE)/hostcann ## compare every operator with torch on the CPU
	@$(ON_DEVICE) $(VENV)/python -m pytest -q -n $(shell nproc) hostcann/tests/operators

.PHONY: hostcann-test
hostcann-test: $(DONE)/hostcann ## run hostcann's own tests of its runtime
	@ci/hostcann_test.sh

.PHONY: hostcann-sanitize
hostcann-sanitize: .venv/installed ## run the runtime's C++ tests under ThreadSanitizer, AddressSanitizer and UBSan
	@ci/sanitize.sh runtime

.PHONY: sanitize
sanitize: $(DONE)/hostcann ## run the matrix on kernels, wrappers and hostcann under the same sanitizers
	@ci/sanitize.sh matrix

.PHONY: hostcann-bench
hostcann-bench: $(DONE)/hostcann ## measure what hostcann's runtime costs
	@$(VENV)/python ci/hostcann_bench.py

.PHONY: hostcann-contract
hostcann-contract: $(DONE)/hostcann ## read the wheels of six torch_npu and prove that hostcann has every name they ask for
	@$(VENV)/python ci/hostcann_contract.py

.PHONY: hostcann-kernels-test
hostcann-kernels-test: $(DONE)/hostcann ## compile and run the kernels hostcann is tested with, planted bugs included
	@$(ON_DEVICE) $(VENV)/python -m pytest -q -n $(shell nproc) --dist loadfile hostcann/tests/headers \
	    hostcann/tests/kernel hostcann/tests/kernels

.PHONY: build
build: $(CHOSEN:%=$(DONE)/wheel-%) ## build the wheels to build/wheels

.PHONY: install
install: $(CHOSEN:%=$(DONE)/install-%) ## install the wheels into .venv

.PHONY: matrix
matrix: forget install ## run the precision and rejection matrix; report in build/report
	@$(VENV)/python tests/matrix/run.py --variant $(VARIANT)

.PHONY: fuzz
fuzz: install ## call both variants with 100 000 drawn tensors and compare with the contract
	@$(ON_DEVICE) $(VENV)/python tests/contract/fuzz.py

.PHONY: bench
bench: install .venv/installed-bench ## measure calls, kernels, imports and builds; report in build/report
	@$(ON_DEVICE) $(VENV)/python tests/bench/run.py $(addprefix --only ,$(ONLY))

.PHONY: bench-compare
bench-compare: install .venv/installed-bench ## measure BASE=<revision> and this checkout, in turn
	@$(ON_DEVICE) $(VENV)/python tests/bench/compare.py '$(BASE)'

.PHONY: long-runs
long-runs: install ## make a million calls per variant: right, and nothing left behind
	@LONG_RUN_CALLS=1000000 $(ON_DEVICE) $(VENV)/python -m pytest -q --durations=0 tests/long_runs

.PHONY: mutants
mutants: install ## build every mutant of the operator and prove that a test sees it
	@$(ON_DEVICE) $(VENV)/python tests/mutants/run.py

.PHONY: doctor
doctor: $(DONE)/install-env $(TOOLKIT) ## say what of the stack does not belong together, and what to change
	@$(ON_DEVICE) $(VENV)/ascendc-env doctor

.PHONY: test
test: forget install $(DONE)/install-env $(if $(TOOLKIT),$(DONE)/wheel-hostcann) conda .venv/installed-bench .venv/installed-evidence ## run the matrix and the rest of the suite
	@ci/test.sh

# A report must not outlive a run that stopped before it.
.PHONY: forget
forget:
	@rm -f build/report/matrix.json build/report/matrix.xml build/report/matrix.html

.PHONY: wheelhouse
wheelhouse: $(if $(filter docker-%,$(MAKECMDGOALS)),docker-check) ## collect what the images are made from, by hash
	@$(PYTHON) ci/wheelhouse.py

.PHONY: docker-check
docker-check: ## say what stands in the way of a container, engine to device nodes
	@$(PYTHON) ci/container.py check $(filter docker-%,$(MAKECMDGOALS))

.PHONY: docker-build
docker-build: wheelhouse ## build the images, without network
	@$(PYTHON) ci/container.py build

.PHONY: docker-test
docker-test: docker-build ## run the matrix in a container; report in build/report
	@$(PYTHON) ci/container.py test

.PHONY: docker-shell
docker-shell: wheelhouse ## open a shell in the build image, this checkout mounted
	@$(PYTHON) ci/container.py shell

.PHONY: docker-image-test
docker-image-test: docker-build .venv/installed-evidence ## test the images, and build the NPU's on a stand-in for CANN
	@$(VENV)/python -m pytest -q -n 2 --dist loadfile --durations=5 tests/docker/image --engine $(ENGINE)

.PHONY: docker-reproduce
docker-reproduce: docker-build ## build the runtime image again, from nothing, and compare the layers
	@$(PYTHON) ci/container.py reproduce

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

# On the host its toolkit is one of the packages.
SUPPORT := env $(if $(TOOLKIT),hostcann)
BUILT = $(patsubst %,build/wheels/%/*.whl,$(CHOSEN) $(SUPPORT)) \
    $(wildcard build/channel/*/ascendc-*.conda build/channel/*/hostcann-*.conda)

.PHONY: evidence
evidence: build $(SUPPORT:%=$(DONE)/wheel-%) .venv/installed-evidence ## write SBOM and provenance of what was built to build/evidence
	@$(VENV)/python ci/evidence.py make $(BUILT)

.PHONY: verify
verify: .venv/installed-evidence ## check ARTIFACT=<file or image:name> against its provenance
	@$(VENV)/python ci/evidence.py verify $(ARTIFACT)

.PHONY: artifacts
artifacts: evidence ## gather what was built, with its evidence, in build/artifacts
	@ci/artifacts.sh $(BUILT)

# The stages run make themselves, one after the other.
.PHONY: ci-host
ci-host: ## run the whole pipeline of a machine without an NPU, as CI does
	@ci/host.sh

CONDA := PYTHONPATH=ci:python/ascendc-env $(VENV)/python -m conda
# A build needs the toolkit of its device, not the device: so it is not looked for.
CONDA_DEVICE := $(if $(filter auto,$(DEVICE)),host,$(DEVICE))

.PHONY: conda
conda: .venv/installed-conda ## build the conda packages of DEVICE=host|npu and their channel, build/channel
	@$(CONDA) build --device '$(CONDA_DEVICE)' --npu-arch '$(NPU_ARCH)'

.PHONY: conda-test
conda-test: conda ## install from the channel alone and run the matrix, without a network
	@$(CONDA) test

.PHONY: conda-repro
conda-repro: .venv/installed-conda ## build the conda packages again, elsewhere, and compare them to the bit
	@$(CONDA) repro --device '$(CONDA_DEVICE)' --npu-arch '$(NPU_ARCH)'

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

.venv/installed-%: always
	@ci/bootstrap.sh $*

# Changes when the device does, so that nothing built for another one is reused.
$(DONE)/device: always
	@mkdir -p $(@D)
	@echo '$(DEVICE) $(NPU_ARCH) $(if $(TOOLKIT),,$(ASCEND_HOME_PATH))' | cmp -s - $@ || \
	    echo '$(DEVICE) $(NPU_ARCH) $(if $(TOOLKIT),,$(ASCEND_HOME_PATH))' >$@

$(DONE)/hostcann: versions.toml ci/hostcann.sh ci/tree.sh $(call files,hostcann) .venv/installed
	@$(STEP) hostcann ci/hostcann.sh
	@mkdir -p $(@D) && touch $@

$(DONE)/wheel-%: $(WHEEL_INPUTS) $(TOOLKIT_INPUTS) $(DONE)/device .venv/installed | $(TOOLKIT)
	@$(STEP) 'wheel $*' $(ON_DEVICE) $(VENV)/python ci/built.py build/wheels/$* -- ci/wheel.sh $*
	@touch $@

$(DONE)/wheel-hostcann: $(DONE)/hostcann ci/wheel.sh $(wildcard python/*.py) $(call files,python/hostcann)
	@$(STEP) 'wheel hostcann' $(VENV)/python ci/built.py build/wheels/hostcann -- ci/wheel.sh hostcann
	@touch $@

$(DONE)/wheel-env: versions.toml ci/wheel.sh $(wildcard python/*.py) $(call files,python/ascendc-env) .venv/installed
	@mkdir -p $(@D)
	@$(STEP) 'wheel env' $(VENV)/python ci/built.py build/wheels/env -- ci/wheel.sh env
	@touch $@

# The variants share one CMake tree, so that what they share is compiled once: one after the other.
$(DONE)/wheel-lib: | $(if $(filter both,$(VARIANT)),$(DONE)/wheel-pybind)

# One folder per distribution; make has no pattern for "every file below", so the rule is said per variant.
$(foreach v,$(VARIANTS),$(eval $(DONE)/wheel-$(v): $(call files,python/ascendc-ops-$(v))))

$(DONE)/install-%: $(DONE)/wheel-%
	@$(STEP) 'install $*' $(VENV)/uv --no-config pip install --python $(VENV)/python --no-deps --no-index \
	    --reinstall build/wheels/$*/*.whl
	@touch $@
