# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A face over .venv and tests/tools. Needs git, make and a Python >= 3.10 with venv; everything else is installed into .venv.

PYTHON ?= python3
GOLDEN_DIR ?= tests/golden/cases
KUBECONFIG_FOR_DEMO := $(if $(filter command line,$(origin KUBECONFIG)),$(KUBECONFIG))

PY := .venv/bin/python
STEP := $(PY) tests/tools/step.py

# Recipes print what they do themselves.
.SILENT:
.DEFAULT_GOAL := help
.PHONY: help venv venv-demo check unit conformance chaos golden awx integration sanity lint docs build test clients demo bench clean

help:  ## Say what make can do
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv:  ## Make .venv with everything developers need (again: costs nothing)
	$(PYTHON) tests/tools/make_venv.py dev

venv-demo:
	$(PYTHON) tests/tools/make_venv.py demo

check: venv  ## What each commit must pass, in under a minute: ruff, mypy, unit tests
	$(STEP) ruff ruff-format mypy mypy-kubesim mypy-tools unit

unit: venv  ## Unit tests
	$(STEP) unit

conformance: venv  ## The embedded cluster against the recorded answers of a real API server
	$(STEP) conformance

chaos: venv  ## Drains under random faults, each of which can be repeated, and at scale
	$(STEP) chaos

golden: venv  ## Recorded kubectl runs against the module; GOLDEN_DIR=folder takes other cases
	$(PY) tests/golden/run.py $(GOLDEN_DIR)

awx: venv  ## AWX: its set-up as code, the execution environment, jobs with ansible-runner
	$(STEP) awx

integration: venv  ## Playbooks against the embedded cluster; TARGETS="a b" takes some of them
	$(STEP) integration -- $(TARGETS)

sanity: venv  ## ansible-test sanity, all tests
	$(STEP) sanity

lint: venv  ## ruff, yamllint, ansible-lint
	$(STEP) ruff ruff-format yamllint ansible-lint

docs: venv  ## Lint documentation and changelog
	$(STEP) docs changelog

build: venv  ## Build the collection into .build, install it, look it over
	$(STEP) build

test: venv  ## Everything, in the right order; logs in .build/logs
	$(STEP) --all

demo: venv-demo  ## Upgrade a simulated cluster node by node; KUBECONFIG=path takes a real one
	$(PY) tests/demo/run.py $(if $(KUBECONFIG_FOR_DEMO),--kubeconfig '$(KUBECONFIG_FOR_DEMO)')

clients: venv  ## The connection with old and new releases of the Python client library
	$(PY) tests/tools/client_matrix.py $(VERSIONS)

bench: venv  ## Time, requests and memory beside kubectl and kubernetes.core
	$(PY) tests/bench/run.py

clean:  ## Remove everything that make made
	rm -rf .venv .venv-* .build .ansible tests/output .pytest_cache .mypy_cache .ruff_cache
