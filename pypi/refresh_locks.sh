#!/usr/bin/env bash
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
# Resolve requirements/DISTRO.in anew in an empty environment and write requirements/DISTRO.lock.
# Usage: pypi/refresh_locks.sh [jazzy] [kilted]
set -euo pipefail
unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH PYTHONHOME
cd "$(dirname "${BASH_SOURCE[0]}")/requirements"
[ $# -gt 0 ] || set -- jazzy kilted

for distro in "$@"; do
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  "${PYTHON:-python3}" -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --disable-pip-version-check -qq -r "$distro.in"
  {
    echo "# Every package of the $distro environment. Made by pypi/refresh_locks.sh from"
    echo "# $distro.in and common.in: change those, run it, and commit all of them together."
    # The wheels also carry metadata of ROS packages that no index knows; pip did not install those.
    "$work/venv/bin/python" - <<'PY'
from importlib.metadata import distributions

pins = {
    f'{dist.name.lower()}=={dist.version}'
    for dist in distributions()
    if (dist.read_text('INSTALLER') or '').strip() == 'pip' and dist.name != 'pip'
}
print('\n'.join(sorted(pins)))
PY
  } > "$distro.lock.new"
  mv "$distro.lock.new" "$distro.lock"
  rm -rf "$work"
  echo "$distro.lock: $(grep -c == "$distro.lock") packages"
done
