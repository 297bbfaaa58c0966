# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
#
# Source this in bash or zsh, from any directory, after `make setup`:   . ./env.sh
# It opens this shell for `urlab`, for `python` with rclpy, and for urlab_msgs and tf2_msgs.
# ROS_DISTRO=kilted chooses the other environment. An installed ROS 2 is put aside in this shell.

# Print a colon-separated list without what belongs to this checkout, to /opt/ros or to ROS wheels.
_urlab_foreign() {
  _urlab_rest=$1:
  _urlab_kept=
  while [ -n "$_urlab_rest" ]; do
    _urlab_item=${_urlab_rest%%:*}
    _urlab_rest=${_urlab_rest#*:}
    case $_urlab_item in
      '' | "$_urlab_root"/* | /opt/ros/* | */ros_*.libs) ;;
      *) _urlab_kept=$_urlab_kept:$_urlab_item ;;
    esac
  done
  printf '%s' "$_urlab_kept"
}

_urlab_enter() {
  case ${ROS_DISTRO:-jazzy} in
    jazzy) _urlab_suffix= ;;
    kilted) _urlab_suffix=-kilted ;;
    *)
      echo "env.sh: ROS_DISTRO is '$ROS_DISTRO'; this checkout can hold jazzy and kilted. To use an" \
        'installed ROS 2, source its setup file and build with colcon: see README.md.' >&2
      return 1
      ;;
  esac
  _urlab_venv=$_urlab_root/.venv$_urlab_suffix
  _urlab_install=$_urlab_root/install$_urlab_suffix
  if [ -L "$_urlab_venv/bin/python" ] && ! [ -x "$_urlab_venv/bin/python" ]; then
    echo "env.sh: $_urlab_venv was made with a Python that this user may not run, or that is gone" \
      "($(readlink "$_urlab_venv/bin/python")); run \`make setup\` as this user in a checkout of" \
      'your own.' >&2
    return 1
  fi
  if ! [ -f "$_urlab_install/.urlab-python" ] || ! [ -x "$_urlab_venv/bin/python" ]; then
    echo "env.sh: not set up yet; run \`make setup ROS_DISTRO=${ROS_DISTRO:-jazzy}\` in" \
      "$_urlab_root first." >&2
    return 1
  fi
  read -r _urlab_python <"$_urlab_install/.urlab-python"

  export ROS_DISTRO="${ROS_DISTRO:-jazzy}" ROS_VERSION=2 ROS_PYTHON_VERSION=3
  export AMENT_PREFIX_PATH="$_urlab_install:$_urlab_venv"
  export CMAKE_PREFIX_PATH="$_urlab_install:$_urlab_venv"
  export PATH="$_urlab_venv/bin$(_urlab_foreign "$PATH")"
  export PYTHONPATH="$_urlab_install/lib/$_urlab_python/site-packages$(
    _urlab_foreign "${PYTHONPATH:-}"
  )"
  # Python of the ROS wheels starts itself again with their libraries in LD_LIBRARY_PATH. The mark
  # that it has done so, inherited from another environment, would leave them out.
  unset _ROS_WHEELS_BOOTSTRAP_COMPLETE
  export LD_LIBRARY_PATH="$_urlab_install/lib$(_urlab_foreign "${LD_LIBRARY_PATH:-}")"

  : "${FASTDDS_DEFAULT_PROFILES_FILE:=${FASTRTPS_DEFAULT_PROFILES_FILE:-$_urlab_root/config/fastdds.xml}}"
  : "${FASTRTPS_DEFAULT_PROFILES_FILE:=$FASTDDS_DEFAULT_PROFILES_FILE}"
  export FASTDDS_DEFAULT_PROFILES_FILE FASTRTPS_DEFAULT_PROFILES_FILE

  # Freed memory serves the next image; by default glibc returns it to the system every time, which
  # doubles the processor time of an image subscriber. Keep in step with kept_memory.py.
  : "${MALLOC_MMAP_THRESHOLD_:=33554432}" "${MALLOC_TRIM_THRESHOLD_:=134217728}"
  : "${MALLOC_TOP_PAD_:=4194304}"
  export MALLOC_MMAP_THRESHOLD_ MALLOC_TRIM_THRESHOLD_ MALLOC_TOP_PAD_
}

if [ -n "${BASH_VERSION:-}" ]; then
  _urlab_root=${BASH_SOURCE[0]}
elif [ -n "${ZSH_VERSION:-}" ]; then
  eval '_urlab_root=${(%):-%x}'
else # a plain sh does not tell: works from the checkout
  _urlab_root=./env.sh
fi
_urlab_root=$(CDPATH= cd -- "$(dirname -- "$_urlab_root")" && pwd)
_urlab_enter
_urlab_status=$?
unset -f _urlab_enter _urlab_foreign
unset _urlab_root _urlab_suffix _urlab_venv _urlab_install _urlab_python _urlab_rest _urlab_kept \
  _urlab_item
# The Tab key completes `urlab` in an interactive bash.
case "$_urlab_status$-${BASH_VERSION:+bash}" in
  0*i*bash) eval "$(register-python-argcomplete urlab 2>/dev/null)" ;;
esac
# Leave the status of the whole, and no variable.
if [ "$_urlab_status" -ne 0 ]; then
  unset _urlab_status
  false
else
  unset _urlab_status
fi
