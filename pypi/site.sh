#!/usr/bin/env bash
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
#
# Build the documentation as a site in build/site, with mkdocs in an environment of its own. A link to
# a page, heading or picture that does not exist is an error, and so is a page that the site leaves out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH PYTHONHOME

lock=pypi/requirements/site.lock
stamp=$(sha256sum "$lock" | cut -c1-16)
if [ "$(cat .venv-site/.stamp 2>/dev/null)" != "$stamp" ]; then
  "${PYTHON:-python3}" -m venv --clear .venv-site
  .venv-site/bin/python pypi/install.py "$lock"
  echo "$stamp" >.venv-site/.stamp
fi
# Without --quiet, which would hide the warnings from --strict too.
NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --strict
echo "The site is in build/site: open build/site/index.html."
