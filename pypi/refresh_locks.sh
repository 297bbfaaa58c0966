#!/usr/bin/env bash
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
# Resolve requirements/NAME.in anew in an empty environment and write requirements/NAME.lock.
# Usage: pypi/refresh_locks.sh [installer] [site] [ray] [robots] [jazzy] [kilted]
set -euo pipefail
unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH PYTHONHOME
cd "$(dirname "${BASH_SOURCE[0]}")/requirements"
[ $# -gt 0 ] || set -- installer site ray robots jazzy kilted

for name in "$@"; do
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  "${PYTHON:-python3}" -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --disable-pip-version-check -qq -r "$name.in"
  {
    echo "# Every package that $name.in asks for, directly or not. Made by pypi/refresh_locks.sh:"
    echo "# change the .in files, run it, and commit all of them together."
    # The wheels also carry metadata of ROS packages that no index knows; pip did not install those.
    "$work/venv/bin/python" - "$name" <<'PY'
from importlib.metadata import distributions
import sys

# Python 3.11 lays these into every environment.
not_asked_for = {'pip', 'setuptools'} if sys.argv[1] in ('installer', 'ray', 'robots', 'site') else {'pip'}
pins = {
    f'{dist.name.lower()}=={dist.version}'
    for dist in distributions()
    if (dist.read_text('INSTALLER') or '').strip() == 'pip' and dist.name not in not_asked_for
}
print('\n'.join(sorted(pins)))
PY
  } > "$name.lock.new"
  mv "$name.lock.new" "$name.lock"
  rm -rf "$work"
  echo "$name.lock: $(grep -c == "$name.lock") packages"
done
