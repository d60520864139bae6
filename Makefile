# make demo   regenerate the releases, grade an example class, say where to look
# make test   everything that CI runs
# make lab    open the lessons in JupyterLab, on a working copy
# make setup  only build .venv from requirements.lock (the others do it by themselves)

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST_ARGS ?= -n 2 --dist loadfile

export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lab setup lint lock system browser clean

demo: $(READY) system
	$(BIN)/python -m course demo

test: $(READY) system browser lint
	$(BIN)/python -m course release --check
	$(BIN)/python -m course verify
	$(BIN)/python -m pytest $(TEST_ARGS)

lab: $(READY) system
	$(BIN)/python -m course lab

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "mjcourse is tested on Python 3.11 to 3.13; name one with  make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@# The instructor's notebooks, in whatever folder they run, find `course` in this checkout.
	@$(BIN)/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "mjcourse-checkout.pth").write_text("$(CURDIR)\n")'
	touch $(READY)

system:
	@bash scripts/system.sh opengl

browser:
	@bash scripts/system.sh chromium

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  --extra instructor --group dev pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) .venv-colab demo lab build
