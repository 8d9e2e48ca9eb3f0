#!/usr/bin/env bash
# Tests plaq as its users get it: from a wheel in an empty environment, in folders outside the checkout, without the
# packages of the tests. First as packaging/try-wheel.sh does, then by tests/installed. To be run in the checkout.
#   packaging/test-installed.sh [WHEEL] [ARGUMENTS OF PYTEST]
# Without a WHEEL one is made of what `make build-tests` has compiled. PYTHON makes the environment.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
if [[ ${1-} == *.whl ]]; then
  wheel=$1
  shift
else
  packaging/step.sh "packing a wheel" .venv/bin/pip wheel -v --no-build-isolation --no-deps -w "$place" .
  wheel=$(echo "$place"/plaq-*.whl)
fi
packaging/try-wheel.sh "$wheel" "$place"
PLAQ_INSTALLED=$place/env .venv/bin/python -m pytest -q -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
  --durations=5 "$@" tests/installed
