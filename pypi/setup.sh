#!/usr/bin/env bash
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
#
# Make everything that the commands of the Makefile need, on a machine without ROS: system packages,
# a virtual environment with ROS 2 from wheels, and the workspace built by colcon. Steps whose inputs
# have not changed are skipped. Usage: [ROS_DISTRO=jazzy|kilted] [PYTHON=python3.x] pypi/setup.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
distro=${ROS_DISTRO:-jazzy}
case $distro in
  jazzy) suffix='' ;;
  kilted) suffix='-kilted' ;;
  *)
    echo "setup: there is no ROS 2 '$distro' to install from wheels; choose ROS_DISTRO=jazzy or" \
      "ROS_DISTRO=kilted. On a machine with ROS 2, build with colcon instead: see README.md." >&2
    exit 2
    ;;
esac
# CMake's and rosidl's steps fail there, minutes later and without naming the path.
if LC_ALL=C grep -q '[^ -~]' <<<"$root"; then
  echo "setup: the path $root has letters that the build tools of ROS cannot read; move the" \
    'checkout to a folder with ASCII letters only.' >&2
  exit 2
fi
venv=$root/.venv$suffix
build=$root/build$suffix
install=$root/install$suffix
log=$root/log$suffix
lock=$root/pypi/requirements/$distro.lock
test_models=$root/pypi/requirements/test_models.lock
# Interface packages of ROS that the wheels lack.
shims=(pypi/control_msgs pypi/moveit_msgs pypi/object_recognition_msgs pypi/octomap_msgs
  pypi/simulation_interfaces pypi/tf2_msgs)
interfaces=(urlab_msgs "${shims[@]#pypi/}")

# Nothing of a sourced ROS installation or of another environment may leak into the build.
unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH PYTHONHOME VIRTUAL_ENV \
  AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH COLCON_DEFAULTS_FILE MAKEFLAGS MFLAGS
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# --- Progress -------------------------------------------------------------------------------------

# step NAME TITLE HINT FUNCTION: run the function with its output in a log file and the time shown.
step() {
  local name=$1 title=$2 hint=$3 start=$SECONDS child status=0
  shift 3
  # In the background also without a terminal: `set -e` is dead in a function whose status is tested.
  # With a process group of its own (set -m), so that Ctrl-C ends all of it.
  set -m
  "$@" >"$log/setup-$name.log" 2>&1 </dev/null 8>&- &
  child=$!
  set +m
  trap 'echo; kill -- -'"$child"'; exit 130' INT TERM
  printf '  %-62s' "$title"
  while [ -t 1 ] && kill -0 "$child" 2>/dev/null; do
    printf '\r  %-62s %4d s' "$title" "$((SECONDS - start))"
    sleep 0.5
  done
  wait "$child" || status=$?
  trap - INT TERM
  [ ! -t 1 ] || printf '\r  %-62s' "$title"
  printf ' %4d s' "$((SECONDS - start))"
  if [ "$status" -ne 0 ]; then
    printf '  FAILED\n\n' >&2
    tail -n 25 "$log/setup-$name.log" >&2
    printf '\nsetup: %s\nsetup: the whole output is in %s\n' "$hint" "$log/setup-$name.log" >&2
    exit 1
  fi
  printf '  ok\n'
  work_done=1
}

# stamp_of FILE...: one hash over the files, their names, and where the checkout lies.
stamp_of() { (echo "$root" && sha256sum -- "$@") | sha256sum | cut -d ' ' -f 1; }

stamped() { [ -f "$1" ] && [ "$(<"$1")" = "$2" ]; }

# --- 1. System packages ---------------------------------------------------------------------------

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.12 python3.11 python3.13}; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
      2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
}

missing_tools() {
  command -v g++ >/dev/null || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
}

missing_python_parts() {
  local version
  if [ -z "$python" ]; then
    echo python3 python3-venv python3-dev
    return
  fi
  version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "$version-venv"
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || echo "$version-dev"
}

missing_gl() {
  local libraries package
  libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)
  [[ $libraries == *libEGL.so.1* ]] || echo libegl1
  [[ $libraries == *libGL.so.1* ]] || echo libgl1
  [[ $libraries == *libOpenGL.so.0* ]] || echo libopengl0
  command -v dpkg-query >/dev/null || return 0
  for package in libegl-mesa0 libgl1-mesa-dri; do # the software renderer, without a file to probe
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

apt_install() {
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "$@"
}

system_packages() {
  local missing
  # Two distributions may be set up at the same time; apt is for one.
  exec 8>"$root/log/system.lock"
  flock 8
  python=$(find_python)
  mapfile -t missing < <(missing_tools && missing_python_parts && missing_gl)
  missing=(${missing[*]-})
  if [ "${#missing[@]}" -eq 0 ]; then
    exec 8>&-
    return
  fi
  if ! command -v apt-get >/dev/null; then
    echo "setup: install what Debian calls: ${missing[*]}; then run this again." >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "setup: system packages are missing and this is neither root nor a user with sudo." >&2
    echo "setup: run as root:  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  [ "$(id -u)" -eq 0 ] || sudo -v # asks for the password before the output goes to a file
  step system "System packages: ${missing[*]}" \
    "check the network and the package sources, or install them by hand." \
    apt_install "${missing[@]}"
  exec 8>&-
  python=$(find_python)
  if [ -z "$python" ]; then
    echo "setup: needs Python 3.11, 3.12 or 3.13; name one with PYTHON=/path/to/python3.12." >&2
    exit 1
  fi
}

# --- 2. Python environment ------------------------------------------------------------------------

make_environment() {
  # A venv that was copied or moved still starts the interpreter of its old place.
  if ! [ -x "$venv/bin/python" ] || ! grep -qsF "$venv/bin/python" "$venv/bin/pip"; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
  fi
  "$venv/bin/python" "$root/pypi/install.py" "$lock" --no-deps "$test_models"
}

python_environment() {
  local stamp
  stamp=$(stamp_of "$lock" "$test_models")
  if ! [ -x "$venv/bin/python" ] || ! stamped "$venv/.urlab-stamp" "$stamp"; then
    step python "Python environment: ROS 2 $distro, MuJoCo and tools in .venv$suffix" \
      "check the network; \`make clean\` starts from nothing." make_environment
    echo "$stamp" >"$venv/.urlab-stamp"
  fi
  python_tag=$(basename "$(echo "$venv"/lib/python3.*)")
}

# --- 3. and 4. Workspace --------------------------------------------------------------------------

# colcon_build ARGUMENT...: into a merged install space, seeing the wheels as the underlay.
colcon_build() {
  local jobs
  jobs=$(nproc)
  cd "$root"
  # MAKEFLAGS is for colcon: otherwise it tells ninja to wait while the load of the machine is as
  # high as this very build makes it.
  MAKEFLAGS=-j$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs PATH=$venv/bin:$PATH \
    AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv ROS_DISTRO=$distro \
    "$venv/bin/colcon" --log-base "$log/colcon" build \
    --build-base "$build" --install-base "$install" --merge-install \
    --base-paths . msg "${shims[@]}" --event-handlers console_direct+ \
    --parallel-workers "${#interfaces[@]}" "$@"
}

build_interfaces() {
  # CMake refuses a build directory made for another place.
  grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root/msg" "$build/urlab_msgs/CMakeCache.txt" ||
    rm -rf "$build" "$install"
  # No optimisation: it costs a fifth of the time, and to convert a TFMessage takes as long without.
  local flags='-O0 -DNDEBUG'
  colcon_build --packages-select "${interfaces[@]}" --cmake-args -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DCMAKE_C_FLAGS_RELEASE="$flags" -DCMAKE_CXX_FLAGS_RELEASE="$flags" \
    -DCMAKE_PROJECT_INCLUDE="$root/pypi/wheel_paths.cmake" -DPython3_EXECUTABLE="$venv/bin/python"
}

build_project() {
  colcon_build --packages-select urlab_ros_bridge --symlink-install
  # colcon lays executables where `ros2 run` looks; this one puts `urlab` on the path.
  "$venv/bin/python" -m pip install --no-deps --no-build-isolation -e "$root"
}

workspace() {
  local files stamp
  cd "$root"
  mapfile -t files < <(find msg "${shims[@]}" -type f | sort)
  stamp=$(stamp_of "$lock" pypi/generate.py pypi/*.cmake "${files[@]}")
  if ! stamped "$install/.urlab-interfaces" "$stamp"; then
    step interfaces "Interface packages of ROS and of this project, in install$suffix" \
      "\`make clean\` starts from nothing." build_interfaces
    echo "$stamp" >"$install/.urlab-interfaces"
    rm -f "$install/.urlab-project"
  fi
  # Python and data files are linked, so only a new name among them asks for another build.
  mapfile -t files < <(find launch config scripts urlab_ros_bridge/__init__.py -type f 2>/dev/null | sort)
  stamp=$( (echo "${files[@]}" && stamp_of "$lock" setup.py setup.cfg package.xml) | sha256sum)
  if ! stamped "$install/.urlab-project" "$stamp"; then
    step project "This project, linked into install$suffix and .venv$suffix" \
      "\`make clean\` starts from nothing." build_project
    echo "$python_tag" >"$install/.urlab-python"
    echo "$stamp" >"$install/.urlab-project"
  fi
}

# --------------------------------------------------------------------------------------------------

mkdir -p "$root/log" "$log"
exec 9>"$log/setup.lock"
flock -n 9 || { echo 'setup: waiting for another set-up of this checkout to end' && flock 9; }
work_done=''
system_packages
python_environment
workspace
# The page of `urlab webxr`; the gateway runs without, and says what to run.
"$root/pypi/web.sh" || echo 'setup: no libraries for the browser page; everything else is there.' >&2
if [ -n "$work_done" ]; then
  echo "Set up ROS 2 $distro in $SECONDS s."
fi
