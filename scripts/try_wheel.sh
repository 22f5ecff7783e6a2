#!/usr/bin/env bash
# Installs the wheel in dist/ into an empty virtual environment and runs the quick start there.
set -euo pipefail
cd "$(dirname "$0")/.."

python="${1:-python3}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder"
pip=("$folder/bin/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" dist/sogar-*.whl

printf '\n== the package and NumPy alone\n'
(cd "$folder" && bin/python -W error - <<'PYTHON'
import numpy as np
import sogar

people = np.random.default_rng(0).uniform(0, 100, size=(400, 3))
front = sogar.Sogar(max_depth=2, max_edits=2, bins=10).fit(people, lambda rows: rows.sum(axis=1) > 140)
print(front.status_, len(front.front_), "summaries;", sogar.__file__.rsplit("/", 2)[-2], sogar.__version__)
print(front.select("knee"))
PYTHON
)

printf '\n== the quick start\n'
# shellcheck disable=SC2046 # one requirement a word
"${pip[@]}" $(grep -E '^(pandas|lightgbm|scikit-learn)==' tests/python/requirements.txt)
"$folder/bin/python" -m doctest -o NORMALIZE_WHITESPACE -o ELLIPSIS docs/python/README.md
echo 'every example of docs/python/README.md gave what it says'
