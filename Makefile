# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

SHELL := /bin/bash
ROS_DISTRO ?= jazzy
export ROS_DISTRO

# Every command runs in the environment that `make setup` made.
enter := . ./env.sh &&

.DEFAULT_GOAL := help
.PHONY: help setup demo web test test-long test-kilted fuzz soak bench lint format docs site locks sbom \
  clean

help:  ## Show this list
	@printf 'make TARGET [ARGS="..."] [ROS_DISTRO=jazzy|kilted]\n\n'
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/\1\t\2/p' Makefile \
	  | while IFS=$$'\t' read -r target text; do printf '  %-12s %s\n' "$$target" "$$text"; done
	@printf '\nAfter `make setup`, `. ./env.sh` opens this shell for `urlab`, rclpy and the messages.\n'

setup:  ## Install and build everything, without a ROS installation; skips what is done
	@pypi/setup.sh

demo: setup  ## Step server, ROS bridge and browser page on the default world (ARGS go to `urlab up`)
	@$(enter) exec urlab up --webxr $(ARGS)

web:  ## The libraries of the browser page (three.js, uPlot, a font), from npm; skips what is done
	@pypi/web.sh

# Tests wait more than they compute. Those of a file share servers, so they stay together.
WORKERS ?= 6
pytest := python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: setup  ## The test suite (ARGS go to pytest; -n0 runs one test after the other)
	@$(enter) exec $(pytest) $(ARGS)

test-long: setup  ## The test suite with all of its long matrices (ARGS go to pytest)
	@$(enter) exec $(pytest) --long $(ARGS)

test-kilted:  ## The tests that need ROS, on ROS 2 Kilted (ONLY=distro: what may differ there)
	@$(MAKE) --no-print-directory setup ROS_DISTRO=kilted
	@export ROS_DISTRO=kilted; $(enter) exec $(pytest) -m '$(or $(ONLY),ros)' $(ARGS)

fuzz: setup  ## Every decoder on inputs guided by coverage (ARGS: --seconds N --only NAME ...)
	@$(enter) { python -c 'import atheris' 2>/dev/null || python -m pip install -q 'atheris>=3,<4'; } && \
	  exec python test/fuzz/run_fuzz.py $(ARGS)

soak: setup  ## Faults of every kind under load for half an hour (ARGS: --minutes N --short)
	@$(enter) PYTHONPATH=test/harness:examples:$$PYTHONPATH exec python test/soak/run_soak.py $(ARGS)

bench: setup  ## The benchmarks, and one table of their ratios (ARGS go to them; --only NAME ...)
	@$(enter) exec python bench/table.py $(ARGS)

lint: setup  ## Style, formatting, types, the directions of imports, and package.xml
	@$(enter) ruff check . && ruff format --check . && lint-imports && mypy urlab_ros_bridge && \
	  python pypi/sbom.py --check
	@for script in env.sh .ci/run pypi/*.sh; do bash -n $$script && \
	  grep -q '^# SPDX-License-Identifier: Apache-2.0' $$script || { echo "$$script: no licence"; exit 1; }; done
	@if command -v xmllint >/dev/null; then xmllint --noout package.xml {msg,pypi/*}/package.xml config/*.xml; fi

format: setup  ## Bring the code into the style that `make lint` checks
	@$(enter) ruff check --fix-only -q . && ruff format .

docs: setup  ## Write the generated pages of docs/ anew from the tables in the code
	@$(enter) exec python -m urlab_ros_bridge.cli.docs $(ARGS)

site:  ## The documentation as a site, in build/site; checks every link in it
	@pypi/site.sh

locks:  ## Resolve the pinned versions anew (both distributions, and uv)
	@pypi/refresh_locks.sh

sbom:  ## Write sbom.cdx.json and the licences of docs/dependencies.md anew from the lock files
	@$(enter) exec python pypi/sbom.py $(ARGS)

clean:  ## Remove the environments and everything built
	rm -rf .venv .venv-kilted .venv-site build build-kilted install install-kilted log log-kilted *.egg-info
