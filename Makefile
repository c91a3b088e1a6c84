# Every target sets up what it needs, in a virtual environment in this folder, found again next time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PEERS := mosquitto nats-server

.DEFAULT_GOAL := help
.PHONY: help demo test check soak bench-policy bench-planet clean

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "error: no $(PYTHON) here; install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $$($(PYTHON) --version) is too old; Heliograph needs 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "error: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "setting up $(VENV) (a minute or two, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(READY) ## A planet, a good link and two thin ones: what each receiver gets, live and as a report
	@$(BIN)/python examples/demo.py

test: check ## Lint, type-check and test
	@$(BIN)/python -m pytest -n auto

check: $(READY) ## Lint and type-check only
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

soak: $(READY) ## The long campaigns
	@$(BIN)/python -m pytest -n auto -m slow

bench-policy: $(READY) ## Packing and filters beside Polars and DuckDB, the ladder beside its rival
	@$(BIN)/python benchmarks/bench_policy.py

bench-planet: $(READY) ## The planet beside Mosquitto, nats-server and Zenoh: capacity, latency, overload
	@PATH="$$PATH:/usr/sbin:/sbin"; for program in $(PEERS); do \
	  command -v $$program >/dev/null && continue; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing $(PEERS), beside which the planet is measured"; \
	    apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PEERS) && break; \
	  fi; \
	  echo "error: no $$program here, beside which the planet is measured; on Debian, as root: apt-get update && apt-get install $(PEERS)"; exit 1; \
	done
	@$(BIN)/python benchmarks/bench_planet.py

clean: ## Delete what make made
	rm -rf $(VENV) build out .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
