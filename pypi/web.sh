#!/usr/bin/env bash
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
#
# Lay what the page of `urlab webxr` takes from npm (three.js, uPlot, the font Inter) in
# urlab_ros_bridge/web/vendor/, in the versions of web/package-lock.json; skips what is done.
# An emulated headset for its tests (iwer) lies in vendor/.tests, which is not served.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
web=$root/urlab_ros_bridge/web
vendor=$web/vendor

# Two set-ups may come here at the same time.
exec 8<"$web"
flock 8

stamp=$(cat "$web/package-lock.json" "${BASH_SOURCE[0]}" | sha256sum | cut -c1-16)
if [ "$(cat "$vendor/.stamp" 2>/dev/null)" = "$stamp" ]; then
  exit
fi
if ! command -v npm >/dev/null; then
  echo 'The page of `urlab webxr` needs three.js from npm: install npm (Debian and Ubuntu:' \
    'apt-get install npm), then run `make web`.' >&2
  exit 1
fi

work=$(mktemp -d "$web/.vendor.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$web"/{package.json,package-lock.json,.npmrc} "$work"
(cd "$work" && npm ci --no-progress --loglevel=error)
modules=$work/node_modules

take() { # PACKAGE FOLDER FILE...: lay these files of the package in vendor/FOLDER, paths kept
  local from=$modules/$1 to=$work/vendor/$2 file
  shift 2
  for file in LICENSE "$@"; do
    install -D -m 644 "$from/$file" "$to/$file"
  done
}

take three three build/three.{core,module}.js
take three three examples/jsm/{controls/OrbitControls,environments/RoomEnvironment}.js
take three three examples/jsm/{loaders/GLTFLoader,utils/BufferGeometryUtils,utils/SkeletonUtils}.js
take three three examples/jsm/lines/{LineSegments2,LineSegmentsGeometry,LineMaterial}.js
take uplot uplot dist/{uPlot.esm.js,uPlot.min.css}
take @fontsource-variable/inter inter files/inter-{latin,latin-ext}-wght-normal.woff2
take iwer .tests build/iwer.min.js
mv "$work"/vendor/.tests/{build/,}iwer.min.js
# A browser does not know npm's bare names.
sed -i "s#from 'three';#from '../../../build/three.module.js';#" "$work"/vendor/three/examples/jsm/*/*.js
echo "$stamp" >"$work/vendor/.stamp"
rm -rf "$vendor"
mv "$work/vendor" "$vendor"
echo "The page's libraries are in $vendor."
